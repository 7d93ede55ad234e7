"""Tokens and money in the summary; the unknown is said."""

import pytest

from agentv import evaluate
from agentv.cli.summary import report_json
from agentv.cli.usage_lines import usage_lines
from agentv.model.request import ProviderResponse
from agentv.model.score import EvaluationContext, Score, Usage
from agentv.model.summary import RunSummary
from agentv.testing import Project, ScriptedProvider

KNOWN = Usage(
    input_tokens=12_345, cached_tokens=1_000, output_tokens=2_345, reasoning_tokens=300, cost_usd=1
)


def run(project: Project, *usages: Usage | None, judged: Usage | None = None) -> RunSummary:
    def judge(context: EvaluationContext) -> Score:
        return Score(value=1.0, usage=judged)

    cases = [
        {"id": f"c{number}", "input_messages": [{"role": "user", "content": "Why?"}]}
        for number in range(len(usages))
    ]
    replies = [ProviderResponse(text="So.", usage=usage) for usage in usages]
    done = evaluate(cases, target=ScriptedProvider(replies), evaluators=[judge], cwd=project.folder)
    assert report_json(done.report)["cost_usd"]["total"] == done.summary.cost_usd.total
    return done.summary


@pytest.mark.parametrize(
    ("usages", "judged", "lines"),
    [
        pytest.param([None, None], None, [], id="nothing known"),
        pytest.param([Usage()], None, [], id="nothing told"),
        pytest.param(
            [KNOWN],
            None,
            [
                "  tokens      12,345 in (1,000 cached), 2,345 out (300 reasoning)",
                "  cost        $1.00",
            ],
            id="all known",
        ),
        pytest.param(
            [KNOWN, None],
            None,
            [
                "  tokens      12,345 in (1,000 cached), 2,345 out (300 reasoning)"
                " (of 1 of 2 calls; 1 unknown)",
                "  cost        $1.00 (of 1 of 2 calls; 1 unknown)",
            ],
            id="half known",
        ),
        pytest.param(
            [Usage(input_tokens=5, output_tokens=1)],
            None,
            ["  tokens      5 in, 1 out", "  cost        unknown"],
            id="no price",
        ),
        pytest.param(
            [Usage(output_tokens=1)],
            None,
            [
                "  tokens      unknown in, 1 out (of 0 of 1 call; 1 unknown)",
                "  cost        unknown",
            ],
            id="one side",
        ),
        pytest.param(
            [None],
            Usage(input_tokens=3_456, output_tokens=234, cost_usd=0.02),
            [
                "  tokens      unknown; judges 3,456 in, 234 out",
                "  cost        $0.02, of which judges $0.02 (of 1 of 2 calls; 1 unknown)",
            ],
            id="judges alone",
        ),
    ],
)
def test_what_is_said(
    project: Project, usages: list[Usage | None], judged: Usage | None, lines: list[str]
) -> None:
    assert list(usage_lines(run(project, *usages, judged=judged))) == lines
