"""Finding an agent's program."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from agentv.errors import SetupError


def find_executable(name: str, *, env: Mapping[str, str], folder: Path) -> Path:
    """The absolute path of a program.

    Args:
        name: A name to look for on `PATH`, or a path: from `~`, from the project's folder, or from
            the working directory.
        env: Where `PATH` stands.
        folder: The project's folder.

    Raises:
        SetupError: There is no such program, or it may not be executed; the message says where it
            was looked for.
    """
    if os.sep not in name:
        found = shutil.which(name, path=env.get("PATH"))
        if found is None:
            raise SetupError(f"the program '{name}' was not found on PATH")
        return Path(found).absolute()
    wanted = Path(name).expanduser()
    places = list(dict.fromkeys((folder / wanted, Path.cwd() / wanted)))
    for place in places:
        if place.is_file():
            if not os.access(place, os.X_OK):
                raise SetupError(f"'{place}' may not be executed (`chmod +x` would allow it)")
            return place.absolute()
    raise SetupError(f"the program '{name}' was not found ({', '.join(map(str, places))})")
