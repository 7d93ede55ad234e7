"""Sends a batch's requests: uploads that give up, and questions that outlast a bad network."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from random import Random
from typing import TypeVar

import msgspec

from agentv.core.backoff import RetrySettings, backoff_seconds
from agentv.core.redaction import Redactor
from agentv.core.retry_after import retry_after_seconds
from agentv.errors import ProviderError, ReplayMiss
from agentv.model.http import HttpReply, HttpRequest
from agentv.protocols import HttpSender
from agentv.providers.apis.batch_api import Lines, PerhapsMade, Shape
from agentv.providers.apis.batch_telling import Teller
from agentv.providers.apis.bodies import words_of
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.wire import Json, Wire

_LONGEST_SILENCE = 60.0
_LONGEST_SILENCE_FOR_A_BATCH = 600.0
"""Seconds; a whole batch may take a while to be taken in, and its results to be put together."""
_LEAST_BYTES_A_SECOND = 100_000
_RETRIES_THAT_GROW = 16
_WORTH_A_LINE = frozenset({3, 10, 30, 100, 300, 1000})
_JSON = {"content-type": "application/json"}
_TOO_MANY = 429
_SURELY_REFUSED = range(400, 500)
_LONGEST_WORDS = 500
_PERHAPS_TAKEN = frozenset({408, 409})

T = TypeVar("T")


class BatchSender:
    """Sends for one target (see `batch_api.BatchClient`).

    Args:
        http: The border to the service.
        wire: Reads the service's errors.
        options: The target's.
        rng: For the pauses between retries.
        headers: Of the target's requests: its key.
        tell: Takes a line for each retry; people see those that look like an outage.
        sleep: Waits; a replay does not.
    """

    def __init__(
        self,
        http: HttpSender,
        wire: Wire,
        options: ApiOptions,
        rng: Random,
        headers: Mapping[str, str],
        tell: Teller,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._sleep = sleep
        self._wire = wire
        self._options = options
        self._retry: RetrySettings = options.retry_settings()
        self._rng = rng
        self._headers = {**headers, **options.own_headers}
        self._tell = tell

    async def upload(self, url: str, form: bytes, content_type: str) -> Json:
        sent = self._post(url, form, {"content-type": content_type})
        return await self._until_answered(sent, _json, self._retry.max_retries)

    async def create(self, url: str, body: bytes) -> Json:
        sent = self._post(url, body, _JSON)
        retry = 0
        while True:
            try:
                reply = await self._http.send(sent)
                if 200 <= reply.status <= 299:
                    return _json(reply.body)
            except ReplayMiss:
                raise
            except ProviderError as error:
                raise PerhapsMade(str(error), kind=error.kind) from error
            failure = self._refusal(reply)
            if reply.status not in _SURELY_REFUSED or reply.status in _PERHAPS_TAKEN:
                raise PerhapsMade(str(failure), kind=failure.kind)
            retry += 1
            if reply.status != _TOO_MANY or retry > self._retry.max_retries:
                raise failure
            await self._pause(failure, retry, reply)

    async def get(self, url: str, *, patient: bool = True) -> Json:
        retries = None if patient else self._retry.max_retries
        return await self._until_answered(self._get(url), _json, retries)

    async def lines(self, url: str, shape: type[Shape]) -> Lines[Shape]:
        decoder = msgspec.json.Decoder(shape)
        retry = 0
        while True:
            sent = self._get(url, _LONGEST_SILENCE_FOR_A_BATCH)
            lines = await self._until_answered(sent, lambda body: _lines(body, decoder), None)
            retry += 1
            if not lines.unreadable or retry > self._retry.max_retries:
                return lines
            cut = ProviderError(f"{lines.unreadable} lines cannot be read", kind="malformed")
            await self._pause(cut, retry, None)

    async def pause(self, failure: ProviderError, retry: int) -> None:
        """As long as the retry policy says after a failure."""
        await self._pause(failure, retry, None)

    async def rest(self, seconds: float) -> None:
        await self._sleep(seconds)

    async def _until_answered(
        self, sent: HttpRequest, read: Callable[[bytes], T], retries: int | None
    ) -> T:
        """Send as often as the policy allows; `None` retries are as many as it takes."""
        retry = 0
        while True:
            reply = None
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
            retry += 1
            if retries is not None and retry > retries:
                raise failure
            await self._pause(failure, retry, reply)

    async def _pause(self, failure: ProviderError, retry: int, reply: HttpReply | None) -> None:
        wait = retry_after_seconds(reply.headers, time.time()) if reply else None
        if wait is None:
            grown = min(retry, _RETRIES_THAT_GROW)
            wait = backoff_seconds(self._retry, grown, self._rng.random())
        say = self._tell.news if retry in _WORTH_A_LINE else self._tell.detail
        say(f"{failure}; asking again in {wait:.1f} s")
        await self._sleep(wait)

    def _get(self, url: str, silence: float = _LONGEST_SILENCE) -> HttpRequest:
        return self._request("GET", url, self._headers, b"", silence)

    def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> HttpRequest:
        silence = _LONGEST_SILENCE_FOR_A_BATCH + len(body) / _LEAST_BYTES_A_SECOND
        return self._request("POST", url, {**self._headers, **headers}, body, silence)

    def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, silence: float
    ) -> HttpRequest:
        # A batch is large and its time limit is its own: only silence ends a transfer, and it may
        # last longer than that of a single answer.
        return HttpRequest(
            method=method,
            url=url,
            headers=headers,
            body=body,
            connect_seconds=self._options.connect_timeout_seconds,
            read_seconds=max(silence, self._options.read_timeout_seconds or 0.0),
        )

    def _refusal(self, reply: HttpReply) -> ProviderError:
        said = None
        with suppress(ProviderError):
            said = self._wire.read_error(_json(reply.body))
        # Some services repeat a key that they do not know: it goes before anything is cut.
        key = Redactor({"api_key": self._options.key or ""})
        words = key.text(said.message if said else words_of(reply))[:_LONGEST_WORDS]
        message = f"{self._wire.endpoint} answered {reply.status}: {words}"
        return ProviderError(message, kind=f"http_{reply.status}")


def _json(body: bytes) -> Json:
    try:
        return msgspec.json.decode(body, type=Json)
    except msgspec.MsgspecError as error:
        raise ProviderError("the reply is not a JSON object", kind="malformed") from error


def _lines(body: bytes, decoder: "msgspec.json.Decoder[Shape]") -> Lines[Shape]:
    read: list[Shape] = []
    unreadable = 0
    for line in body.split(b"\n"):
        if not line.strip():
            continue
        try:
            read.append(decoder.decode(line))
        except msgspec.MsgspecError:
            unreadable += 1
    return Lines(read=read, unreadable=unreadable)
