"""The fakes that we hand to users."""

import asyncio
import json

import pytest

from agentv.errors import ExitCode, ProviderError, ProviderTimeout
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.testing import Outcome, Project, ScriptedProvider

SUITE = """\
evalcases:
  - id: greeting
    input_messages: [{role: user, content: Say hello.}]
    evaluators: [{type: contains, value: Hello}]
"""
TARGETS = "targets: [{name: default, provider: mock, response: '%s'}]\n"


def asked(provider: ScriptedProvider, *ids: str) -> list[ProviderResponse]:
    async def story() -> list[ProviderResponse]:
        return [await provider.respond(ProviderRequest(eval_id=id_, question="?")) for id_ in ids]

    return asyncio.run(story())


class TestScriptedProvider:
    def test_replies_by_case(self) -> None:
        provider = ScriptedProvider({"a": "A", "b": ProviderResponse(text="B")})

        assert [response.text for response in asked(provider, "b", "a", "b")] == ["B", "A", "B"]

    def test_replies_in_order(self) -> None:
        provider = ScriptedProvider(["first", "second"])

        assert [response.text for response in asked(provider, "x", "x")] == ["first", "second"]

    def test_replies_made_up_on_the_spot(self) -> None:
        provider = ScriptedProvider(lambda request: request.eval_id.upper())

        assert [response.text for response in asked(provider, "a", "b")] == ["A", "B"]

    def test_it_remembers_what_it_was_asked(self) -> None:
        provider = ScriptedProvider(["x", "y"])
        asked(provider, "a", "b")

        assert [request.eval_id for request in provider.requests] == ["a", "b"]

    def test_an_exception_is_raised(self) -> None:
        with pytest.raises(ProviderTimeout, match="slow"):
            asked(ScriptedProvider([ProviderTimeout("slow")]), "a")

    @pytest.mark.parametrize(
        "provider", [ScriptedProvider({}), ScriptedProvider([])], ids=["mapping", "list"]
    )
    def test_a_script_that_has_no_reply_says_so(self, provider: ScriptedProvider) -> None:
        with pytest.raises(ProviderError, match="the script has no reply for 'a'") as caught:
            asked(provider, "a")
        assert caught.value.kind == "script"


class TestProject:
    def test_a_story(self, project: Project) -> None:
        project.write({"evals/a.eval.yaml": SUITE, "targets.yaml": TARGETS % "Hello!"})
        outcome = project.run("eval", "evals")

        assert outcome.code == ExitCode.OK
        assert [row["eval_id"] for row in project.rows()] == ["greeting"]

    def test_rows_are_those_of_the_newest_run(self, project: Project) -> None:
        """Even when several begin within a second."""
        project.write({"a.eval.yaml": SUITE})
        for answer in ("one", "two", "three", "four", "five"):
            project.write({"targets.yaml": TARGETS % answer})
            project.run("eval", "a.eval.yaml")
            [row] = project.rows()
            assert row["candidate_answer"] == answer

    def test_rows_of_a_named_run(self, project: Project) -> None:
        project.write({"a.eval.yaml": SUITE, "targets.yaml": TARGETS % "Hello!"})
        project.run("eval", "a.eval.yaml", "--out", "runs/first")

        assert len(project.rows("runs/first")) == 1

    def test_a_row_may_hold_any_line_separator(self, project: Project) -> None:
        project.write({"a.eval.yaml": SUITE, "targets.yaml": TARGETS % "Hello\u2028\u0085"})
        project.run("eval", "a.eval.yaml")
        [row] = project.rows()

        assert row["candidate_answer"] == "Hello\u2028\u0085"

    def test_files_may_be_bytes(self, project: Project) -> None:
        project.write({"deep/er/x.bin": b"\xff\x00"})

        assert (project.folder / "deep/er/x.bin").read_bytes() == b"\xff\x00"


def test_an_outcome_reads_its_json() -> None:
    assert Outcome(code=0, out='{"a": 1}\n', err="").json == {"a": 1}
    with pytest.raises(json.JSONDecodeError):
        _ = Outcome(code=0, out='{"a": 1}\nand more', err="").json
