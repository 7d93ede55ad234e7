"""An agent that judges another's answer."""

import json

from agent_vendor import AgentVendor, Conversation, Say, answer
from agents.real import RealAgent
from agents.stage import Stage
from agents.stand_in import stand_in
from agentv.errors import ExitCode
from story import case, mock

JUDGE = {"type": "llm_judge", "name": "judge"}
VERDICT = {"score": 0.9, "hits": ["It says four"], "misses": [], "reasoning": "Right."}


def test_it_is_told_the_contract_and_its_verdict_is_read(stage: Stage, agent: RealAgent) -> None:
    """The judge's instructions stand in the document above the query; it may talk around JSON."""

    def judge(conversation: Conversation) -> Say:
        return Say(text=f"I looked at it.\n```json\n{json.dumps(VERDICT)}\n```")

    with AgentVendor(judge) as vendor:
        strict = agent.target(vendor.url, stage.home) | {"name": "strict"}
        candidate = mock("It is 4.", judge_target="strict")
        played = stage.play(
            candidate, case("sum", JUDGE, question="What is 2 + 2?"), others=[strict]
        )
        document = vendor.asked[0].conversation.document

    row = played.row
    assert (played.outcome.code, row["verdict"], row["score"]) == (ExitCode.OK, "pass", 0.9), row
    assert (row["hits"], row["reasoning"]) == (["It says four"], "Right.")
    [judged] = row["evaluator_results"]
    assert judged["evaluator_provider_request"]["target"] == "strict"
    assert judged["usage"]["input_tokens"] == 101
    system, _, query = document.partition("[[ ## user_query ## ]]")
    assert system.startswith("[[ ## system_instructions ## ]]\n\n")
    assert judged["evaluator_provider_request"]["systemPrompt"].strip() in system
    for word in ("score", "hits", "misses", "reasoning", "JSON"):
        assert word in system
    assert "[[ ## candidate_answer ## ]]\n" in query
    assert "\nIt is 4.\n" in query


def test_one_that_chatters_gives_nothing(stage: Stage, agent: RealAgent) -> None:
    with AgentVendor(answer("It looks fine to me.")) as vendor:
        strict = agent.target(vendor.url, stage.home) | {"name": "strict"}
        played = stage.play(mock("4", judge_target="strict"), case("sum", JUDGE), others=[strict])

    [judged] = played.row["evaluator_results"]
    assert (played.row["verdict"], judged["score"]) == ("fail", 0.0)
    assert judged["parse_error"]


def test_one_that_fails_has_not_judged(stage: Stage) -> None:
    strict = stand_in("codex", stage.home, "fail('I am tired')") | {"name": "strict"}
    played = stage.play(mock("4", judge_target="strict"), case("sum", JUDGE), others=[strict])

    assert played.row["verdict"] == "error"
    assert "codex failed: I am tired" in played.row["error"]["message"]


def test_an_agent_may_judge_itself(stage: Stage, agent: RealAgent) -> None:
    """One target is both: the candidate's folder and the judge's are apart."""

    def both(conversation: Conversation) -> Say:
        judging = "[[ ## system_instructions ## ]]" in conversation.document
        return Say(text=json.dumps(VERDICT) if judging else "It is 4.")

    with AgentVendor(both) as vendor:
        target = agent.target(vendor.url, stage.home, judge_target="default")
        played = stage.play(target, case("sum", JUDGE))

    assert (played.row["verdict"], played.row["candidate_answer"]) == ("pass", "It is 4.")
    assert len(stage.logs(agent.provider)) == 2
