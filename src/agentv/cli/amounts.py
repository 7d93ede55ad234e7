"""Numbers of things, as people read them."""

import math

_UNITS = ("kB", "MB", "GB")


def file_size(count: float) -> str:
    """`870 bytes`, `1.2 MB`."""
    if count < 1000:
        return f"{count:.0f} bytes"
    thousands = min(int(math.log10(count)) // 3, len(_UNITS))
    return f"{count / 1000**thousands:,.1f} {_UNITS[thousands - 1]}"


def counted(number: int, thing: str) -> str:
    """`1 run`, `1,200 runs`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
