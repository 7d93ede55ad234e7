"""`--budget-usd`: a run that its budget cut short cannot be mistaken for a complete one."""

import json

import pytest

from agentv import evaluate
from agentv.core.money import dollars
from agentv.errors import AuthorError, ExitCode
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.model.score import Usage
from agentv.testing import Project, ScriptedProvider
from vendor import CUT_OFF, RESET, Chances, Vendor, refused


def dime(request: ProviderRequest) -> ProviderResponse:
    return ProviderResponse(text="All is well.", usage=Usage(cost_usd=0.1))


def cases(count: int) -> list[dict[str, object]]:
    return [
        {"id": f"case-{number}", "input_messages": [{"role": "user", "content": "How?"}]}
        for number in range(count)
    ]


def asking(count: int) -> list[dict[str, object]]:
    """Cases that the vendor tells apart."""
    return [
        {"id": f"c{number}", "input_messages": [{"role": "user", "content": f"case-{number}?"}]}
        for number in range(count)
    ]


WELL = [{"type": "contains", "value": "well"}]


@pytest.mark.parametrize("workers", [1, 4])
def test_no_trial_is_started_beyond_it(project: Project, workers: int) -> None:
    """It is overshot by what was in flight at most, and a gate that would hold does not."""
    run = evaluate(
        cases(50),
        target=ScriptedProvider(dime),
        evaluators=WELL,
        workers=workers,
        min_pass_rate=0.0,
        budget_usd=1.0,
        cwd=project.folder,
    )
    assert 10 <= run.summary.counts.recorded < 10 + workers
    assert (run.exit_code, run.passed) == (ExitCode.ERRORS, False)
    missing = 50 - run.summary.counts.recorded
    assert run.reason == (
        f"the run is incomplete: budget of $1.00 reached, {missing} of 50 trials have no row"
    )


def test_a_budget_that_suffices_changes_nothing(project: Project) -> None:
    run = evaluate(cases(3), target=dime, evaluators=WELL, budget_usd=0.3, cwd=project.folder)
    assert run.passed
    assert run.summary.budget is not None
    assert run.summary.budget.is_reached


@pytest.mark.parametrize("budget", [0.0, -1.0, float("nan")])
def test_a_budget_is_an_amount(project: Project, budget: float) -> None:
    with pytest.raises(AuthorError, match=r"A budget is an amount above \$0"):
        evaluate(cases(1), target=dime, evaluators=WELL, budget_usd=budget, cwd=project.folder)


TARGETS = """\
targets:
  - name: default
    provider: openai
    base_url: {url}/v1
    api_key: vendor-key
    model: {model}
    judge_target: judge
  - name: judge
    provider: anthropic
    base_url: {url}
    api_key: vendor-key
    model: claude-sonnet-4-5
"""


def judged(project: Project, url: str, model: str = "gpt-4o") -> Project:
    """A suite of twenty cases that a judge judges."""
    each = [{"outcome": "Answers.", **case} for case in cases(20)]
    lines = "".join(json.dumps(case) + "\n" for case in each)
    return project.write(
        {
            "a.eval.yaml": "execution: {min_pass_rate: 0}\nevalcases: cases.jsonl\n",
            "cases.jsonl": lines,
            "targets.yaml": TARGETS.format(url=url, model=model),
        }
    )


def test_judges_are_paid_from_it_and_show_says_the_same_later(project: Project) -> None:
    with Vendor() as vendor:
        judged(project, vendor.url)
        first = project.run("eval", "a.eval.yaml", "--eval-id", "case-0", "--json", "-q").json
        each = first["cost_usd"]["total"]
        assert 0 < first["judge_usage"]["cost_usd"]["total"] < each
        asked_before = len(vendor.asked)
        budget = str(each * 4.5)
        outcome = project.run("eval", "a.eval.yaml", "--budget-usd", budget)
        assert len(vendor.asked) - asked_before == 2 * 5
    assert outcome.code == ExitCode.ERRORS
    assert "reached, 15 of 20 trials have no row (exit 3)" in outcome.out
    assert "spent): no further trial is started" in outcome.err
    spent = next(line for line in outcome.out.splitlines() if line.startswith("  budget"))
    assert spent == f"  budget      {dollars(each * 5)} spent of {dollars(each * 4.5)}"
    shown = project.run("show")
    assert shown.code == ExitCode.ERRORS
    assert spent in shown.out.splitlines()
    assert shown.out.splitlines()[-1] == outcome.out.splitlines()[-1]
    told = project.run("show", "--json").json["budget"]
    assert told["is_reached"]
    assert told["limit_usd"] == pytest.approx(each * 4.5)


def test_a_cost_that_nobody_knows_is_warned_of(project: Project) -> None:
    with Vendor() as vendor:
        outcome = judged(project, vendor.url, model="mine").run(
            "eval", "a.eval.yaml", "--budget-usd", "5", "--workers", "4"
        )
    assert outcome.code == ExitCode.OK
    warning = "the cost of target 'default' is unknown, so the budget cannot see it"
    assert outcome.err.count(warning) == 1
    assert "calls; 20 unknown)" in outcome.out
    assert "spent of $5.00; the cost of 20 calls is unknown\n" in outcome.out


@pytest.mark.parametrize("batching", [False, True])
def test_it_is_overshot_by_what_was_in_flight_and_not_more(
    project: Project, batching: bool
) -> None:
    """With many workers, judges, retries and answers that are paid for and none; to the cent."""
    workers, dollars_a_call = 50, 18.0  # 11 tokens read, 7 written, a dollar each
    faults = ((0.1, CUT_OFF), (0.1, refused("0")), (0.1, RESET))
    prices = "price_per_million_input: 1000000, price_per_million_output: 1000000"
    with Vendor(latency=0.01, chances=Chances(faults=faults)) as vendor:
        base = (
            f"base_url: {vendor.url}/v1, api_key: vendor-key, retry_initial_delay_ms: 1, {prices}"
        )
        batch = ", provider_batching: true" if batching else ""
        own = f"provider: openai, {base}"
        project.write(
            {
                "a.eval.yaml": "evaluator: llm_judge\nevalcases: cases.jsonl\n",
                "cases.jsonl": "".join(
                    json.dumps({**case, "outcome": "Answers."}) + "\n" for case in asking(600)
                ),
                "targets.yaml": "targets:\n"
                f"  - {{name: default, model: m, judge_target: judge{batch}, {own}}}\n"
                f"  - {{name: judge, model: j, {own}}}\n",
            }
        )
        limit = 60 * dollars_a_call
        outcome = project.run(
            *("eval", "a.eval.yaml", "--budget-usd", str(limit), "--workers", str(workers)),
            *("--json", "--export", "rows.jsonl"),
        )
    paid = [asked for asked in vendor.asked if asked.fault in (None, CUT_OFF)]
    bill = len(paid) * dollars_a_call
    assert outcome.code == ExitCode.ERRORS
    assert outcome.json["cost_usd"]["total"] == bill == outcome.json["budget"]["spent_usd"]
    assert limit <= bill <= limit + 2 * workers * dollars_a_call
    assert "the run is incomplete: budget of $1,080.00 reached" in outcome.json["gate"]["reason"]
    rows = project.rows()
    assert 600 - len(rows) == outcome.json["counts"]["missing"] > 0
    assert "cut_off" in {row["error"]["kind"] for row in rows if row["error"]}
    assert (project.folder / "rows.jsonl").read_text("utf-8").count("\n") == len(rows)
    assert ("is sent whole, whatever the budget" in outcome.err) == batching


def test_it_must_be_more_than_nothing(project: Project) -> None:
    for amount in ("0", "-1", "nan"):
        outcome = project.run("eval", "a.eval.yaml", "--budget-usd", amount)
        assert outcome.code == ExitCode.USAGE
