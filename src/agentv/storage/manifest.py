"""The manifest, `run.json`: what was asked of a run, written once and whole."""

import os
from pathlib import Path

import msgspec

from agentv.core.json_text import to_json
from agentv.errors import SetupError
from agentv.model.run import RunManifest
from agentv.storage.durable import sync_folder


def write_manifest(path: Path, manifest: RunManifest) -> None:
    """Write it so that there is either all of it or none, also after a power cut.

    Raises:
        SetupError: The folder takes no files.
    """
    text = msgspec.json.format(to_json(manifest), indent=2) + b"\n"
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise SetupError(f"{path} cannot be written: {error.strerror}.") from error


def read_manifest(path: Path) -> RunManifest:
    """Read it back; keys that a later version may have added are passed over.

    Raises:
        SetupError: There is none, or it cannot be understood.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunManifest)
    except FileNotFoundError as error:
        raise SetupError(f"{path} does not exist, so {path.parent} holds no run.") from error
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SetupError(
            f"{path} is not a manifest that this version of AgentV understands: {error}."
        ) from error
