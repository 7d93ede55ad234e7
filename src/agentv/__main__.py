"""`python -m agentv` and the `agentv` command."""

import gc
import os
import sys

_NEW_OBJECTS = 50_000
"""Of a program that ends soon and makes few cycles, a seventh of the time would go into looking for
them after every 700, which is what Python does unless told otherwise."""


def main() -> None:
    """Run the command line and exit with its code."""
    _fill_gaps()
    gc.set_threshold(_NEW_OBJECTS)
    from agentv.cli.app import run

    sys.exit(run())


def _fill_gaps() -> None:
    """Where a daemon closed its streams, no file of ours must become standard output."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    main()
