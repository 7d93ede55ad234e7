"""Where a project begins, and in which folders its files are looked for."""

from pathlib import Path


def find_root(start: Path, cwd: Path) -> Path:
    """The repository root above a folder.

    Outside a repository it is the working directory when that lies above `start`, else `start`
    itself, so that a project without git behaves as if its top were the root.
    """
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return cwd if cwd in start.parents else start


def folders_to_root(start: Path, root: Path) -> tuple[Path, ...]:
    """The folder and its parents up to the root."""
    chain = [start]
    while chain[-1] != root and chain[-1] != chain[-1].parent:
        chain.append(chain[-1].parent)
    return tuple(chain)


def folders_up(start: Path, root: Path, cwd: Path) -> tuple[Path, ...]:
    """The folder, its parents up to the root, then the working directory; each once."""
    return tuple(dict.fromkeys([*folders_to_root(start, root), cwd]))


def show(path: Path, cwd: Path) -> str:
    """A path as the user would type it: relative where that is shorter to read."""
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)
