"""Which globs make a file a guideline: `.agentv.yaml` or `.agentv/config.yaml`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from agentv.core.guidelines import DEFAULT_PATTERNS
from agentv.loading.check import CheckFailed, convert
from agentv.loading.document import locate, read_document
from agentv.loading.project import show
from agentv.model.base import AuthoredRecord
from agentv.model.problem import LoadError, Problem

Glob = Annotated[str, Meta(min_length=1)]


class ConfigFile(AuthoredRecord, frozen=True, kw_only=True):
    """A configuration file, as it is written."""

    schema: Literal["agentv-config-v2"] | None = msgspec.field(name="$schema", default=None)
    guideline_patterns: list[Glob] | None = None
    """Globs on paths relative to the repository root; they replace the defaults."""


def find_config(folder: Path, folders_to_root: Iterable[Path]) -> Path | None:
    """The file that applies to suites in `folder`: its own `.agentv.yaml`, else the nearest
    `.agentv/config.yaml` on the way to the repository root.
    """
    candidates = [folder / ".agentv.yaml"]
    candidates += [parent / ".agentv" / "config.yaml" for parent in folders_to_root]
    return next((path for path in candidates if path.is_file()), None)


def load_guideline_patterns(path: Path | None, cwd: Path) -> tuple[str, ...]:
    """The globs of a configuration file; the defaults when it (or the key) is absent.

    Raises:
        LoadError: The file is invalid, or empty; there is no silent fallback.
    """
    if path is None:
        return DEFAULT_PATTERNS
    try:
        document = read_document(path, show(path, cwd))
    except LoadError as error:
        raise LoadError(map(_for_config, error.problems)) from error
    try:
        config = convert(document.tree, ConfigFile)
    except CheckFailed as failed:
        raise LoadError(locate(failed.mistakes, document)) from failed
    if config.guideline_patterns is None:
        return DEFAULT_PATTERNS
    return tuple(config.guideline_patterns)


def _for_config(problem: Problem) -> Problem:
    if problem.code != "empty-file":
        return problem
    return msgspec.structs.replace(problem, hint="write `guideline_patterns:`, or delete the file")
