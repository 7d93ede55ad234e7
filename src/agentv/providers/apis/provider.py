"""Asks an LLM API: one adapter's wire format behind the retry policy and the shared lane."""

import time

import msgspec

from agentv.core.backoff import NEVER_RETRIED, backoff_seconds
from agentv.core.retry_after import retry_after_seconds, service_time
from agentv.errors import ProviderError
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import ProviderBuild
from agentv.providers.apis.bodies import json_of, words_of
from agentv.providers.apis.costs import read_priced
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.used_up import is_used_up
from agentv.providers.apis.wire import Adjustable, Call, Json, ReplyError, Wire

_OVERLOADED = frozenset({429, 503, 529})
_MISUNDERSTOOD = frozenset({400, 422})
_BYTES_A_TOKEN = 4
_REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id", "x-goog-request-id")


class ApiProvider:
    """A provider over HTTP. Time-outs are left to the runner's budget; all else is retried here."""

    def __init__(self, wire: Wire, options: ApiOptions, build: ProviderBuild) -> None:
        self._wire = wire
        self._options = options
        self._retry = options.retry_settings()
        self._http = build.http
        self._rng = build.rng
        self._notify = build.notify
        self._written = build.written
        self._source = build.source
        self._lane = build.traffic.lane(wire.endpoint, wire.model, rpm=options.rpm, tpm=options.tpm)

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Ask once, however often the network or the service makes us repeat it.

        Raises:
            ProviderTimeout: A request ran into `timeout_seconds`.
            ProviderError: The service failed for good, or what it sent is no answer.
        """
        while True:
            wire = self._wire
            try:
                return await self._ask(wire, request)
            except _Unsuited as failure:
                # Whoever was refused at the same time has perhaps seen to it already.
                if self._wire is wire:
                    self._wire = failure.better
                    self._notify(f"{self._options.name}: asked without it: {failure}")

    async def _ask(self, wire: Wire, request: ProviderRequest) -> ProviderResponse:
        sent = self._http_request(wire.call(request))
        tokens = len(sent.body) // _BYTES_A_TOKEN + (self._options.output_limit or 0)
        retry, after = 0, None
        while True:
            await self._lane.enter(tokens, after=after)
            try:
                reply = await self._exchange(wire, request, sent, again=retry > 0)
                answer = read_priced(wire, self._options, reply)
                self._lane.used(answer.usage, tokens)
                return answer
            except _TryAgain as failure:
                retry += 1
                after = self._pause(failure, retry)
            finally:
                self._lane.left()

    async def _exchange(
        self, wire: Wire, request: ProviderRequest, sent: HttpRequest, *, again: bool
    ) -> Json:
        """One request; the body of a successful reply."""
        asked = time.time()
        try:
            reply = await self._http.send(sent)
            body = json_of(reply)
        except ProviderError as error:
            if error.kind == "connection":
                named = ProviderError(f"{wire.endpoint}: {error}", kind=error.kind)
                raise _TryAgain(named, None) from error
            raise
        if 200 <= reply.status <= 299:
            self._lane.succeeded()
            return body
        said = wire.read_error(body)
        refusal = self._refusal(reply, said)
        if said and is_used_up(said, body):
            refusal.kind = "quota"
            raise refusal
        if said and reply.status in _MISUNDERSTOOD and isinstance(wire, Adjustable):
            better = wire.adjusted(request, said)
            if better is not None:
                raise _Unsuited(refusal, better) from refusal
        now = service_time(reply.headers, asked=asked, now=time.time())
        wait = retry_after_seconds(reply.headers, now)
        if wait is None and reply.status in _OVERLOADED:
            wait = wire.retry_after(reply.headers, body, now)
        if reply.status in _OVERLOADED:
            self._lane.refused(wait if self._retry.bears(wait) else None, again=again)
        if self._retry.retries_status(reply.status):
            raise _TryAgain(refusal, wait)
        raise refusal

    def _http_request(self, call: Call) -> HttpRequest:
        options = self._options
        return HttpRequest(
            url=call.url,
            headers={"content-type": "application/json", **call.headers, **options.headers},
            body=msgspec.json.encode({**call.body, **options.extra_body}),
            connect_seconds=options.connect_timeout_seconds,
            read_seconds=options.read_timeout_seconds,
            total_seconds=options.timeout_seconds,
        )

    def _pause(self, failure: "_TryAgain", retry: int) -> float:
        """Exactly what the service asked for, else the policy's own backoff.

        Raises:
            ProviderError: There have been enough retries, or too long a wait is asked for.
        """
        if retry > self._retry.max_retries:
            raise failure.error from failure
        wait = failure.wait_seconds
        if not self._retry.bears(wait):
            limit = f"`max_retry_after_seconds` is {self._retry.max_retry_after_seconds:g}"
            message = f"{failure.error}; it asks us to wait {wait:.0f} s, and {limit}"
            raise ProviderError(message, kind=failure.error.kind) from failure
        return backoff_seconds(self._retry, retry, self._rng.random()) if wait is None else wait

    def _refusal(self, reply: HttpReply, said: ReplyError | None) -> ProviderError:
        words = said.message if said else words_of(reply)
        if self._options.api_key:  # Some services repeat a key that they do not know.
            words = words.replace(self._options.api_key, "[redacted]")
        mark = f" [{said.code}]" if said and said.code else ""
        ids = (reply.headers[name] for name in _REQUEST_IDS if name in reply.headers)
        request_id = next((f" (request id {found})" for found in ids), "")
        advice = self._key_advice() if reply.status in NEVER_RETRIED else ""
        return ProviderError(
            f"{self._wire.endpoint} answered {reply.status}{mark}: {words}{request_id}{advice}",
            kind=(said and said.kind) or f"http_{reply.status}",
        )

    def _key_advice(self) -> str:
        """Where a refused key comes from, without the key."""
        if not self._source:
            return ""
        key = str(self._written.get("api_key", ""))
        if not key:
            return f"; target '{self._options.name}' sets no api_key in {self._source}"
        origin = f"from {key} " if "${{" in key else ""
        return f"; target '{self._options.name}' has its api_key {origin}in {self._source}"


class _TryAgain(Exception):  # noqa: N818 - what to do about it
    """A failure that another try may mend."""

    def __init__(self, error: ProviderError, wait_seconds: float | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait_seconds = wait_seconds


class _Unsuited(Exception):  # noqa: N818 - what to do about it
    """A request that the service would take in another form."""

    def __init__(self, error: ProviderError, better: Wire) -> None:
        super().__init__(str(error))
        self.better = better
