"""What a command printed, without what agents wrap around it for their models."""

import re

_WRAPPINGS = (
    # Codex
    re.compile(r"Chunk ID: .*?\nOutput:\n(?P<printed>.*)", re.DOTALL),
    # Copilot
    re.compile(r"(?P<printed>.*)\n<shellId: [^>]*>", re.DOTALL),
    # Gemini
    re.compile(
        r"<untrusted_context>\nOutput: (?P<printed>.*)\nProcess Group PGID: \d+\n"
        r"</untrusted_context>",
        re.DOTALL,
    ),
)


def printed(result: str) -> str:
    """Unwrap a tool's result; one in no known wrapping stays as it is."""
    found = (wrapping.fullmatch(result) for wrapping in _WRAPPINGS)
    return next((match["printed"] for match in found if match), result)
