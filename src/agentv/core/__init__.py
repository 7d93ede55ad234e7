"""Pure functions on records: they decide, and touch nothing."""
