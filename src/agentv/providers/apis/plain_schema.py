"""A JSON Schema without the keywords that an API refuses."""

from typing import Any

_LIMITS = frozenset(
    [
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
        *("minProperties", "maxProperties", "default", "$schema", "$id"),
    ]
)
_NAMED = frozenset({"properties", "$defs", "definitions"})
"""Their keys are an author's names, not keywords."""


def plain_schema(schema: Any) -> Any:
    """The schema without limits on values, its objects closed.

    What is lost is checked after all when the answer is read; an API that refuses the keywords
    would refuse the whole request.
    """
    if isinstance(schema, list):
        return [plain_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _plain(name, value) for name, value in schema.items() if name not in _LIMITS}
    return {**kept, "additionalProperties": False} if kept.get("type") == "object" else kept


def _plain(keyword: str, value: Any) -> Any:
    if keyword in _NAMED and isinstance(value, dict):
        return {name: plain_schema(item) for name, item in value.items()}
    return value if keyword in ("enum", "const") else plain_schema(value)
