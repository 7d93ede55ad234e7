"""The base of every record: frozen, keyword-only, quick to read and write as JSON."""

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """An immutable record."""


class AuthoredRecord(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A record that a person writes: a key we do not know is a mistake, never ignored."""
