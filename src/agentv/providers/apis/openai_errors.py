"""What OpenAI, Azure and those who imitate them say when a request fails."""

from typing import Any

from agentv.errors import ProviderError
from agentv.providers.apis.wire import Json, ReplyError

_FILTERED = frozenset(
    [
        *("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"),
        *("invalid_prompt", "bio_policy", "image_content_policy_violation"),
    ]
)
"""The prompt, or what the model made of it, is against somebody's policy."""


def read_openai_error(reply: Json) -> ReplyError | None:
    """`{error: {message, type, code, param}}`, or one of its many simplifications."""
    error = reply.get("error")
    found = error if isinstance(error, dict) else reply
    message = error if isinstance(error, str) else found.get("message") or found.get("detail")
    if not message:
        return None
    inner = found.get("innererror")
    inner = inner if isinstance(inner, dict) else {}
    # A bare status number would only say again what the reply's status says.
    code = next((c for c in (found.get("code"), found.get("type")) if isinstance(c, str) and c), "")
    is_filtered = not _FILTERED.isdisjoint((code, inner.get("code")))
    return ReplyError(
        message=f"{message}{filter_note(inner.get('content_filter_result'))}",
        code=code or None,
        kind="filtered" if is_filtered else None,
        param=found["param"] if isinstance(found.get("param"), str) else None,
    )


def service_failure(said: ReplyError) -> ProviderError:
    """A failure that came as a success: with a status that says all is well."""
    mark = f" [{said.code}]" if said.code else ""
    return ProviderError(f"the service failed{mark}: {said.message}", kind=said.kind or "failed")


def filter_note(results: Any) -> str:
    """` (hate: medium)`: what Azure's filter found; empty if it does not say."""
    found = results.items() if isinstance(results, dict) else ()
    named = [
        f"{name}: {result['severity']}" if result.get("severity") else name
        for name, result in found
        if isinstance(result, dict) and result.get("filtered")
    ]
    return f" ({', '.join(named)})" if named else ""
