"""Taking secrets out of whatever is about to be shown or stored."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, get_args

import msgspec

from agentv.core.json_text import to_json
from agentv.core.secret_forms import forms_of
from agentv.model.case import Role
from agentv.model.request import (
    ChatMessage,
    Leavings,
    PlacedMedia,
    ProviderResponse,
    WorkspaceLeft,
)
from agentv.model.result import ErrorInfo, EvaluatorResult, RawRequest, TrialResult
from agentv.model.score import Usage
from agentv.model.step import Answered, Asked, Judged

_ROWS = (TrialResult, EvaluatorResult, RawRequest, ChatMessage, PlacedMedia, ErrorInfo, Usage)
_STEPS = (Asked, Answered, Judged, ProviderResponse, Leavings, WorkspaceLeft)
_OUR_KEYS = frozenset(name for record in (*_ROWS, *_STEPS) for name in record.__struct_fields__)
_IDENTITY = frozenset(
    ("step", "eval_id", "dataset", "suite", "target", "verdict", "timestamp", "digest")
)
_ROLES = frozenset(get_args(Role))
_CUT = "…"
_LONG, _PART = 16, 8
"""Of a secret that is so long, so much beside a `…` is worth hiding: texts are shortened before
they come here."""
_FALLBACKS = range(0x2588, 0xD800)
"""Signs to stand for a secret when every wording of ours would itself show part of one."""


class Redactor:
    """Replaces secrets by `[redacted NAME]`, in every form in which they are likely to appear.

    Values of fewer than four characters, and blank ones, are left alone: they would smear over
    ordinary text.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        labels = {form: label for label, value in secrets.items() for form in forms_of(value)}
        # The longest first: what is left of it once a shorter one is out would still be telling.
        forms = sorted(labels, key=len, reverse=True)
        self._marks = {form: _mark(labels[form], forms) for form in forms}
        self._pattern = re.compile("|".join(map(re.escape, forms)))
        self._long = [form for form in forms if len(form) >= _LONG]
        self._signs = _shortest([*filter(_is_short, forms), *_ends(self._long)])
        # Somebody else's JSON may write any letter as `\u0061`: then only reading it can tell.
        escapes = (b"\\u", b"\\/") if self._signs else ()
        self._json_signs = (*(to_json(form)[1:-1] for form in self._signs), *escapes)

    def text(self, text: str) -> str:
        """The text without secrets."""
        if not any(sign in text for sign in self._signs):
            return text
        text = self._pattern.sub(lambda found: self._marks[found[0]], text)
        return self._without_parts(text) if _CUT in text else text

    def json_bytes(self, data: bytes) -> bytes:
        """A JSON document without secrets, valid still; untouched when there are none in it.

        Strings and keys are searched; numbers, `true`, `false` and `null` are not text. A row
        stays a row, and a step a step: its own keys, its roles, and what it is known by (ids,
        suite, target, verdict; an author's words, not a program's) are kept whatever the secrets
        are.
        """
        if not self._may_hold_secrets(data):
            return data
        document = msgspec.json.decode(data)
        cleaned = self._clean_row(document)
        return data if cleaned == document else to_json(cleaned)

    def _may_hold_secrets(self, data: bytes) -> bool:
        # A loop, since every row comes here: a generator would cost as much as the search does.
        for sign in self._json_signs:  # noqa: SIM110
            if sign in data:
                return True
        return False

    def _without_parts(self, text: str) -> str:
        pieces = text.split(_CUT)
        for left in range(len(pieces) - 1):
            pieces[left] = self._without_beginning(pieces[left])
            pieces[left + 1] = self._without_end(pieces[left + 1])
        return _CUT.join(pieces)

    def _without_beginning(self, piece: str) -> str:
        """The piece before a cut, without the beginning of a secret at its end."""
        for form in self._long if any(form[:_PART] in piece for form in self._long) else ():
            for length in range(len(form) - 1, _PART - 1, -1):
                if piece.endswith(form[:length]):
                    return piece[:-length] + self._marks[form]
        return piece

    def _without_end(self, piece: str) -> str:
        """The piece after a cut, without the end of a secret at its beginning."""
        for form in self._long if any(form[-_PART:] in piece for form in self._long) else ():
            for length in range(len(form) - 1, _PART - 1, -1):
                if piece.startswith(form[-length:]):
                    return self._marks[form] + piece[length:]
        return piece

    def _clean_row(self, document: Any) -> Any:
        cleaned = self._clean(document)
        if isinstance(document, dict):
            cleaned |= {key: document[key] for key in _IDENTITY & document.keys()}
        return cleaned

    def _clean(self, value: Any, key: str | None = None) -> Any:
        if isinstance(value, str):
            return value if key == "role" and value in _ROLES else self.text(value)
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        if isinstance(value, dict):
            return {
                name if name in _OUR_KEYS else self.text(name): self._clean(item, name)
                for name, item in value.items()
            }
        return value


def _is_short(form: str) -> bool:
    return len(form) < _LONG


def _ends(forms: Sequence[str]) -> Iterator[str]:
    for form in forms:
        yield from (form[:_PART], form[-_PART:])


def _shortest(forms: Sequence[str]) -> tuple[str, ...]:
    """Enough of the forms to tell whether a text holds any: those that hold no other."""
    return tuple(
        form for form in forms if not any(other in form for other in forms if other != form)
    )


def _mark(label: str, forms: Sequence[str]) -> str:
    """A replacement that neither holds a secret nor completes one with the text around it."""
    wordings = (f"[redacted {label}]", "[redacted]", f"<redacted {label}>", "<redacted>")
    signs: Iterator[str] = map(chr, _FALLBACKS)
    return next(
        mark for mark in chain(wordings, signs) if not any(_touches(mark, form) for form in forms)
    )


def _touches(mark: str, form: str) -> bool:
    if mark in form or form in mark:
        return True
    return any(
        mark.startswith(form[-length:]) or mark.endswith(form[:length])
        for length in range(1, min(len(mark), len(form)))
    )
