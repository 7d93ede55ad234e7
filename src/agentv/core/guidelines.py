"""Which files are guidelines, and how their text is handed over."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from agentv.core.question import file_block
from agentv.model.request import GuidelineSegment, Turn

DEFAULT_PATTERNS = (
    "**/*.instructions.md",
    "**/instructions/**",
    "**/*.prompt.md",
    "**/prompts/**",
)
"""What counts as a guideline where no configuration says otherwise."""


def is_guideline(relative_path: str, patterns: Sequence[str]) -> bool:
    """Whether a path matches one of the globs.

    Args:
        relative_path: Relative to the repository root; backslashes are read as slashes.
        patterns: Globs with `*`, `**`, `{a,b}` and the extended forms.
    """
    if not patterns:
        return False
    return bool(_matcher(tuple(patterns)).match(relative_path.replace("\\", "/")))


def gather_guidelines(turns: Iterable[Turn]) -> dict[str, GuidelineSegment]:
    """Every guideline by its resolved path, each once, in the order of first mention."""
    found: dict[str, GuidelineSegment] = {}
    for turn in turns:
        for segment in turn.segments:
            if isinstance(segment, GuidelineSegment):
                found.setdefault(segment.resolved_path, segment)
    return found


def format_guidelines(segments: Iterable[GuidelineSegment]) -> str:
    """The guidelines' texts under the base name of each file, joined by blank lines."""
    return "\n\n".join(
        file_block(PurePath(segment.resolved_path).name, segment.text) for segment in segments
    )


@lru_cache(maxsize=64)
def _matcher(patterns: tuple[str, ...]) -> Any:
    # Imported here: most suites refer to no file, and start-up should not pay for globs.
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.EXTGLOB | glob.FORCEUNIX
    return glob.compile(patterns, flags=flags)
