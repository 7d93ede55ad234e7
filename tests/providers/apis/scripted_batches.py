"""A service that says one thing to everything that an adapter for batches asks."""

from collections.abc import Sequence

import msgspec

from agentv.providers.apis.batch_api import Lines, Shape
from agentv.providers.apis.wire import Json


class ScriptedBatches:
    """See `agentv.providers.apis.batch_api.BatchClient`.

    Args:
        reply: To everything.
        lines: Of every file.
    """

    def __init__(self, reply: Json, lines: Sequence[Json] = ()) -> None:
        self._reply = reply
        self._lines = lines
        self.urls: list[str] = []
        self.bodies: list[bytes] = []

    async def upload(self, url: str, form: bytes, content_type: str) -> Json:
        return await self.create(url, form)

    async def create(self, url: str, body: bytes) -> Json:
        self.urls.append(url)
        self.bodies.append(body)
        return self._reply

    async def get(self, url: str, *, patient: bool = True) -> Json:
        self.urls.append(url)
        return self._reply

    async def lines(self, url: str, shape: type[Shape]) -> Lines[Shape]:
        self.urls.append(url)
        return Lines(read=[msgspec.convert(line, shape) for line in self._lines])

    async def rest(self, seconds: float) -> None:
        del seconds
