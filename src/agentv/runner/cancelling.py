"""Whose cancellation it is that passes by."""

import asyncio


def is_being_cancelled() -> bool:
    """Whether somebody asked the current task to stop.

    If nobody did, a `CancelledError` comes from inside whatever was called. Let through, it would
    end the worker without a word, and every trial that the worker had still to do.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
