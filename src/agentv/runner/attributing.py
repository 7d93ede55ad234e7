"""Requests that say on whose behalf they are made."""

import msgspec

from agentv.model.prior import Prior
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.trial import Trial
from agentv.protocols import Provider
from agentv.transport.cassettes.asker import (
    TrialName,
    ask_for,
    current_asker,
    speak_as_candidate,
    speak_as_judge,
)


def attribute(trial: Trial, prior: Prior | None) -> None:
    """What this task asks from here on is recorded as a trial's, and found again as such."""
    name = TrialName(
        dataset=trial.dataset, eval_id=trial.case.id, target=trial.target, number=trial.number
    )
    verdicts = prior.verdicts if prior else ()
    asked = (verdict.evaluator_provider_request or {} for verdict in verdicts)
    known = frozenset(str(request.get("userPrompt")) for request in asked)
    ask_for(name, is_anew=prior is None, known=known)


class AttributedProvider:
    """A provider that says for whom it asks.

    Args:
        provider: The one that is asked.
        judges: Whether it is asked as a judge.
    """

    def __init__(self, provider: Provider, *, judges: bool) -> None:
        self._provider = provider
        self._judges = judges

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Ask, in the name of the trial that this task runs."""
        if self._judges:
            speak_as_judge(request.question)
        else:
            speak_as_candidate()
        response = await self._provider.respond(request)
        asker = current_asker()
        if not asker.moves:
            return response
        text, trace = asker.moved(response.text), asker.moved(response.trace)
        return msgspec.structs.replace(response, text=text, trace=trace)
