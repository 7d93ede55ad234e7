"""Asks an LLM API: one adapter's wire format behind the retry policy and the shared lane."""

import asyncio
import time

from agentv.core.backoff import NEVER_RETRIED, backoff_seconds
from agentv.core.retry_after import retry_after_seconds, service_time
from agentv.errors import ProviderError
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import ProviderBuild
from agentv.providers.apis.bodies import json_of, words_of
from agentv.providers.apis.costs import read_priced
from agentv.providers.apis.media import encode_body, estimated_tokens
from agentv.providers.apis.options import ApiOptions
from agentv.providers.apis.shape import merged
from agentv.providers.apis.target_key import TargetKey
from agentv.providers.apis.used_up import is_used_up
from agentv.providers.apis.wire import Adjustable, Call, Json, ReplyError, Wire

_OVERLOADED = frozenset({429, 503, 529})
_UNAUTHORIZED = 401
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
        self._key = TargetKey(options, build)
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
        sent = await self._encoded(wire.call(request), request)
        asked = estimated_tokens(sent.body, request.media, bytes_a_token=_BYTES_A_TOKEN)
        tokens = asked + (self._options.output_limit or 0)
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
        self._key.check()
        asked = time.time()
        try:
            reply = await self._http.send(sent)
            body = json_of(reply)
        except ProviderError as error:
            if error.kind == "connection":
                named = ProviderError(f"{wire.endpoint}: {error}", kind=error.kind)
                raise _TryAgain(named, None) from error
            raise
        if reply.is_success:
            self._lane.succeeded()
            self._key.taken()
            return body
        said = wire.read_error(body)
        refusal = self._refusal(reply, said)
        if said and is_used_up(said, body):
            refusal.kind = "quota"
            raise refusal
        if reply.status == _UNAUTHORIZED or (said and said.refuses_key):
            self._key.refused(refusal)
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

    async def _encoded(self, call: Call, request: ProviderRequest) -> HttpRequest:
        if not request.media:
            return self._http_request(call)
        # Reading and checking files of megabytes would hold up everybody else.
        return await asyncio.to_thread(self._http_request, call)

    def _http_request(self, call: Call) -> HttpRequest:
        options = self._options
        return HttpRequest(
            url=call.url,
            headers={"content-type": "application/json", **call.headers, **options.own_headers},
            body=encode_body(merged(call.body, options.extra_body)),
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
        if 300 <= reply.status <= 399:
            words = f"it sends us on to {reply.headers.get('location')}, which no key is sent to"
        mark = f" [{said.code}]" if said and said.code else ""
        ids = (reply.headers[name] for name in _REQUEST_IDS if name in reply.headers)
        request_id = next((f" (request id {found})" for found in ids), "")
        concerns_key = reply.status in NEVER_RETRIED or (said is not None and said.refuses_key)
        holder = f"{self._key.holder}: " if concerns_key else ""
        message = f"{self._wire.endpoint} answered {reply.status}{mark}: {self._key.out_of(words)}"
        return ProviderError(
            f"{holder}{message}{request_id}", kind=(said and said.kind) or f"http_{reply.status}"
        )


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
