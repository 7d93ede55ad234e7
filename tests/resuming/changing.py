"""A finished run over a command, a judge and a script, each of which notes that it was asked."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentv.testing import Outcome, Project
from story import case, command, contains, suite, targets

IDS = ("one", "two", "three")
CODE = {"type": "code", "script": "sh ../score.sh"}
JUDGE = {"type": "llm_judge", "prompt": "judge.md"}
PROMPT = "Is it right? {{question}} {{candidate_answer}} {{expected_outcome}}"
SCORE = "echo code >> ../asked; echo '{\"score\": 1}'\n"
TARGET = "echo target {EVAL_ID} >> asked; echo Here is {EVAL_ID}."
VERDICT = "echo judge {EVAL_ID} >> asked; echo '{\"score\": 1}'"


@dataclass(frozen=True)
class Changing:
    """A project that is changed after its first run."""

    project: Project

    def write(
        self,
        *cases: Any,
        evaluators: tuple[Any, ...] = (JUDGE, CODE, contains("Here")),
        at: str = "evals/a.eval.yaml",
        threshold: float = 0.5,
        model: str = "",
        **more: Any,
    ) -> None:
        """The suite and the targets, as they are now."""
        execution = {"evaluators": list(evaluators), "threshold": threshold}
        self.project.write(
            {
                at: suite(*(cases or map(asking, IDS)), execution=execution),
                "targets.yaml": targets(
                    command(TARGET + model, judge_target="judge", **more),
                    command(VERDICT, name="judge"),
                ),
            }
        )

    def files(self, **texts: str) -> None:
        self.project.write({name.replace("_", "."): text for name, text in texts.items()})

    def begin(self, *more: str) -> Outcome:
        """The first run, whole."""
        self.files(judge_md=PROMPT, score_sh=SCORE, asked="")
        self.write()
        outcome = self.project.run("eval", "evals", "--out", "run", "--json", *more)
        assert self.work() == Counter(target=3, judge=3, code=3), outcome.err
        return outcome

    def resume(self, *more: str, paths: tuple[str, ...] = ("evals",)) -> "Resumed":
        """Go on with it."""
        self.files(asked="")
        outcome = self.project.run("eval", *paths, "--resume", "run", "--json", *more)
        return Resumed(outcome=outcome, work=self.work())

    def work(self) -> "Counter[str]":
        """How often each was asked since `begin` or `resume`."""
        lines = (self.project.folder / "asked").read_text().splitlines()
        return Counter(line.split()[0] for line in lines)

    @property
    def run(self) -> Path:
        return self.project.folder / "run"

    def rows(self) -> list[dict[str, Any]]:
        return self.project.rows("run")

    def rewrite_rows(self, change: Any) -> None:
        """Change every row as it lies there."""
        rows = self.rows()
        for row in rows:
            change(row)
        (self.run / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """What was announced, and what was done."""

    outcome: Outcome
    work: "Counter[str]"

    @property
    def plan(self) -> tuple[int, int, int]:
        """Kept, judged, asked."""
        said = self.outcome.json["resumed"]
        return said["kept"], said["judged"], said["asked"]

    @property
    def why(self) -> dict[str, list[str]]:
        """The reasons, each with the first cases."""
        return {one["why"]: one["examples"] for one in self.outcome.json["resumed"]["reasons"]}


def asking(id_: str, **more: Any) -> Any:
    return case(id_, question=f"What is {id_}?", **more)
