"""The prompt document for agents: what they must read first, then what they are asked.

An agent opens files itself, so guidelines and attachments are linked, not pasted. It is the same
document for every agent, and for an agent that serves as a judge.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

MISSING_FILE = "ERROR: missing-file"
"""How an agent that cannot open a linked file is told to begin its answer."""

_MISSING_LINE = re.compile(rf"{MISSING_FILE}[ \t]+(?P<file>[^\r\n]+)")
_MARKDOWN_SPECIAL = re.compile(r"([\\\[\]])")


def preread_document(
    question: str,
    *,
    guidelines: Sequence[str] = (),
    files: Sequence[str] = (),
    system_prompt: str | None = None,
) -> str:
    """The whole document that an agent is given.

    Args:
        question: In agent mode: files show as their paths only.
        guidelines: Absolute paths of the guideline files, as the agent sees them.
        files: Absolute paths of the other files, as the agent sees them.
        system_prompt: A judge's instructions; they stand above the query.
    """
    sections = [_preread_block(guidelines, files)]
    if system_prompt:
        sections.append(f"[[ ## system_instructions ## ]]\n\n{system_prompt.strip()}")
    sections.append(f"[[ ## user_query ## ]]\n\n{question.strip()}")
    return "\n\n".join(filter(None, sections)) + "\n"


def missing_file(answer: str) -> str | None:
    """The file that an agent said it could not open, if that is all its answer says."""
    found = _MISSING_LINE.fullmatch(answer.strip())
    return found["file"].strip() if found else None


def _preread_block(guidelines: Sequence[str], files: Sequence[str]) -> str:
    if not guidelines and not files:
        return ""
    parts = ["[[ ## preread ## ]]"]
    if guidelines:
        parts.append(_list("Read all guideline files:", guidelines))
    if files:
        parts.append(_list("Read all input files:", files))
    parts.append(
        "Open every file above before anything else. If one of them cannot be opened, answer with"
        f"\nthe single line `{MISSING_FILE} <file name>` and stop.\n"
        "Then follow the guidelines while you work on the query below."
    )
    return "\n\n".join(parts)


def _list(heading: str, paths: Iterable[str]) -> str:
    return "\n".join([heading, *map(_link, paths)])


def _link(path: str) -> str:
    file = PurePath(path)
    # A bracket in a file name would end the link's text early.
    name = _MARKDOWN_SPECIAL.sub(r"\\\1", file.name)
    return f"* [{name}]({file.as_uri()})"
