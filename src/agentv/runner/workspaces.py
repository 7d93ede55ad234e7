"""What becomes of the folder that an agent worked in, once its trial has its verdict."""

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

from agentv.model.request import Leavings, WorkspaceLeft
from agentv.transport.removal import remove_tree


async def conclude(leavings: Leavings | None, *, failed: bool) -> dict[str, str]:
    """Keep the workspace or remove it.

    Args:
        leavings: What the attempt left, if anything.
        failed: Whether its verdict is anything but `pass`.

    Returns:
        The artifacts that are there now, by what they are: `log`, `workspace`, `diff`.
    """
    if leavings is None:
        return {}
    workspace = leavings.workspace
    if workspace is None:
        return leavings.artifacts
    keeps = workspace.keep == "always" or (workspace.keep == "on_failure" and failed)
    kept = await asyncio.to_thread(_keep if keeps and workspace.kept_at else _remove, workspace)
    return {**leavings.artifacts, **kept}


def _keep(workspace: WorkspaceLeft) -> dict[str, str]:
    kept_at = Path(workspace.kept_at or workspace.path)
    try:
        kept_at.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(workspace.path, kept_at)
        kept = {"workspace": str(kept_at)}
        if workspace.diff is not None:
            diff = kept_at.with_name(f"{kept_at.name}.diff")
            kept["diff"] = str(shutil.move(workspace.diff, diff))
    except OSError:
        # Nowhere to keep it (a full disk): it is better lost than left in the way.
        return _remove(workspace)
    _leave_room(workspace)
    return kept


def _remove(workspace: WorkspaceLeft) -> dict[str, str]:
    remove_tree(workspace.path)
    if workspace.diff is not None:
        Path(workspace.diff).unlink(missing_ok=True)
    _leave_room(workspace)
    return {}


def _leave_room(workspace: WorkspaceLeft) -> None:
    """The folder that held it goes too, if nothing else is in it."""
    with suppress(OSError):
        Path(workspace.path).parent.rmdir()
