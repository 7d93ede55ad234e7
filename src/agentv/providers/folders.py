"""Folders that a target names."""

from pathlib import Path

from agentv.errors import SetupError


def find_folder(name: str, project: Path) -> Path:
    """An existing folder: from `~`, from the project's folder, or from the working directory.

    Raises:
        SetupError: There is none; the message says where it was looked for.
    """
    wanted = Path(name).expanduser()
    places = list(dict.fromkeys((project / wanted, Path.cwd() / wanted)))
    for place in places:
        if place.is_dir():
            return place.resolve()
    raise SetupError(f"the folder '{name}' does not exist ({', '.join(map(str, places))})")
