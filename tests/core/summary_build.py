"""Plans and rows of runs, as short as a test can say them."""

from agentv.model.result import Verdict
from agentv.model.row_view import ErrorView, EvaluatorView, RowView
from agentv.model.run import RunManifest, SuitePlan, TargetRecord
from agentv.model.score import Usage

SCORES: dict[Verdict, float | None] = {"pass": 1.0, "fail": 0.0, "error": None, "skipped": None}


def plan(
    suites: dict[str, int],
    *,
    min_pass_rate: float = 1.0,
    dry_run: bool = False,
    targets: tuple[str, ...] = ("default",),
) -> RunManifest:
    """A manifest with so many planned trials a suite."""
    return RunManifest(
        run_id="20261121T070801Z-3f9c",
        started="2026-11-21T07:08:01.000Z",
        version="0.1.0",
        python="3.11.7",
        git_commit=None,
        arguments={},
        dry_run=dry_run,
        suites=tuple(
            SuitePlan(
                path=path,
                dataset=path.removesuffix(".yaml"),
                digest="d",
                cases=trials,
                trials=trials,
                threshold=0.8,
                min_pass_rate=min_pass_rate,
            )
            for path, trials in suites.items()
        ),
        targets=tuple(
            TargetRecord(name=name, provider="mock", settings={}, digest="d") for name in targets
        ),
    )


def row(
    eval_id: str,
    verdict: Verdict = "pass",
    *,
    score: float | None = None,
    suite: str = "a.yaml",
    target: str = "default",
    trial: int = 1,
    attempts: int = 1,
    error: tuple[str, str] | None = None,
    evaluators: tuple[EvaluatorView, ...] = (),
    usage: Usage | None = None,
) -> RowView:
    """A row with the score that its verdict makes likely."""
    return RowView(
        eval_id=eval_id,
        dataset=suite.removesuffix(".yaml"),
        suite=suite,
        target=target,
        trial=trial,
        verdict=verdict,
        score=SCORES[verdict] if score is None else score,
        duration_ms=1.0,
        attempts=attempts,
        error=ErrorView(kind=error[0], message=error[1]) if error else None,
        evaluator_results=evaluators,
        usage=usage,
    )


def rows(**verdicts: int) -> list[RowView]:
    """So many rows of each verdict, all of suite `a.yaml`: `rows(passed=8, failed=2)`."""
    names: dict[str, Verdict] = {
        "passed": "pass",
        "failed": "fail",
        "errors": "error",
        "skipped": "skipped",
    }
    return [
        row(f"{name}-{number}", names[name])
        for name, count in verdicts.items()
        for number in range(count)
    ]
