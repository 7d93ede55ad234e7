"""One file a command: it declares its options, folds them into a record, calls one function."""
