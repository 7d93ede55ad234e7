"""JSON as rows and manifests are written: no text of a stranger can stop it."""

from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder()


def to_json(value: Any) -> bytes:
    """One line of UTF-8 JSON.

    Half of a surrogate pair, which UTF-8 cannot hold, becomes `?`. Such halves come from file
    names and from programs that cut a text in the middle of a character.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _ENCODER.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value
