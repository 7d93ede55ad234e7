"""Progress that moves: a bar, the counts, and what is in flight for how long."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from agentv.cli.console import one_line
from agentv.cli.progress import (
    Tally,
    batch_line,
    event_line,
    lane_line,
    left_lines,
    needs_a_look,
    result_line,
    start_line,
)
from agentv.model.event import (
    AttemptFailed,
    BatchWaiting,
    Event,
    LaneState,
    LanesWaiting,
    Notice,
    RunRescored,
    RunResumed,
    RunStarted,
    TrialFinished,
    TrialStarted,
)

_SHOWN_IN_FLIGHT = 6
_SHOWN_FINISHED_UP_TO = 30


class LiveProgress:
    """A sink that keeps a few lines at the bottom of a terminal up to date."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._tally = Tally()
        self._in_flight: dict[tuple[str, str], float] = {}
        self._verbose = verbose
        self._lanes: tuple[LaneState, ...] = ()
        self._batches: dict[str, tuple[BatchWaiting, float]] = {}

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Show progress until the block is left, then take it away."""
        with Live(
            get_renderable=self.render,
            console=self._console,
            refresh_per_second=8,
            transient=True,
        ):
            yield

    def handle(self, event: Event) -> None:
        """Note what changed; the display is redrawn by itself."""
        match event:
            case RunStarted():
                self._tally.start(event.total, event.done)
                self._print(start_line(event))
            case RunResumed() | RunRescored():
                for said in left_lines(event):
                    self._print(said)
            case TrialStarted():
                self._in_flight[event.eval_id, event.target] = monotonic()
            case TrialFinished(result=result):
                self._in_flight.pop((result.eval_id, result.target), None)
                self._tally.add(result)
                if needs_a_look(result) or self._tally.total <= _SHOWN_FINISHED_UP_TO:
                    self._print(f"  {result_line(result)}")
            case LanesWaiting(lanes=lanes):
                self._lanes = lanes
            case BatchWaiting():
                self._batch(event)
            case AttemptFailed() | Notice():
                if line := event_line(event, verbose=self._verbose):
                    self._print(line)

    def _batch(self, event: BatchWaiting) -> None:
        if event.next_look_seconds is None:
            self._batches.pop(event.batch_id, None)
        else:
            self._batches[event.batch_id] = event, monotonic() + event.next_look_seconds

    def _print(self, line: str) -> None:
        with suppress(OSError):  # a terminal that was closed; the signal that says so is coming
            self._console.print(Text.from_ansi(line), soft_wrap=True)

    def render(self) -> RenderableType:
        """What is shown right now."""
        tally = self._tally
        if not tally.total:
            return Text("")
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            ProgressBar(total=tally.total, completed=tally.done, width=30),
            f"{tally.done}/{tally.total}",
            tally.counts(),
            _duration("elapsed", monotonic() - tally.started),
            _duration("about", tally.remaining_seconds(), "left"),
        )
        waiting = (Text(f"  ⏸ {lane_line(lane)}") for lane in self._lanes)
        return Group(bar, *waiting, *self._under_way(), *self._running())

    def _under_way(self) -> list[Text]:
        now = monotonic()
        return [
            Text(f"  ⏸ {batch_line(batch, max(0.0, look_at - now))}")
            for batch, look_at in self._batches.copy().values()
        ]

    def _running(self) -> list[Text]:
        now = monotonic()
        running = sorted(self._in_flight.copy().items(), key=lambda item: item[1])
        lines = [
            Text(f"  ▸ {one_line(eval_id, 60)} ({one_line(target, 30)}) {now - start:.0f} s")
            for (eval_id, target), start in running[:_SHOWN_IN_FLIGHT]
        ]
        if more := len(running) - len(lines):
            lines.append(Text(f"  ▸ and {more} more in flight"))
        return lines


def _duration(before: str, seconds: float | None, after: str = "") -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    clock = f"{minutes}:{rest:02d}"
    return " ".join(word for word in (before, clock, after) if word)
