"""The seams: each extension point is a protocol with about one method."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Protocol, runtime_checkable

from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.event import Event
from agentv.model.exchange import CassetteReport
from agentv.model.http import HttpReply, HttpRequest
from agentv.model.options import FileFinder
from agentv.model.process import Command, CommandResult
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import EvaluationContext, Score, Usage


class Provider(Protocol):
    """A system under test, or a judge."""

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Answer once.

        Called many times at once. Raises `ProviderError` when there is no answer; cancelling the
        call must end everything it started.
        """


@runtime_checkable
class BatchProvider(Protocol):
    """A provider that can take all requests in one call."""

    async def respond_batch(
        self, requests: Sequence[ProviderRequest]
    ) -> Sequence[ProviderResponse | ProviderError | None]:
        """One outcome a request, in the same order; `None` for one that is to be sent singly.

        Raising means that no batch was made; the requests are then sent one at a time.
        """


@runtime_checkable
class Settling(Protocol):
    """A provider that keeps something in case a run is cut short and started again."""

    def begin(self, run: str, again: Iterable[ProviderRequest], *, alone: bool) -> None:
        """Called before the first request.

        Args:
            run: Tells the run from all others; the same when it goes on.
            again: Requests that had an outcome in this run, and are asked anew all the same.
            alone: Whether what other runs left behind is left alone: the run asks anew what one
                of them asked.
        """

    def settle(self, planned: Iterable[ProviderRequest]) -> None:
        """Called once every trial of the run has its row, before `aclose`; else never.

        Args:
            planned: The first request of each of them, also of those that were asked before the
                run was cut short.
        """


@runtime_checkable
class Checkable(Protocol):
    """A provider that needs something of this machine: a program, a folder."""

    async def check(self) -> None:
        """Called before anything is begun; raises `SetupError` naming what is missing.

        The message has neither the target's name nor a full stop: it is put into a sentence.
        """


@runtime_checkable
class Preparable(Protocol):
    """A provider that must be ready before its first request."""

    async def prepare(self) -> None:
        """Called once before the first trial; raises `RunAborted` when the run cannot go on."""


@runtime_checkable
class Closable(Protocol):
    """Something that holds connections or files until the run ends."""

    async def aclose(self) -> None:
        """Called once, also after errors."""


class Evaluator(Protocol):
    """Something that scores an answer."""

    async def evaluate(self, context: EvaluationContext) -> Score:
        """Score once.

        An evaluator that cannot do its work returns a `Score` with `error`; an exception is
        turned into one by the runner.
        """


class Sink(Protocol):
    """Something that watches a run: a progress display, a log."""

    def handle(self, event: Event) -> None:
        """Called in order, on the event loop; must not block."""


class ProcessRunner(Protocol):
    """The border to the operating system's processes."""

    async def run(
        self, command: Command, listen: Callable[[bytes], None] | None = None
    ) -> CommandResult:
        """Run a command to its end, its time limit, or our cancellation.

        With `listen`, standard output is handed over as it comes, and the result holds only its
        beginning and its end; `listen` must neither block nor raise. When this returns or raises,
        nothing that the command started is left, unless it was to leave something. A non-zero exit
        and a time-out are results; raises `SetupError` when the command cannot be started at all.
        """


class ResponseCache(Protocol):
    """Answers that are kept between runs. It never fails: what it cannot do, it leaves."""

    def get(self, key: str) -> ProviderResponse | None:
        """The answer that was kept under a key."""

    def put(self, key: str, response: ProviderResponse) -> None:
        """Keep an answer."""


class Lane(Protocol):
    """The way to one endpoint and model, shared by candidates and judges."""

    async def enter(self, tokens: int, *, after: float | None = None) -> None:
        """Wait until another request is polite: no pause is on, and no rate is exceeded.

        Args:
            tokens: About how many tokens the request will cost, for `tpm`.
            after: Seconds to wait in any case, for a request that is sent once more. Those go
                before the ones that were never sent.
        """

    def left(self) -> None:
        """A request that had entered is over, however it ended."""

    def succeeded(self) -> None:
        """A request was answered."""

    def used(self, usage: Usage | None, tokens: int) -> None:
        """What an answer consumed: `tpm` counts what goes beyond the tokens said on entering."""

    def refused(self, wait_seconds: float | None, *, again: bool = False) -> None:
        """The service said that it is too much (429, overloaded).

        Args:
            wait_seconds: How long it asked us to wait, if it did.
            again: Whether it was said of a request that had been sent before.
        """


class TrafficControl(Protocol):
    """Hands out one lane for each endpoint and model."""

    def lane(
        self, endpoint: str, model: str, *, rpm: float | None = None, tpm: float | None = None
    ) -> Lane:
        """The lane; the same one for equal endpoint and model, with the tightest limits given."""


class HttpSender(Protocol):
    """The border to HTTP services."""

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send once and read the reply to its end.

        Any status is a reply. Raises `ProviderTimeout` when a limit is reached, and
        `ProviderError` of kind `connection` when there is no whole reply: refused, reset, a body
        that is cut short or cannot be decoded.
        """


class Cassette(Protocol):
    """Stands between targets and the borders: records what crosses them, or replays it."""

    replays: bool

    def begin(
        self,
        out_of: Callable[[str], str],
        steady: Callable[[str], str],
        variables: dict[str, str],
    ) -> None:
        """Called before the first exchange, once secrets are known.

        Args:
            out_of: Takes secrets out of a text.
            steady: Makes requests alike that differ only in what follows from other texts in them.
            variables: Those that the targets used, without secrets.
        """

    def http(self, border: HttpSender, target: str, project: Path) -> HttpSender:
        """The border as a target of a project sees it."""

    def processes(self, border: ProcessRunner, target: str, project: Path) -> ProcessRunner:
        """The border as a target of a project sees it."""

    def traffic(self, border: TrafficControl) -> TrafficControl:
        """The pace of requests."""

    def token(self, what: str) -> str:
        """See `ProviderBuild.token`."""

    def moment(self, what: str) -> datetime:
        """See `ProviderBuild.moment`."""

    def report(self) -> CassetteReport:
        """What came of it so far."""


def new_token(what: str) -> str:
    """32 random hexadecimal digits; see `ProviderBuild.token`."""
    del what
    return os.urandom(16).hex()


def now(what: str) -> datetime:
    """By this machine's clock, UTC; see `ProviderBuild.moment`."""
    del what
    return datetime.now(UTC)


def _nobody_reads(line: str) -> None:
    del line


class ProviderBuild(Record, frozen=True, kw_only=True):
    """What a provider's factory is given besides its options."""

    folder: Path
    """Relative paths in the options start here: the folder of the targets file's project."""
    env: Mapping[str, str]
    """The process environment over `.env`; commands inherit it."""
    processes: ProcessRunner
    http: HttpSender
    traffic: TrafficControl
    """Shared by everything that calls the same endpoint for the same model."""
    rng: Random
    """Seeded; the only source of chance."""
    notify: Callable[[str], None]
    """Takes a line for `--verbose`."""
    warn: Callable[[str], None] = _nobody_reads
    """Takes a line that everybody should read."""
    emit: Callable[[Event], None] = lambda _event: None
    """Takes what everybody who follows the run should see."""
    written: Mapping[str, Any] = {}
    """The target's settings as they were written, variables unresolved: fit for a message."""
    source: str = ""
    """The file that they were written in."""
    redact: Callable[[str], str] = lambda text: text
    """Takes the target's secrets out of a text that is to be kept on disk."""
    cwd: Path = Path()
    """Where the run was started: logs and kept files go below its `.agentv`."""
    replays: bool = False
    """Whether everything comes from a cassette: what is otherwise needed for an answer (a program,
    a service that is up) need not be there."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits some seconds, of which a replay takes none."""
    token: Callable[[str], str] = new_token
    """32 random hexadecimal digits for what a text tells of; a replay gives those of the recording.
    What a provider calls things by at a service must come from here."""
    moment: Callable[[str], datetime] = now
    """Now, UTC, as the time of what a text tells of; a replay gives that of the recording. What is
    held against a service's own times must come from here."""


class EvaluatorBuild(Record, frozen=True, kw_only=True):
    """What an evaluator's factory is given besides its options."""

    folder: Path
    """The eval file's folder."""
    files: FileFinder
    env: Mapping[str, str]
    processes: ProcessRunner
    judge: Provider | None = None
    """The judge, retries included, for evaluators whose entry says `needs_judge`."""
    judge_target: str | None = None
