"""A command line with placeholders, and its rendering into text for `/bin/sh`.

A placeholder is `{NAME}`; `${NAME}` is the shell's, and other braces (`{"a": 1}`, awk's
`{print $1}`) are nobody's. A value is escaped for the quoting that the author put around its
placeholder, so it reaches the program character for character whatever it holds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import PurePath
from typing import Self

import msgspec

from agentv.core.shell_quoting import Place, Quoting, places, quote
from agentv.errors import AuthorError
from agentv.model.base import Record
from agentv.model.options import OptionProblem
from agentv.model.problem import KeyPath

PLACEHOLDERS = ("PROMPT", "GUIDELINES", "EVAL_ID", "ATTEMPT", "FILES", "OUTPUT_FILE")
FILE_PLACEHOLDERS = ("path", "basename")
DEFAULT_FILES_FORMAT = "{path}"

_OURS = frozenset({"ATTEMPT", "OUTPUT_FILE"})
"""Their values are made by us and hold nothing that a shell could take for syntax."""
_BRACED = re.compile(r"(?<!\$)\{([A-Za-z][A-Za-z0-9_-]*)\}")
_UPPERCASE = re.compile(r"[A-Z][A-Z0-9_]*")
_SHELL_CODE_NEXT = re.compile(
    r"(?<![\w.-])(?:(?:ba|da|z|k)?sh(?:\s+-\S+)*\s+-[A-Za-z]*c\s+|(?:eval|trap)\s+[^;&|\n]*)$"
)


class Placeholder(Record, frozen=True, kw_only=True):
    """A placeholder and how the shell reads its place."""

    name: str
    quoting: Quoting


class CommandTemplate(msgspec.Struct, frozen=True):
    """A valid template, parsed once and rendered often."""

    pieces: tuple[str | Placeholder, ...]
    files_format: tuple[str | Placeholder, ...] = ()

    @classmethod
    def parse(cls, text: str, *, files_format: str = DEFAULT_FILES_FORMAT) -> Self:
        """Parse a template and the format of each of its files.

        Raises:
            AuthorError: There are mistakes; `template_problems` lists them with their places.
        """
        problems = [*template_problems(text, ()), *files_format_problems(files_format, ())]
        if problems:
            raise AuthorError(
                "\n".join(f"{problem.message}; {problem.hint}" for problem in problems)
            )
        return cls(
            pieces=tuple(_pieces(text, PLACEHOLDERS)),
            files_format=tuple(_pieces(files_format, FILE_PLACEHOLDERS)),
        )

    @property
    def placeholders(self) -> frozenset[str]:
        """The names that `render` needs values for."""
        return frozenset(piece.name for piece in self.pieces if isinstance(piece, Placeholder))

    def render(self, values: Mapping[str, str], files: Sequence[str] = ()) -> str:
        """The command for these values; `files` are the paths for `{FILES}`."""
        return "".join(
            piece
            if isinstance(piece, str)
            else self._render_files(files)
            if piece.name == "FILES"
            else quote(values[piece.name], piece.quoting)
            for piece in self.pieces
        )

    def _render_files(self, files: Sequence[str]) -> str:
        return " ".join(map(self._render_file, files))

    def _render_file(self, path: str) -> str:
        values = {"path": path, "basename": PurePath(path).name}
        return "".join(
            piece if isinstance(piece, str) else quote(values[piece.name], piece.quoting)
            for piece in self.files_format
        )


def template_problems(text: str, path: KeyPath) -> Iterator[OptionProblem]:
    """The mistakes of a command template that stands at this key path."""
    if not text.strip():
        yield OptionProblem(path=path, message="the command is blank", hint="write a command line")
        return
    yield from _placeholder_problems(text, PLACEHOLDERS, path)


def files_format_problems(text: str, path: KeyPath) -> Iterator[OptionProblem]:
    """The mistakes of a `files_format` that stands at this key path."""
    problems = list(_placeholder_problems(text, FILE_PLACEHOLDERS, path))
    yield from problems
    if not problems and not _names(text):
        yield OptionProblem(
            path=path,
            message="the format names no file",
            hint="use {path} or {basename} in it",
            code="unsupported-placeholder",
        )


def _placeholder_problems(
    text: str, supported: Sequence[str], path: KeyPath
) -> Iterator[OptionProblem]:
    found = [match for match in _BRACED.finditer(text) if _is_meant(match[1], supported)]
    *at, end = places(text, [*(match.start() for match in found), len(text)])
    for match, place in zip(found, at, strict=True):
        if match[1] not in supported:
            yield _unsupported(match[1], supported, path)
        elif reason := _danger(text, match, place):
            yield OptionProblem(
                path=path,
                message=f"{match[0]} cannot be made safe {reason[0]}",
                hint=reason[1],
                code="unsafe-placeholder",
            )
    yield from _ending_problems(end, path, fragment=supported is FILE_PLACEHOLDERS)


def _is_meant(name: str, supported: Sequence[str]) -> bool:
    """Whether braces around this name are a placeholder, perhaps a misspelt one."""
    # The format of a file's path is ours alone; a command line has other uses for braces.
    everything = supported is FILE_PLACEHOLDERS
    return everything or bool(_UPPERCASE.fullmatch(name)) or _nearest(name, supported) is not None


def _nearest(name: str, supported: Sequence[str]) -> str | None:
    spellings = {word.upper(): word for word in supported}
    close = get_close_matches(name.upper().replace("-", "_"), spellings, n=1, cutoff=0.8)
    return spellings[close[0]] if close else None


def _unsupported(name: str, supported: Sequence[str], path: KeyPath) -> OptionProblem:
    nearest = _nearest(name, supported)
    known = ", ".join(f"{{{word}}}" for word in supported)
    return OptionProblem(
        path=path,
        message=f"{{{name}}} is not a placeholder",
        hint=(f"did you mean {{{nearest}}}? " if nearest else "") + f"supported are {known}",
        code="unsupported-placeholder",
    )


def _danger(text: str, match: re.Match[str], place: Place) -> tuple[str, str] | None:
    """Where a placeholder stands that it must not, and what to do instead."""
    name = match[1]
    if place.unsafe is not None:
        return place.unsafe, "put it outside, on its own or in quotes"
    if name not in _OURS and _SHELL_CODE_NEXT.search(text[: place.word_start]):
        return (
            "inside text that another shell reads as code",
            f"hand it over as an argument: sh -c 'tool \"$1\"' _ {match[0]}",
        )
    alone = place.word_start == match.start() and text[match.end() :][:1] in "\n\t ;&|)"
    if name == "FILES" and (place.quoting is not Quoting.BARE or not alone):
        return (
            "in quotes or joined to other text: it stands for several words",
            "write {FILES} on its own between spaces, and use `files_format` for what goes around",
        )
    return None


def _ending_problems(end: Place, path: KeyPath, *, fragment: bool) -> Iterator[OptionProblem]:
    if end.unsafe is None and end.quoting is not Quoting.BARE:
        yield OptionProblem(
            path=path,
            message=f"the command ends {end.quoting.value}: a quote is not closed",
            hint="close it, or write `\\'` for an apostrophe",
            code="unclosed-quote",
        )
    elif fragment and end.unsafe is not None:
        yield OptionProblem(
            path=path,
            message=f"what follows this format would stand {end.unsafe}",
            hint="use plain words and quotes around {path} and {basename}",
            code="unsafe-placeholder",
        )


def _names(text: str) -> list[str]:
    return [match[1] for match in _BRACED.finditer(text)]


def _pieces(text: str, names: Sequence[str]) -> Iterator[str | Placeholder]:
    found = [match for match in _BRACED.finditer(text) if match[1] in names]
    done = 0
    for match, place in zip(found, places(text, [match.start() for match in found]), strict=True):
        if done < match.start():
            yield text[done : match.start()]
        yield Placeholder(name=match[1], quoting=place.quoting)
        done = match.end()
    if done < len(text):
        yield text[done:]
