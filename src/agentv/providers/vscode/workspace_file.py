"""The workspace that a worker's window opens: its own folder, then those of the author's template.

Pure but for reading the template. A template's relative paths start in its own folder; in the
worker's they would lead nowhere, so they are made absolute.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentv.errors import AuthorError
from agentv.providers.vscode.jsonc import parse_jsonc

_LOCATIONS = (
    "chat.promptFilesLocations",
    "chat.instructionsFilesLocations",
    "chat.modeFilesLocations",
    "chat.agentFilesLocations",
)
_OWN = {"path": "."}
_OWN_AGENTS = {".github/agents/**/*.md": True}


def workspace_text(template: Path | None) -> str:
    """The content of a worker's `.code-workspace` file.

    Args:
        template: A `.code-workspace` file, or a folder that is to be opened.

    Raises:
        AuthorError: The template cannot be read, or is none.
    """
    if template is None:
        workspace: dict[str, Any] = {}
        base = Path()
    elif template.is_dir():
        workspace, base = {"folders": [{"path": str(template)}]}, template
    else:
        workspace, base = _read(template), template.parent
    folders = workspace.get("folders", [])
    settings = workspace.get("settings", {})
    if not isinstance(folders, list) or not all(isinstance(one, dict) for one in folders):
        raise AuthorError(f"{template}: `folders` is a list of mappings, each with a `path`.")
    if not isinstance(settings, dict):
        raise AuthorError(f"{template}: `settings` is a mapping.")
    whole = {
        **workspace,
        "folders": [_OWN, *_absolute_folders(folders, base)],
        "settings": _settings(settings, base),
    }
    return json.dumps(whole, indent=2, ensure_ascii=False)


def _read(template: Path) -> dict[str, Any]:
    try:
        tree = parse_jsonc(template.read_text("utf-8"))
    except json.JSONDecodeError as error:
        where = f"{template}:{error.lineno}:{error.colno}"
        raise AuthorError(f"{where}  not a workspace file: {error.msg}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise AuthorError(
            f"{template}: the workspace template cannot be read ({error})."
        ) from error
    if not isinstance(tree, dict):
        raise AuthorError(f"{template}: a workspace file is a mapping with `folders`.")
    return tree


def _absolute_folders(folders: list[dict[str, Any]], base: Path) -> Iterator[dict[str, Any]]:
    for folder in folders:
        path = folder.get("path")
        # A folder on another machine has a `uri` instead.
        yield {**folder, "path": _absolute(path, base)} if isinstance(path, str) else folder


def _settings(settings: Mapping[str, Any], base: Path) -> dict[str, Any]:
    made = dict(settings)
    for key in _LOCATIONS:
        places = settings.get(key)
        if isinstance(places, dict):
            made[key] = {_absolute(place, base): value for place, value in places.items()}
    modes = made.get("chat.modeFilesLocations")
    own = modes if isinstance(modes, dict) else {}
    made["chat.modeFilesLocations"] = {**_OWN_AGENTS, **own}
    return made


def _absolute(path: str, base: Path) -> str:
    """The same place, also where it ends in a glob; `~` and variables are VS Code's own."""
    if path.startswith(("~", "${")):
        return path
    return os.path.normpath(base / path)
