"""Another target judges the answer."""

from collections.abc import Iterator
from typing import Any

import msgspec

from agentv.core.judge_prompt import SYSTEM_PROMPT, VERDICT_SCHEMA, default_prompt, render_template
from agentv.core.judge_reply import read_verdict
from agentv.core.verdict_json import NoVerdict
from agentv.errors import ProviderError, SetupError
from agentv.evaluators.finding import quoted
from agentv.evaluators.judge_template import TemplateError, read_template, template_problems
from agentv.model.options import EvaluatorOptions, FileFinder, Name, OptionProblem
from agentv.model.request import ProviderRequest
from agentv.model.score import EvaluationContext, Score
from agentv.protocols import EvaluatorBuild


class LlmJudgeOptions(EvaluatorOptions, frozen=True, kw_only=True):
    """Settings of `llm_judge`."""

    target: Name | None = None
    """The target that judges; the `judge_target` of the target under test when unset."""
    prompt: str | None = None
    """Instead of the default template: a file, or the text itself, with `{{ name }}` variables."""
    prompt_path: str | None = None
    """Like `prompt`, but always a file."""
    prompt_path_camel: str | None = msgspec.field(default=None, name="promptPath")
    """The older spelling of `prompt_path`."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """A prompt given twice, a file that cannot be read, a variable that does not exist."""
        given = self._given()
        for key in list(given)[1:]:
            message = f"`{key}` is given besides `{next(iter(given))}`"
            yield OptionProblem(path=(key,), message=message, hint="keep one", code="given-twice")
        for key in given:
            try:
                template = self._read(key, files)
            except TemplateError as error:
                yield error.problem
            else:
                yield from template_problems(template, (key,))

    def template(self, files: FileFinder) -> str | None:
        """The author's template, or `None` for the default one.

        Raises:
            AuthorError: A file that was there when the suite was loaded cannot be read now.
        """
        given = self._given()
        return self._read(next(iter(given)), files) if given else None

    def shaping(self, files: FileFinder) -> Any:
        """The template's text, wherever it stands; which target judges is told apart from this."""
        return {"type": self.type, "template": self.template(files)}

    def _given(self) -> dict[str, str]:
        keys = {
            "prompt": self.prompt,
            "prompt_path": self.prompt_path,
            "promptPath": self.prompt_path_camel,
        }
        return {key: value for key, value in keys.items() if value is not None}

    def _read(self, key: str, files: FileFinder) -> str:
        return read_template(self._given()[key], files, (key,), is_path=key != "prompt")


class LlmJudge:
    """Asks a target for a score with reasons.

    A judge that does not answer could not run; one that answers without a valid verdict gives 0,
    and the row says why.
    """

    def __init__(self, options: LlmJudgeOptions, build: EvaluatorBuild) -> None:
        if build.judge is None:
            raise SetupError(f"The evaluator '{options.label}' has no target to ask.")
        self._judge = build.judge
        self._target = options.target or build.judge_target
        self._template = options.template(build.files)

    async def evaluate(self, context: EvaluationContext) -> Score:
        """What the judge says."""
        prompt = self._prompt(context)
        asked: dict[str, Any] = {
            "userPrompt": prompt,
            "systemPrompt": SYSTEM_PROMPT,
            "target": self._target,
        }
        request = ProviderRequest(
            eval_id=context.eval_id,
            question=prompt,
            system_prompt=SYSTEM_PROMPT,
            response_schema=VERDICT_SCHEMA,
            trial=context.trial,
        )
        name = f"judge '{self._target}'" if self._target else "judge"
        try:
            response = await self._judge.respond(request)
        except ProviderError as error:
            message = f"{name} did not answer: {error}"
            return Score(
                value=0.0,
                error=message,
                error_kind=error.kind,
                provider_request=asked,
                usage=error.usage,
            )
        if response.dry_run:
            return Score(value=0.0, error=f"{name} is a dry run", provider_request=asked)
        score = _score(response.text, context.candidate_answer)
        return msgspec.structs.replace(
            score, provider_request=asked, usage=response.usage, cached=response.cached
        )

    def _prompt(self, context: EvaluationContext) -> str:
        if self._template is None:
            return default_prompt(context)
        return render_template(self._template, context)


def _score(reply: str, candidate_answer: str) -> Score:
    verdict = read_verdict(reply, candidate_answer)
    if not isinstance(verdict, NoVerdict):
        return verdict
    begins = f"; it begins {quoted(reply.strip())}" if reply.strip() else ""
    return Score(value=0.0, parse_error=f"the judge's reply {verdict.reason}{begins}")
