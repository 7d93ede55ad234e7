"""What is kept of a stream whose length nobody knows."""


class Output:
    """The beginning and the end of a stream, within fixed memory.

    Args:
        head: Bytes kept from the beginning.
        tail: Bytes kept from the end, once the beginning is full.
    """

    def __init__(self, *, head: int, tail: int = 0) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._head_limit = head
        self._tail_limit = tail
        self._dropped = 0

    @property
    def truncated(self) -> bool:
        """Whether something was left out."""
        return self._dropped > 0 or len(self._tail) > self._tail_limit

    def add(self, data: bytes) -> None:
        """Take the next piece of the stream."""
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
        if len(data) <= room:
            return
        self._tail += data[max(room, 0) :]
        # Twice the limit before cutting, so that each byte is moved about once.
        if len(self._tail) > 2 * self._tail_limit:
            self._cut()

    def value(self) -> bytes:
        """What was kept; a line in the middle says how much is missing there."""
        self._cut()
        if not self._dropped or not self._tail_limit:
            return bytes(self._head + self._tail)
        gap = f"\n[… {self._dropped} bytes left out …]\n".encode()
        return bytes(self._head + gap + self._tail)

    def _cut(self) -> None:
        excess = len(self._tail) - self._tail_limit
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess
