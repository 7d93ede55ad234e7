"""`--dump-prompts`: what each case was asked, one JSON file a case."""

import hashlib
import re
from pathlib import Path

import msgspec

from agentv.core.json_text import to_json
from agentv.errors import RunAborted, SetupError
from agentv.model.event import Event, TrialFinished

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 60


class PromptDump:
    """A sink that writes the request of every finished trial into a folder.

    Raises:
        SetupError: The folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(f"--dump-prompts {folder}: {error.strerror}.") from error

    def handle(self, event: Event) -> None:
        """Write one file for each finished trial; secrets are already taken out of its row."""
        if isinstance(event, TrialFinished) and event.result.raw_request is not None:
            row = event.result
            document = {
                "eval_id": row.eval_id,
                "suite": row.suite,
                "target": row.target,
                "trial": row.trial,
                "raw_request": row.raw_request,
            }
            name = file_name(row.suite, row.eval_id, row.target, str(row.trial))
            encoded = msgspec.json.format(to_json(document), indent=2)
            try:
                (self._folder / name).write_bytes(encoded + b"\n")
            except OSError as error:
                message = f"{self._folder / name} cannot be written: {error.strerror}."
                raise RunAborted(message) from error


def file_name(suite: str, eval_id: str, target: str, trial: str) -> str:
    """A name that any file system takes, whatever the id holds, and no two trials share."""
    identity = hashlib.sha256("\0".join([suite, eval_id, target, trial]).encode()).hexdigest()[:8]
    slug = _UNSAFE.sub("-", eval_id).strip("-.")[:_LONGEST] or "case"
    return f"{slug}.{identity}.json"
