"""Sends a batch's requests: uploads that give up, and questions that outlast a bad network."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import TypeVar

import msgspec

from agentv.core.backoff import RetrySettings, backoff_seconds
from agentv.core.retry_after import retry_after_seconds
from agentv.errors import ProviderError, ReplayMiss
from agentv.model.http import HttpReply, HttpRequest
from agentv.protocols import HttpSender
from agentv.providers.apis.media import encode_body
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.wire import Json, Wire

_LONGEST_SILENCE = {"GET": 60.0, "POST": 600.0}
"""Seconds; a whole batch may take a while to be taken in."""
_RETRIES_THAT_GROW = 16

T = TypeVar("T")


class BatchSender:
    """Sends for one target (see `batch_api.BatchClient`)."""

    def __init__(
        self,
        http: HttpSender,
        wire: Wire,
        options: ApiOptions,
        rng: Random,
        headers: Mapping[str, str],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._sleep = sleep
        self._wire = wire
        self._options = options
        self._retry: RetrySettings = options.retry_settings()
        self._rng = rng
        self._headers = {**headers, **options.own_headers}

    async def post(self, url: str, body: Json | bytes, content_type: str | None = None) -> Json:
        data = body if isinstance(body, bytes) else encode_body(body)
        headers = {"content-type": content_type or "application/json"}
        sent = self._request("POST", url, headers, data)
        return await self._until_answered(sent, _json, self._retry.max_retries)

    async def get(self, url: str) -> Json:
        return await self._until_answered(self._request("GET", url), _json, None)

    async def lines(self, url: str) -> Sequence[Json]:
        return await self._until_answered(self._request("GET", url), _json_lines, None)

    async def _until_answered(
        self, sent: HttpRequest, read: Callable[[bytes], T], retries: int | None
    ) -> T:
        """Send as often as the policy allows; `None` retries are as many as it takes."""
        retry = 0
        while True:
            wait = None
            try:
                reply = await self._http.send(sent)
                if 200 <= reply.status <= 299:
                    return read(reply.body)
            except ReplayMiss:
                raise
            except ProviderError as error:
                failure = error
            else:
                failure = self._refusal(reply)
                if not self._retry.retries_status(reply.status):
                    raise failure
                wait = retry_after_seconds(reply.headers, time.time())
            retry += 1
            if retries is not None and retry > retries:
                raise failure
            if wait is None:
                grown = min(retry, _RETRIES_THAT_GROW)
                wait = backoff_seconds(self._retry, grown, self._rng.random())
            await self._sleep(wait)

    def _request(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> HttpRequest:
        # A batch is large and its time limit is its own: only silence ends a transfer.
        return HttpRequest(
            method=method,
            url=url,
            headers={**self._headers, **(headers or {})},
            body=body,
            connect_seconds=self._options.connect_timeout_seconds,
            read_seconds=self._options.read_timeout_seconds or _LONGEST_SILENCE[method],
        )

    def _refusal(self, reply: HttpReply) -> ProviderError:
        try:
            said = self._wire.read_error(_json(reply.body))
        except ProviderError:
            said = None
        words = said.message if said else reply.body[:500].decode("utf-8", "replace").strip()
        message = f"{self._wire.endpoint} answered {reply.status}: {words}"
        return ProviderError(message, kind=f"http_{reply.status}")


def _json(body: bytes) -> Json:
    try:
        return msgspec.json.decode(body, type=Json)
    except msgspec.MsgspecError as error:
        raise ProviderError("the reply is not a JSON object", kind="connection") from error


def _json_lines(body: bytes) -> Sequence[Json]:
    return [_json(line) for line in body.split(b"\n") if line.strip()]
