"""Finding VS Code's command line."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from agentv.errors import SetupError

_PRODUCTS = {False: ("VS Code", "code"), True: ("VS Code Insiders", "code-insiders")}


def default_executable(*, insiders: bool) -> str:
    """What VS Code calls its own command."""
    return _PRODUCTS[insiders][1]


def find_executable(
    given: str | None, *, insiders: bool, env: Mapping[str, str], folder: Path, who: str
) -> str:
    """The program's path.

    Args:
        given: A name or a path; `None` for VS Code's own name.
        insiders: Whether VS Code Insiders is meant.
        env: Its `PATH` is searched.
        folder: Where a relative path starts.
        who: Who needs it, for the message.

    Raises:
        SetupError: There is none; the message says how to get it.
    """
    product, own = _PRODUCTS[insiders]
    name = given or own
    wanted = str(folder / Path(name).expanduser()) if "/" in name or name[0] == "~" else name
    found = shutil.which(wanted, path=env.get("PATH"))
    if found is None:
        where = "" if "/" in wanted else " on PATH"
        raise SetupError(
            f"{who} needs the command line of {product}, and there is no program "
            f"'{wanted}'{where}. "
            f"Install {product} and run its command \"Shell Command: Install '{own}' command in "
            'PATH", or say with `executable` where the program is.'
        )
    return found
