"""Which quoting holds at each place of a shell text, and how a value is made literal there.

The scan follows what `dash` and `bash` agree on. Where they differ, or where no escaping holds
against every text, the place is unsafe and says why. When it cannot be known where such a place
ends, all the rest of the text is unsafe: refusing a template is cheap, a hole in one is not.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum

import msgspec

from agentv.model.base import Record


class Quoting(Enum):
    """How the shell reads the characters of one place."""

    BARE = "outside quotes"
    SINGLE = "inside single quotes"
    DOUBLE = "inside double quotes"


class Place(Record, frozen=True, kw_only=True):
    """What is known of one position of a shell text."""

    quoting: Quoting
    unsafe: str | None = None
    """Why no text can be put here safely."""
    word_start: int
    """Where the word that this position belongs to begins."""


def quote(value: str, quoting: Quoting) -> str:
    """A value written so that the shell takes it literally at a place of this kind."""
    if quoting is Quoting.DOUBLE:
        return re.sub(r'([\\"$`])', r"\\\1", value)
    inner = value.replace("'", "'\\''")
    # Quoted also where it looks harmless: a bare `2` before `>` would name a file descriptor,
    # a bare `if` or `A=b` at the start of a command would be syntax.
    return inner if quoting is Quoting.SINGLE else f"'{inner}'"


def places(text: str, positions: Iterable[int]) -> Iterator[Place]:
    """The places at these positions, which must grow; the last one may be the text's end.

    The characters from a position up to the next `}` are taken as one harmless word.
    """
    scan = _Scan(text)
    for position in positions:
        scan.up_to(position)
        yield scan.place()
        if position < len(text):
            scan.pass_over(text.index("}", position) + 1)


_SIMPLE_PARAMETER = re.compile(r"\$\{[^{}'\"\\`$]*\}")
_SIMPLE_ARITHMETIC = re.compile(r"\$\(\([^()'\"\\`{}]*\)\)")
_SIMPLE_BACKTICKS = re.compile(r"`[^`\\{}]*`")
_SIMPLE_DOLLAR_QUOTE = re.compile(r"\$'[^'\\{}]*'")
_CASE = re.compile(r"case(?=\s)")
# Quotes do not help in these: bash expands what they hold a second time.
_DUPLICATION = re.compile(r"[<>]&[ \t]*\Z")
_SUBSCRIPT = re.compile(r"(?:[A-Za-z_]\w*)?\[[^\]]*")

_BREAKS = frozenset(" \t\n;&|<>()")


class _Scan(msgspec.Struct):
    text: str
    at: int = 0
    stack: list[tuple[str, int]] = []
    """What is open (`'`, `"`, `$(`, `(` of a subshell, `#` of a comment), and in which word."""
    word_start: int = 0
    unsafe: str | None = None
    escaped: bool = False

    def place(self) -> Place:
        quoting = {"'": Quoting.SINGLE, '"': Quoting.DOUBLE}.get(self.top, Quoting.BARE)
        unsafe = self.unsafe
        if unsafe is None and self.escaped:
            unsafe = "after a backslash"
        if unsafe is None and self.top == "#":
            unsafe = "inside a comment"
        if unsafe is None and _DUPLICATION.search(self.text, 0, self.word_start):
            unsafe = "after `>&` (use `> … 2>&1`)"
        if unsafe is None and _SUBSCRIPT.fullmatch(self.text, self.word_start, self.at):
            unsafe = "inside a subscript `[…]`"
        return Place(quoting=quoting, unsafe=unsafe, word_start=self.word_start)

    @property
    def top(self) -> str:
        return self.stack[-1][0] if self.stack else ""

    def up_to(self, position: int) -> None:
        while self.at < position and self.unsafe is None:
            self.escaped = False
            self._step()
            if self.at > position:  # A construct spans the position: nothing can be said of it.
                self.unsafe = "inside a construct of the shell that does its own reading"
        self.at = max(self.at, position)

    def pass_over(self, end: int) -> None:
        self.at = max(self.at, end)
        self.escaped = False

    def _step(self) -> None:
        character = self.text[self.at]
        if self.top == "'":
            self._close_on(character, "'")
        elif self.top == "#":
            if character == "\n":
                self.stack.pop()
                self._break()
            else:
                self.at += 1
        elif character == "\\":
            self._backslash()
        elif character in "$`":
            self._expansion(character)
        elif self.top == '"':
            self._close_on(character, '"')
        else:
            self._bare(character)

    def _close_on(self, character: str, end: str) -> None:
        if character == end:
            self.stack.pop()
        self.at += 1

    def _backslash(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following in {"{", ""}:  # A placeholder or a next text may follow: it must know.
            self.escaped = True
            self.at += 1
            return
        if following == "\n":
            if self.text[self.at - 1 : self.at] in {"$", "<", "("}:
                self.unsafe = "after a line that is continued in the middle of a symbol"
            if self.at == self.word_start:  # Such a pair is nothing: the word still begins here.
                self.word_start += 2
        self.at += 2

    def _expansion(self, character: str) -> None:
        bare = self.top != '"'
        if character == "`":
            self._skip(_SIMPLE_BACKTICKS, "inside or after backticks (use `$(…)`)")
        elif self._sees("$(("):
            self._skip(_SIMPLE_ARITHMETIC, "inside or after `$((…))`")
        elif self._sees("$("):
            self._open("$(")
            self._break(2)
        elif self._sees("${"):
            self._skip(_SIMPLE_PARAMETER, "inside or after `${…}`")
        elif self._sees("$["):
            self.unsafe = "inside or after `$[…]`"
        elif bare and self._sees("$'"):
            self._skip(_SIMPLE_DOLLAR_QUOTE, "inside or after `$'…'`")
        else:
            self.at += 2 if self._sees("$$") else 1

    def _bare(self, character: str) -> None:
        at_word_start = self.at == self.word_start
        if character in "'\"":
            self._open(character)
            self.at += 1
        elif character == "#" and at_word_start:
            self._open("#")
            self.at += 1
        elif self._sees("<<<"):
            self._break(3)
        elif self._sees("<<"):
            self.unsafe = "inside or after a here-document (use `printf '%s' …` and a pipe)"
        elif self._sees("((") and at_word_start:
            self.unsafe = "inside or after `((…))`"
        elif at_word_start and self.stack and _CASE.match(self.text, self.at):
            # The `)` of its patterns has no partner, so the end of `$(` could not be told.
            self.unsafe = "inside or after `case` within parentheses"
        elif character == "(":
            # `<(…)` is part of a word, as `$(…)` is.
            self._open("$(" if self.text[self.at - 1 : self.at] in {"<", ">"} else "(")
            self._break()
        elif character == ")" and self.top == "$(":
            _, self.word_start = self.stack.pop()
            self.at += 1
        elif character == ")" and self.top == "(":
            self.stack.pop()
            self._break()
        elif character in _BREAKS:
            self._break()
        else:
            self.at += 1

    def _skip(self, simple: re.Pattern[str], otherwise: str) -> None:
        match = simple.match(self.text, self.at)
        if match is None:
            self.unsafe = otherwise
        else:
            self.at = match.end()

    def _open(self, kind: str) -> None:
        self.stack.append((kind, self.word_start))

    def _break(self, length: int = 1) -> None:
        self.at += length
        self.word_start = self.at

    def _sees(self, token: str) -> bool:
        return self.text.startswith(token, self.at)
