"""Where the values of a YAML text stand: the slow second reading, for when something is wrong."""

from collections.abc import Callable

from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from agentv.loading.positions import Place, Positions
from agentv.loading.yaml_events import PURE, Event, open_events
from agentv.loading.yaml_syntax import syntax_mistakes


def parse_yaml_positions(text: str, *, pure: bool = PURE) -> Positions:
    """The positions of a text that `parse_yaml` accepts.

    An alias stands where it is written, its parts where its anchor is; so do merged keys.

    Raises:
        DocumentError: The text is not YAML at all.
    """
    with syntax_mistakes(text, ()):
        next_event = open_events(text.removeprefix("\ufeff"), pure=pure)
        next_event()
        if next_event().__class__ is StreamEndEvent:
            return Positions(Place(1, 1))
        return Positions(_Placer(next_event).place(next_event()))


class _Placer:
    """Builds places from events, the way `yaml12` builds values."""

    def __init__(self, next_event: Callable[[], Event]) -> None:
        self._next = next_event
        self._anchors: dict[str, Place] = {}

    def place(self, event: Event, key: tuple[int, int] | None = None) -> Place:
        line, column = _at(event)
        kind = event.__class__
        if kind is AliasEvent:
            anchored = self._anchors.get(event.anchor)
            return Place(line, column, key, anchored.parts if anchored else {})
        if kind is MappingStartEvent:
            place = Place(line, column, key, self._mapping())
        elif kind is SequenceStartEvent:
            place = Place(line, column, key, self._sequence())
        else:
            place = Place(line, column, key)
        if event.anchor is not None:
            self._anchors[event.anchor] = place
        return place

    def _mapping(self) -> dict[str | int, Place]:
        own: dict[str | int, Place] = {}
        merged: dict[str | int, Place] = {}
        while (event := self._next()).__class__ is not MappingEndEvent:
            if event.__class__ is not ScalarEvent:
                self.place(event)
                self.place(self._next())
                continue
            if event.anchor is not None:
                self.place(event)
            value = self.place(self._next(), _at(event))
            if event.value == "<<" and not event.implicit[1]:
                merged = _merged(value)
            own.setdefault(event.value, value)
        return merged | own if merged else own

    def _sequence(self) -> dict[str | int, Place]:
        parts: dict[str | int, Place] = {}
        while (event := self._next()).__class__ is not SequenceEndEvent:
            parts[len(parts)] = self.place(event)
        return parts


def _at(event: Event) -> tuple[int, int]:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1


def _merged(value: Place) -> dict[str | int, Place]:
    if 0 not in value.parts:
        return dict(value.parts)
    parts: dict[str | int, Place] = {}
    for mapping in value.parts.values():
        parts = {**mapping.parts, **parts}
    return parts
