"""Reading other people's JSON: a field of another type than expected is one that is not there."""

from typing import Any


def text(event: Any, *path: str) -> str | None:
    """The text at a path below an event."""
    value = at(event, *path)
    return value if isinstance(value, str) else None


def number(event: Any, *path: str) -> int | None:
    """The whole number at a path below an event; not negative."""
    value = at(event, *path)
    return value if type(value) is int and value >= 0 else None


def amount(event: Any, *path: str) -> float | None:
    """The amount of money at a path below an event."""
    value = at(event, *path)
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return float(value) if is_amount else None


def items(event: Any, *path: str) -> list[Any]:
    """The list at a path below an event; empty if there is none."""
    value = at(event, *path)
    return value if isinstance(value, list) else []


def at(event: Any, *path: str) -> Any:
    """Whatever stands at a path below an event; `None` if nothing does."""
    for key in path:
        event = event.get(key) if isinstance(event, dict) else None
    return event
