"""An end to a computation that cannot be awaited."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CpuLimitReached(Exception):  # noqa: N818 - says what happened
    """The computation took more processor time than it may."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """End what is inside after so much processor time of this process.

    Works for C code that looks for signals while it runs, as `re` does. Signals only reach the
    main thread; in another one, and on a system without this timer, there is no limit.

    Raises:
        CpuLimitReached: The time is up.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "SIGVTALRM"
    ):
        yield
        return
    # Processor time rather than wall-clock time: a busy machine must not fail an answer. The timer
    # for wall-clock time is also the one that others (test runners, say) like to use.
    before = signal.signal(signal.SIGVTALRM, _raise)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _raise(*_: object) -> None:
    raise CpuLimitReached
