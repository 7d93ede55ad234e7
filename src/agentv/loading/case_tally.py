"""What a run must know of a suite's cases before it starts, without holding them."""

from collections import Counter

import msgspec

from agentv.loading.evaluator_options import EvaluatorParser, judge_named_by
from agentv.model.case import EvalCase


class CaseTally(msgspec.Struct):
    """Counts over the cases of one suite."""

    total: int = 0
    """Cases in the file, selected or not."""
    unpinned: int = 0
    """Selected cases that name no target themselves."""
    targets: Counter[str] = msgspec.field(default_factory=Counter)
    """The targets that selected cases name themselves, each with the number of such cases."""
    judges: dict[str, None] = {}
    """The targets that evaluators of selected cases name themselves."""
    judged: bool = False
    """Whether an evaluator of a selected case leaves its judge to the target."""

    def add(self, case: EvalCase, evaluators: EvaluatorParser) -> None:
        """Count a selected case."""
        if case.target is None:
            self.unpinned += 1
        else:
            self.targets[case.target] += 1
        for options in case.evaluators:
            if not evaluators.needs_judge(options):
                continue
            if judge := judge_named_by(options):
                self.judges[judge] = None
            else:
                self.judged = True
