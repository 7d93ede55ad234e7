"""`python -m agentv` and the `agentv` command."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from agentv.cli.app import run

    sys.exit(run())


if __name__ == "__main__":
    main()
