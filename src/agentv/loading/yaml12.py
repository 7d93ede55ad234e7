"""Strict YAML 1.2, read into plain values.

Why not a loader off the shelf: those for YAML 1.1 turn `on:`, `no`, `12:30` and dates into other
things than their authors wrote, keep the last of two equal keys in silence, and let a few lines
of aliases grow into gigabytes. This one reads the events of PyYAML's parser, which also makes it
about as quick as Python allows; the slow questions (where does a value stand?) are left to
`parse_yaml_positions`, for when something is wrong.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from agentv.loading.limits import MAX_DEPTH
from agentv.loading.mistake import DocumentError, Mistake
from agentv.loading.yaml_anchors import TOO_DEEP, AliasError, Anchors
from agentv.loading.yaml_events import PURE, Event, open_events
from agentv.loading.yaml_positions import parse_yaml_positions
from agentv.loading.yaml_scalars import CORE, SUSPECTS, plain_value, tagged_value, unknown_tag
from agentv.loading.yaml_syntax import syntax_mistakes
from agentv.model.problem import KeyPath

__all__ = ["DocumentError", "parse_yaml", "parse_yaml_positions"]

_KEY_SUSPECTS = SUSPECTS | {"<"}


def parse_yaml(text: str, *, pure: bool = PURE) -> Any:
    """The value of a text that holds one YAML document; `None` for an empty one.

    Values are `dict` (with `str` keys), `list`, `str`, `int`, `float`, `bool` and `None`. What
    stands behind aliases is shared, not copied: do not change it.

    Aliases may stand for as many values as the text has characters, or 10 000, in all.

    Raises:
        DocumentError: Everything that is wrong up to the first error of syntax, in file order.
    """
    builder = _Builder(text)
    with syntax_mistakes(text, builder.mistakes), _without_gc():
        value = builder.read(text.removeprefix("\ufeff"), pure=pure)
    if builder.mistakes:
        raise DocumentError(builder.mistakes)
    return value


class _Builder:
    """Builds values from events. Its loops run some hundred thousand times for a large suite."""

    def __init__(self, text: str) -> None:
        self.mistakes: list[Mistake] = []
        self._anchors = Anchors(len(text))

    def read(self, text: str, *, pure: bool) -> Any:
        self._next = next_event = open_events(text, pure=pure)
        next_event()
        if next_event().__class__ is StreamEndEvent:
            return None
        value = self._value(next_event(), ())
        next_event()
        after = next_event()
        if after.__class__ is not StreamEndEvent:
            message = "a second document starts here"
            self._report(after, message, "keep one document a file", "several-documents")
        return value

    def _value(self, event: Event, path: KeyPath) -> Any:
        kind = event.__class__
        if kind is ScalarEvent:
            return self._scalar(event, path)
        if kind is AliasEvent:
            return self._alias(event, path)
        if len(path) >= MAX_DEPTH:
            raise self._stopped(event, *TOO_DEEP)
        anchor = event.anchor
        if anchor is not None:
            self._anchors.begin(anchor)
        is_mapping = kind is MappingStartEvent
        if event.tag is not None:
            self._check_tag(event, "map" if is_mapping else "seq", path)
        value = self._mapping(path) if is_mapping else self._sequence(path)
        if anchor is not None:
            self._anchors.define(anchor, value)
        return value

    def _mapping(self, path: KeyPath) -> dict[str, Any]:
        next_event, scalar, value_of = self._next, self._scalar, self._value
        values: dict[str, Any] = {}
        keys: dict[str, Event] = {}
        merged: list[dict[str, Any]] = []
        while True:
            event = next_event()
            kind = event.__class__
            if kind is MappingEndEvent:
                break
            if (
                kind is ScalarEvent
                and event.tag is None
                and event.anchor is None
                and (not event.implicit[0] or event.value[:1] not in _KEY_SUSPECTS)
            ):
                key = event.value
            elif _is_merge(event):
                if merged:
                    hint = "put both in one list: `<<: [*one, *other]`"
                    self._report(event, "duplicate key '<<'", hint, "duplicate-key", path)
                merged += self._merged(path)
                continue
            else:
                key = self._unusual_key(event, path)
            first = keys.setdefault(key, event)
            if first is not event:
                self._report_twice(key, event, first, path)
            event = next_event()
            if event.__class__ is ScalarEvent:
                values[key] = scalar(event, path)
            else:
                values[key] = value_of(event, (*path, key))
        for mapping in merged:
            values = mapping | values
        return values

    def _sequence(self, path: KeyPath) -> list[Any]:
        next_event, value_of = self._next, self._value
        values: list[Any] = []
        while (event := next_event()).__class__ is not SequenceEndEvent:
            values.append(value_of(event, (*path, len(values))))
        return values

    def _scalar(self, event: Event, path: KeyPath) -> Any:
        value = event.value
        try:
            if event.tag is not None:
                value = tagged_value(event.tag, value)
            elif event.implicit[0] and value[:1] in SUSPECTS:
                value = plain_value(value)
        except ValueError as error:
            about_tag = event.tag is not None
            hint = "quote a text that starts with '!'" if about_tag else "quote it to make it text"
            self._report(event, str(error), hint, "tag" if about_tag else "out-of-range", path)
        if event.anchor is not None:
            self._anchors.define(event.anchor, value)
        return value

    def _alias(self, event: Event, path: KeyPath) -> Any:
        try:
            return self._anchors.follow(event.anchor, len(path))
        except AliasError as error:
            if error.fatal:
                raise self._stopped(event, error.message, error.hint, error.code) from error
            self._report(event, error.message, error.hint, error.code, path)
            return {}

    def _merged(self, path: KeyPath) -> list[dict[str, Any]]:
        """The mappings that a `<<` names; the first wins."""
        event = self._next()
        value = self._value(event, (*path, "<<"))
        mappings = value if isinstance(value, list) else [value]
        if all(isinstance(mapping, dict) for mapping in mappings):
            return mappings
        hint = "write `<<: *anchor`, or quote the key"
        self._report(event, "'<<' takes a mapping or a list of mappings", hint, "wrong-type", path)
        return []

    def _unusual_key(self, event: Event, path: KeyPath) -> str:
        """The text of a key that may not be text; if it is not, the mistake is noted."""
        value = self._value(event, (*path, "?"))
        if isinstance(value, str):
            return value
        if event.__class__ is ScalarEvent and event.value:
            message = f"the key {event.value} is not text"
            self._report(event, message, f'quote it: "{event.value}":', "non-text-key", path)
            return str(event.value)
        message = "a key must be text"
        hint = "quote a text that starts with '{', '[', '?' or ':'"
        self._report(event, message, hint, "non-text-key", path)
        return f"key at {event.start_mark.line}:{event.start_mark.column}"

    def _check_tag(self, event: Event, kind: str, path: KeyPath) -> None:
        if event.tag not in ("!", CORE + kind):
            self._report(event, str(unknown_tag(event.tag)), "leave it out", "tag", path)

    def _report_twice(self, key: str, event: Event, first: Event, path: KeyPath) -> None:
        hint = f"it is already in line {first.start_mark.line + 1}; keep one"
        message = f"duplicate key '{key}'"
        self._report(event, message, hint, "duplicate-key", (*path, key), at_key=True)

    def _stopped(self, event: Event, message: str, hint: str, code: str) -> DocumentError:
        self._report(event, message, hint, code)
        return DocumentError(self.mistakes)

    def _report(
        self,
        event: Event,
        message: str,
        hint: str,
        code: str,
        path: KeyPath = (),
        *,
        at_key: bool = False,
    ) -> None:
        mark = event.start_mark
        mistake = Mistake(
            path=path,
            line=mark.line + 1,
            column=mark.column + 1,
            message=message,
            hint=hint,
            code=code,
            at_key=at_key,
        )
        self.mistakes.append(mistake)


def _is_merge(event: Event) -> bool:
    return (
        event.__class__ is ScalarEvent
        and event.value == "<<"
        and (event.tag == CORE + "merge" or (event.tag is None and event.implicit[0]))
    )


@contextmanager
def _without_gc() -> Iterator[None]:
    """The collector would look at every new value several times, and find no cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
