"""The JSON Schemas of the files people write and of the rows a run leaves, made from the models."""

import json
from typing import Any

import msgspec

from agentv.loading.case_file import SuiteFile
from agentv.loading.config import ConfigFile
from agentv.loading.target_keys import camel_case
from agentv.loading.targets import TargetsFile
from agentv.model.result import TrialResult
from agentv.registry import Kind, Registry

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TITLES = {
    "eval": "AgentV eval file (agentv-eval-v2)",
    "targets": "AgentV targets file (agentv-targets-v2.2)",
    "config": "AgentV configuration (.agentv.yaml, .agentv/config.yaml)",
    "result": "A row of AgentV's results.jsonl",
}


def schema_text(kind: str) -> str:
    """A schema as JSON text."""
    return json.dumps(schema_of(kind, Registry()), indent=2, ensure_ascii=False)


def schema_of(kind: str, registry: Registry) -> dict[str, Any]:
    """The schema of `eval`, `targets`, `config` or `result`."""
    models = {
        "eval": SuiteFile,
        "targets": TargetsFile,
        "config": ConfigFile,
        "result": TrialResult,
    }
    schema = _flat(models[kind])
    if kind == "eval":
        _put_evaluators(schema, registry)
    if kind == "targets":
        _put_targets(schema, registry)
    return {"$schema": _DRAFT, "title": _TITLES[kind], **schema}


def _flat(model: type[Any]) -> dict[str, Any]:
    """A model's schema with its own definition at the top."""
    (top,), definitions = msgspec.json.schema_components([model], ref_template="#/$defs/{name}")
    own = definitions.pop(top["$ref"].rpartition("/")[2]) if "$ref" in top else top
    return {**own, "$defs": definitions}


def _put_evaluators(schema: dict[str, Any], registry: Registry) -> None:
    """Each `evaluators` list takes one of the registered evaluators."""
    choices = _choices(schema, registry, "evaluators", "type")
    schema["$defs"]["Evaluator"] = {"oneOf": choices}
    items = {"$ref": "#/$defs/Evaluator"}
    for holder in (schema, *schema["$defs"].values()):
        properties = holder.get("properties", {})
        if "evaluators" in properties:
            properties["evaluators"] = {
                "anyOf": [{"type": "array", "items": items, "minItems": 1}, {"type": "null"}]
            }
        if "evaluator" in properties:
            properties["evaluator"] = {"enum": [*registry.names("evaluators"), None]}


def _put_targets(schema: dict[str, Any], registry: Registry) -> None:
    """Each target takes the keys of its provider, in either spelling."""
    choices = _choices(schema, registry, "providers", "provider")
    for choice in choices:
        definition = schema["$defs"][choice["$ref"].rpartition("/")[2]]
        _add_camel_case(definition)
    known = registry.names("providers")
    other = {
        "type": "object",
        "description": "A provider that this version does not have.",
        "properties": {"name": {"type": "string"}, "provider": {"not": {"enum": known}}},
        "required": ["name", "provider"],
    }
    schema["properties"]["targets"]["items"] = {"anyOf": [*choices, other]}


def _choices(
    schema: dict[str, Any], registry: Registry, kind: Kind, tag: str
) -> list[dict[str, Any]]:
    """References to the options of every registered name, each bound to its own name."""
    choices = []
    for name in registry.names(kind):
        entry = registry.find(kind, name)
        if entry is None:
            continue
        load = registry.evaluator_options if kind == "evaluators" else registry.provider_options
        own = _flat(load(entry))
        schema["$defs"].update(own.pop("$defs"))
        own["properties"] = {**own["properties"], tag: {"const": name}}
        own["description"] = entry.summary
        schema["$defs"][f"{kind[:-1]}_{name}"] = own
        choices.append({"$ref": f"#/$defs/{kind[:-1]}_{name}"})
    return choices


def _add_camel_case(definition: dict[str, Any]) -> None:
    properties = definition["properties"]
    required = set(definition.get("required", []))
    for name, own in list(properties.items()):
        camel = camel_case(name)
        if camel == name:
            continue
        properties[camel] = own
        if name in required:
            required.discard(name)
            either = {"anyOf": [{"required": [name]}, {"required": [camel]}]}
            definition.setdefault("allOf", []).append(either)
    definition["required"] = sorted(required)
    properties["settings"] = {"type": "object", "description": "The same keys, in a block."}
