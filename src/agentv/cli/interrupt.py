"""Ctrl-C, SIGTERM and a closed terminal: the first ends a run cleanly, the second at once."""

import asyncio
import errno
import os
import signal
import termios

import click

from agentv.cli.console import err, send_nowhere, show_cursor
from agentv.errors import ExitCode
from agentv.execution.report import RunReport
from agentv.execution.request import RunRequest
from agentv.execution.run import execute
from agentv.transport.borders import Borders


def _leave_terminal() -> None:
    """Where the terminal is gone, write to it no more: every line would be an error."""
    for stream in (1, 2):
        try:
            termios.tcgetattr(stream)
        except termios.error as error:
            if error.args[0] == errno.EIO:
                send_nowhere(stream)


async def interruptible(request: RunRequest) -> RunReport:
    """Run it; an interrupted run reports what it has, and one that is done is left alone.

    Raises:
        click.Abort: Interrupted so early that there is no run to report.
    """
    borders = Borders()
    running = asyncio.ensure_future(execute(request, borders))
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            borders.processes.kill_all()
            show_cursor()
            os._exit(ExitCode.INTERRUPTED)
        err("Stopping; finished rows are kept. Once more to stop at once.")
        running.cancel()

    def hang_up() -> None:
        """It may come twice, from the system and from the shell."""
        _leave_terminal()
        if not asked:
            stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # which is what `nohup` asks for
        loop.add_signal_handler(signal.SIGHUP, hang_up)
    async with borders:
        try:
            return await running
        except asyncio.CancelledError:
            raise click.Abort from None
