"""JSON as VS Code's settings have it: with comments and with commas before a closing bracket."""

import json
import re
from typing import Any

_PIECE = re.compile(
    r"""
    (?P<text>"(?:\\.|[^"\\])*")
    | (?P<comment>//[^\r\n]*|/\*(?:(?!\*/).)*\*/)
    | (?P<comma>,)(?=(?:\s|//[^\r\n]*|/\*(?:(?!\*/).)*\*/)*[\]}])
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_jsonc(text: str) -> Any:
    """The document that a text holds.

    Raises:
        ValueError: A `json.JSONDecodeError` whose line and column are those of the text.
    """
    return json.loads(_PIECE.sub(_plain, text.removeprefix("\ufeff")))


def _plain(match: re.Match[str]) -> str:
    """What stands there in JSON: as long, and with as many lines."""
    if match["text"] is not None:
        return match[0]
    return re.sub(r"[^\r\n]", " ", match[0])
