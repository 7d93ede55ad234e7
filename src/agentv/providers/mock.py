"""A target that calls nobody: canned replies, delays and faults, the same on every run."""

import asyncio
from collections.abc import Iterator, Sequence
from random import Random
from typing import Annotated, NoReturn

from msgspec import Meta

from agentv.errors import ProviderError, ProviderTimeout
from agentv.model.base import AuthoredRecord
from agentv.model.options import FileFinder, OptionProblem, TargetOptions
from agentv.model.problem import KeyPath
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import ProviderBuild

Milliseconds = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]

ANY_CASE = "*"
_KINDS = ("response", "error", "timeout")


class MockReply(AuthoredRecord, frozen=True, kw_only=True):
    """One scripted reply: an answer, an error or a time-out."""

    response: str | None = None
    error: str | None = None
    timeout: bool = False
    delay_ms: Milliseconds | None = None
    """Instead of the target's own delay."""

    def problems(self) -> Iterator[OptionProblem]:
        """Mistakes that the types alone do not show; their paths start in this block."""
        given = [self.response is not None, self.error is not None, self.timeout]
        if sum(given) != 1:
            yield OptionProblem(
                path=(),
                message="a reply is one of `response`, `error` and `timeout: true`",
                hint=f"this one has {sum(given)} of them",
            )


Reply = str | MockReply


class MockOptions(TargetOptions, frozen=True, kw_only=True):
    """What a `mock` target may set."""

    response: str | None = None
    """The answer to every question."""
    replies: list[Reply] | dict[str, Reply] | None = None
    """Answers by case id, with `"*"` for all others; or a list that is taken in order of calls."""
    echo: bool = False
    """Answer with the question itself."""
    delay_ms: Milliseconds = 0
    delay_min_ms: Milliseconds | None = None
    """With `delay_max_ms`: a delay by chance, the same for a case on every run."""
    delay_max_ms: Milliseconds | None = None
    error: str | None = None
    """Fail with this message: every call, or the share `error_rate` of them."""
    error_rate: Share | None = None
    timeouts: Annotated[int, Meta(ge=0)] = 0
    """The first so many attempts of each trial time out."""
    timeout_rate: Share = 0
    """The share of attempts that time out."""
    hang: bool = False
    """Scripted time-outs never return, so that the runner's own limit ends them."""
    batch_error: str | None = None
    """Batch calls fail as a whole with this message."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """Combinations that mean nothing, or that nobody can have meant."""
        yield from super().problems(files)
        yield from self._source_problems()
        yield from self._delay_problems()
        for key, reply in self.scripted():
            if isinstance(reply, MockReply):
                for problem in reply.problems():
                    yield OptionProblem(
                        path=("replies", key), message=problem.message, hint=problem.hint
                    )
        if self.hang and not self._times_out():
            yield _problem(
                "hang",
                "nothing here times out, so nothing hangs",
                "add `timeouts`, `timeout_rate` or a reply with `timeout: true`",
            )

    def scripted(self) -> Iterator[tuple[str | int, Reply]]:
        """Every scripted reply with its case id or index."""
        if isinstance(self.replies, dict):
            yield from self.replies.items()
        else:
            yield from enumerate(self.replies or ())

    @property
    def effective_error_rate(self) -> float:
        """The share of attempts that fail."""
        if self.error_rate is not None:
            return self.error_rate
        return 1 if self.error is not None else 0

    def _source_problems(self) -> Iterator[OptionProblem]:
        sources = {
            "response": self.response is not None,
            "replies": self.replies is not None,
            "echo": self.echo,
        }
        given = [key for key, is_given in sources.items() if is_given]
        if len(given) > 1:
            yield _problem(
                given[-1],
                f"`{given[-1]}` and `{given[0]}` exclude each other",
                f'answer all other cases with `replies: {{"{ANY_CASE}": …}}`',
            )
        if not given and max(self.effective_error_rate, self.timeout_rate) < 1:
            yield OptionProblem(
                path=(),
                message="a mock needs `response` or `replies`",
                hint="add `response: some text` (or `echo: true`)",
                code="missing-key",
            )
        if self.replies is not None and not self.replies:
            yield _problem("replies", "there is no reply in it", "add one, or use `response`")

    def _delay_problems(self) -> Iterator[OptionProblem]:
        low, high = self.delay_min_ms, self.delay_max_ms
        if (low is None) != (high is None):
            key = "delay_max_ms" if low is None else "delay_min_ms"
            other = "delay_min_ms" if low is None else "delay_max_ms"
            yield _problem(key, f"`{key}` needs `{other}` beside it", f"add `{other}`")
        if low is not None and high is not None and low > high:
            yield _problem(
                "delay_min_ms", f"{low:g} is more than `delay_max_ms` ({high:g})", "swap them"
            )
        if self.delay_ms and (low is not None or high is not None):
            yield _problem(
                "delay_ms",
                "a fixed delay and a range exclude each other",
                "keep `delay_ms`, or `delay_min_ms` and `delay_max_ms`",
            )

    def _times_out(self) -> bool:
        replies = (reply for _, reply in self.scripted())
        return (
            self.timeouts > 0
            or self.timeout_rate > 0
            or any(isinstance(reply, MockReply) and reply.timeout for reply in replies)
        )


class MockProvider:
    """Answers from its options, alone or in a batch.

    Chance depends on the seed, the case, the trial and the attempt, never on the order of calls.
    """

    def __init__(self, options: MockOptions, build: ProviderBuild) -> None:
        self._options = options
        self._salt = build.rng.getrandbits(64)
        self._calls = 0
        self._range = (options.delay_min_ms or 0, options.delay_max_ms or 0)
        self._error_rate = options.effective_error_rate

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """The scripted reply, after its delay."""
        reply = self._fault(request) or self._reply(request)
        own_delay = None if isinstance(reply, str) else reply.delay_ms
        delay_ms = self._delay_ms(request) if own_delay is None else own_delay
        if delay_ms:
            await asyncio.sleep(delay_ms / 1000)
        if isinstance(reply, str):
            return ProviderResponse(text=reply)
        if reply.timeout:
            await self._time_out()
        if reply.error is not None:
            raise ProviderError(reply.error, kind="mock")
        return ProviderResponse(text=reply.response or "")

    async def respond_batch(
        self, requests: Sequence[ProviderRequest]
    ) -> Sequence[ProviderResponse | ProviderError]:
        """All at once, each as `respond` would."""
        if self._options.batch_error is not None:
            raise ProviderError(self._options.batch_error, kind="mock")
        return await asyncio.gather(*map(self._outcome, requests))

    async def _outcome(self, request: ProviderRequest) -> ProviderResponse | ProviderError:
        try:
            return await self.respond(request)
        except ProviderError as error:
            return error

    def _fault(self, request: ProviderRequest) -> MockReply | None:
        """A fault by count or by chance; it takes no scripted reply."""
        options = self._options
        if request.attempt <= options.timeouts:
            return MockReply(timeout=True)
        if options.timeout_rate and self._chance("timeout", request) < options.timeout_rate:
            return MockReply(timeout=True)
        if self._error_rate and self._chance("error", request) < self._error_rate:
            return MockReply(error=options.error or "a scripted error")
        return None

    def _reply(self, request: ProviderRequest) -> Reply:
        options = self._options
        if options.response is not None:
            return options.response
        if options.echo:
            return request.question
        if isinstance(options.replies, dict):
            return self._reply_by_id(options.replies, request.eval_id)
        return self._next_reply(options.replies or [])

    def _reply_by_id(self, replies: dict[str, Reply], eval_id: str) -> Reply:
        reply = replies.get(eval_id, replies.get(ANY_CASE))
        if reply is None:
            raise ProviderError(
                f"the mock has no reply for case '{eval_id}' and none for '{ANY_CASE}'",
                kind="no_reply",
            )
        return reply

    def _next_reply(self, replies: list[Reply]) -> Reply:
        self._calls += 1
        if self._calls > len(replies):
            raise ProviderError(
                f"the mock has {len(replies)} replies and this is call {self._calls}",
                kind="no_reply",
            )
        return replies[self._calls - 1]

    def _delay_ms(self, request: ProviderRequest) -> float:
        low, high = self._range
        if high:
            return low + (high - low) * self._chance("delay", request)
        return self._options.delay_ms

    def _chance(self, purpose: str, request: ProviderRequest) -> float:
        """In [0, 1)."""
        which = (request.suite, request.eval_id, request.trial, request.attempt)
        return Random(f"{self._salt} {purpose} {which}").random()  # noqa: S311 - no secret

    async def _time_out(self) -> NoReturn:
        if self._options.hang:
            await asyncio.Event().wait()
        raise ProviderTimeout("a scripted time-out")


def _problem(key: str, message: str, hint: str) -> OptionProblem:
    path: KeyPath = (key,)
    return OptionProblem(path=path, message=message, hint=hint)
