"""Figures as lines for people and as JSON for machines."""

import os
import platform
from collections.abc import Sequence
from typing import Any

from benchmarks.figures import Figure, Unit

_DIGITS: dict[Unit, int] = {"s": 3, "MB": 0, "B": 0, "files": 0}
_MARKS = {True: "✓", False: "✗ missed", None: ""}
_COLUMNS = "{:<15} {:<50} {:>9} {:>13} {:>9} {:>6} {:>9} {}"

HEADER = _COLUMNS.format(
    "benchmark", "figure", "measured", "spread", "bare", "ratio", "promised", ""
).rstrip()


def machine() -> str:
    """On what the figures were taken: they mean little without it."""
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load {load}"
    )


def line(figure: Figure) -> str:
    """One figure in the columns of `HEADER`."""
    ratio = "" if figure.ratio is None else f"{figure.ratio:.1f}x"
    spread = "" if figure.spread is None else "–".join(f"{value:.3f}" for value in figure.spread)
    cells = [
        _amount(figure.value, figure.unit),
        spread,
        _amount(figure.bare, figure.unit),
        ratio,
        _amount(figure.promised, figure.unit),
    ]
    return _COLUMNS.format(figure.contest, figure.what, *cells, _MARKS[figure.met]).rstrip()


def closing(figures: Sequence[Figure]) -> str:
    """How many promises are kept."""
    promised = [figure for figure in figures if figure.met is not None]
    missed = [figure for figure in promised if not figure.met]
    if missed:
        return f"{len(missed)} of {len(promised)} promises missed."
    return f"All {len(promised)} promises kept."


def as_json(figure: Figure) -> dict[str, Any]:
    """Everything known of a figure; `null` where there is nothing to say."""
    return {**vars(figure), "ratio": figure.ratio, "met": figure.met}


def _amount(value: float | None, unit: Unit) -> str:
    return "" if value is None else f"{value:.{_DIGITS[unit]}f} {unit}"
