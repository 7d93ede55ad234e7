"""Taking a run's folder away: only what AgentV itself has put there."""

from agentv.errors import SetupError
from agentv.storage.run_folder import RunFolder
from agentv.storage.run_lock import RunLock


def remove_run(folder: RunFolder) -> tuple[str, ...]:
    """Remove a run; its folder too, unless something else is in it: the names of that.

    The manifest goes last, so that what is cut short can be done again.

    Raises:
        SetupError: It is being written, or cannot be removed; the message says why.
    """
    if folder.path.is_symlink():
        raise SetupError(f"{folder.path} is a link; name the run by where it lies.")
    with RunLock(folder.lock_path):
        try:
            for path in folder.present():
                path.unlink(missing_ok=True)
            left = tuple(sorted(path.name for path in folder.path.iterdir()))
            if not left:
                folder.path.rmdir()
        except OSError as error:
            raise SetupError(f"{folder.path} cannot be removed: {error.strerror}.") from error
    return left


def size_of(folder: RunFolder) -> int:
    """How many bytes removing a run gives back."""
    total = 0
    for path in folder.present():
        try:
            total += path.lstat().st_size
        except OSError:  # gone in between
            continue
    return total
