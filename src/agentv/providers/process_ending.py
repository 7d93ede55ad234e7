"""How a program that was asked for an answer ended, in words for a person."""

import signal

from agentv.model.process import CommandResult

_LAST_WORDS_BYTES = 4000


def describe_exit(exit_code: int) -> str:
    """`failed with exit code 2`, `was ended by SIGKILL`."""
    if exit_code < 0:
        return f"was ended by {_signal_name(-exit_code)}"
    if exit_code > 128 and (name := _signal_name(exit_code - 128)).startswith("SIG"):
        return f"failed with exit code {exit_code} ({name})"
    return f"failed with exit code {exit_code}"


def last_words(result: CommandResult) -> str | None:
    """The end of what a program said, from standard error if it said anything there."""
    return end_of(result.stderr) or end_of(result.stdout)


def end_of(stream: bytes) -> str | None:
    """The last few thousand bytes of a stream as text; `None` if there is nothing to see."""
    return stream[-_LAST_WORDS_BYTES:].decode("utf-8", "replace").strip() or None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
