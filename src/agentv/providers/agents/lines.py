"""Lines out of a stream that comes in pieces."""

from collections.abc import Callable

LONGEST_LINE = 96 * 1024 * 1024
"""An answer of 32 MB, escaped for JSON, fits."""


class LineSplitter:
    """Cuts a stream into lines.

    Args:
        take: Called with each line, without its end.
        longest: A longer line is dropped whole; `dropped` counts these.
    """

    def __init__(self, take: Callable[[bytes], None], *, longest: int = LONGEST_LINE) -> None:
        self._take = take
        self._longest = longest
        self._parts: list[bytes] = []
        self._held = 0
        self._too_long = False
        self.dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        *ended, rest = data.split(b"\n")
        for line in ended:
            self._hold(line)
            self._end()
        self._hold(rest)

    def close(self) -> None:
        """The stream is over; what is held is the last line."""
        if self._held or self._too_long:
            self._end()

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._held += len(part)
        if self._held > self._longest:
            self._too_long = True
            self._parts.clear()
        else:
            self._parts.append(part)

    def _end(self) -> None:
        line, too_long = b"".join(self._parts), self._too_long
        self._parts.clear()
        self._held, self._too_long = 0, False
        if too_long:
            self.dropped += 1
        else:
            self._take(line.removesuffix(b"\r"))
