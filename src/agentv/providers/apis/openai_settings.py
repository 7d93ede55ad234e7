"""What targets for OpenAI's models may set, whoever serves them."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta

from agentv.model.options import FileFinder, OptionProblem
from agentv.providers.apis.options import ApiOptions, Effort
from agentv.providers.apis.plain_schema import plain_schema
from agentv.providers.apis.wire import Json

_UNKNOWN_TO_RESPONSES = ("stop", "seed")


class OpenAiSettings(ApiOptions, frozen=True, kw_only=True):
    """Keys that `openai` and `azure` targets share."""

    api: Literal["chat", "responses"] = "chat"
    """Chat completions, which everybody speaks, or OpenAI's newer Responses API."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """Left out, as `top_p` is, for models that refuse it."""
    reasoning_effort: Effort | None = None
    response_format: Literal["json"] | dict[str, Any] | None = None
    """`json` for any JSON object, or what the API documents for chat completions."""
    structured_output: bool | None = None
    """Hold a judge's reply to its JSON Schema; whether the vendor itself serves, when unset."""

    def answer_format(self, schema: Json | None, *, is_held: bool) -> Json | None:
        """The `response_format` of chat completions for one request.

        Args:
            schema: What a judge's reply must be like; a candidate's request has none.
            is_held: Whether the API is trusted with a schema.
        """
        own = {"type": "json_object"} if self.response_format == "json" else self.response_format
        if schema is None:
            return own
        if is_held:
            strict = {"name": "reply", "schema": plain_schema(schema), "strict": True}
            return {"type": "json_schema", "json_schema": strict}
        # The author's schema is for answers: it would keep a judge from giving a verdict.
        return own if own and own.get("type") == "json_object" else None

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """Settings that the chosen API does not have."""
        yield from super().problems(files)
        for name in _UNKNOWN_TO_RESPONSES if self.api == "responses" else ():
            if getattr(self, name) is not None:
                yield OptionProblem(
                    path=(name,),
                    message=f"the Responses API has no '{name}'",
                    hint="take it out, or write `api: chat`",
                )
