"""A run as a whole: from what was asked to its report."""
