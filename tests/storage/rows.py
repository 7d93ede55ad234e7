"""Rows to write and read back."""

from agentv.model.result import ErrorInfo, EvaluatorResult, RawRequest, TrialResult


def row(eval_id: str, *, score: float | None = 1.0, answer: str = "42") -> TrialResult:
    """A row as the runner makes it; without a score it is an error."""
    judged = score is not None
    result = EvaluatorResult(
        name="judge",
        type="llm_judge",
        score=score or 0.0,
        weight=1.0,
        hits=(),
        misses=(),
        duration_ms=3.0,
    )
    return TrialResult(
        eval_id=eval_id,
        dataset="triage",
        suite="evals/triage.yaml",
        conversation_id=None,
        target="default",
        trial=1,
        attempts=1,
        timestamp="2026-11-21T07:08:01.000Z",
        duration_ms=12.5,
        verdict="pass" if judged else "error",
        score=score,
        hits=(),
        misses=(),
        reasoning=None,
        candidate_answer=answer if judged else None,
        reference_answer="forty-two",
        raw_request=RawRequest(question="What is six by seven?", guidelines="", guideline_paths=()),
        evaluator_results=(result,) if judged else (),
        usage=None,
        trace=None,
        error=None if judged else ErrorInfo(kind="timeout", message="no answer", detail="late"),
        digest="d1",
    )
