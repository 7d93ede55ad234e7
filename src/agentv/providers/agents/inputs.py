"""The files that a prompt links to, mirrored to where the agent may open them."""

import shutil
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path, PurePath

from agentv.core.preread import preread_document
from agentv.errors import ProviderError
from agentv.model.base import Record
from agentv.model.request import ProviderRequest

INPUTS = "agentv-inputs"
"""The folder of the mirrored files, in the workspace."""
PROMPT = "prompt.md"


class Inputs(Record, frozen=True, kw_only=True):
    """What an attempt was given to read."""

    document: str
    prompt_file: Path
    folder: Path
    """Where the mirrored files are; may not exist if there are none."""


def lay_out_inputs(request: ProviderRequest, into: Path) -> Inputs:
    """Mirror the request's files below a folder, and write the prompt beside them.

    Raises:
        ProviderError: A file has vanished, or cannot be copied.
    """
    folder = into / INPUTS
    guideline_paths = set(request.guideline_paths)
    others = [path for path in request.input_files if path not in guideline_paths]
    document = preread_document(
        request.question,
        guidelines=_mirror(request.guideline_paths, folder / "guidelines"),
        files=_mirror(others, folder / "files"),
        system_prompt=request.system_prompt,
    )
    # The author's own `prompt.md`, out of a template, stays what it is.
    prompt_file = into / PROMPT
    if prompt_file.exists():
        folder.mkdir(exist_ok=True)
        prompt_file = folder / PROMPT
    prompt_file.write_text(document, encoding="utf-8", errors="replace")
    return Inputs(document=document, prompt_file=prompt_file, folder=folder)


def mirror_names(paths: Iterable[str]) -> dict[str, PurePath]:
    """A short name for each path: its base name, behind the folders that tell it from others."""
    wanted = [PurePath(path) for path in dict.fromkeys(paths)]
    names: dict[str, PurePath] = {}
    for path in wanted:
        others = [other for other in wanted if other != path]
        parts = path.parts[1:] if path.is_absolute() else path.parts
        for length in count(1):
            tail = parts[-length:]
            alone = all(other.parts[-length:] != tail for other in others)
            if alone or length >= len(parts):
                names[str(path)] = PurePath(*tail)
                break
    return names


def _mirror(paths: Sequence[str], folder: Path) -> list[str]:
    names = mirror_names(paths)
    copies = []
    for path in paths:
        copy = folder / names[path]
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        except OSError as error:
            raise ProviderError(
                f"the file '{path}' cannot be put into the workspace: {error.strerror}",
                kind="input_file",
            ) from error
        copies.append(str(copy))
    return copies
