"""Ctrl-C and SIGTERM: the first ends a run cleanly, the second at once."""

import asyncio
import os
import signal

import click

from agentv.cli.console import err, show_cursor
from agentv.errors import ExitCode
from agentv.execution import RunReport, RunRequest, execute
from agentv.transport.borders import Borders


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

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    async with borders:
        try:
            return await running
        except asyncio.CancelledError:
            raise click.Abort from None
