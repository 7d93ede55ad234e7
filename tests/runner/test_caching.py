import asyncio

import pytest

from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.runner.caching import CachingProvider
from agentv.testing import Reply, ScriptedProvider


class Memory(dict[str, ProviderResponse]):
    """A cache that forgets with the process."""

    def put(self, key: str, response: ProviderResponse) -> None:
        self[key] = response


def caching(*replies: Reply) -> tuple[CachingProvider, Memory]:
    cache = Memory()
    return CachingProvider(ScriptedProvider(replies), cache, lambda asked: asked.question), cache


def ask(provider: CachingProvider, question: str = "Why?") -> ProviderResponse:
    return asyncio.run(provider.respond(ProviderRequest(eval_id="one", question=question)))


def test_an_answer_is_asked_for_once_and_says_where_it_comes_from() -> None:
    provider, _ = caching(ProviderResponse(text="Because.", usage=Usage(cost_usd=0.1)))
    first, second = ask(provider), ask(provider)
    assert (first.text, first.cached) == ("Because.", False)
    assert (second.text, second.cached, second.usage) == ("Because.", True, Usage(cost_usd=0.1))


def test_another_question_is_asked() -> None:
    provider, _ = caching("Because.", "So.")
    assert [ask(provider).text, ask(provider, "How?").text] == ["Because.", "So."]


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_answer_is_not_kept(text: str) -> None:
    provider, cache = caching(text, "Because.")
    assert [ask(provider).text, ask(provider).text] == [text, "Because."]
    assert cache["Why?"].text == "Because."


def test_an_error_is_not_kept() -> None:
    provider, cache = caching(ProviderError("down"), "Because.")
    with pytest.raises(ProviderError, match="down"):
        ask(provider)
    assert cache == {}
    assert ask(provider).text == "Because."
