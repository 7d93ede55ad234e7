"""`python -m agentv` and the `agentv` command."""

import gc
import sys

_NEW_OBJECTS = 50_000
"""Of a program that ends soon and makes few cycles, a seventh of the time would go into looking for
them after every 700, which is what Python does unless told otherwise."""


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(_NEW_OBJECTS)
    from agentv.cli.app import run

    sys.exit(run())


if __name__ == "__main__":
    main()
