"""How much of a good thing a document may hold, in YAML and in JSON."""

MAX_DEPTH = 100
"""Lists and mappings are nested no deeper, whether written out or behind aliases."""

MOST_DIGITS = 4_000
"""Python refuses to read much longer whole numbers, since that takes quadratic time."""
