"""Thousands of agents, of which many crash, hang and lie: is each verdict right, and memory flat?

    python -m benchmarks.faults [--cases 5000] [--workers 32]

Of twenty agents two crash, one hangs and one lies (`faulty_agent.py`). Exits with 1 when a case has
no row, two rows or a wrong verdict, when a process is left over, or when memory grew by more than
`GROWTH_BYTES_A_CASE`.
"""

import argparse
import json
import sys
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory

import psutil

AGENT = Path(__file__).with_name("faulty_agent.py")
VERDICTS = {"good": "pass", "crash": "error", "hang": "error", "liar": "fail"}
TIME_LIMIT_SECONDS = 5
GROWTH_BYTES_A_CASE = 1024
"""Promised: what is kept of a case while its suite runs."""
WARM_SHARE = 0.1
"""Growth is measured from here: until then imports and pools still fill."""
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Of the process that runs the suite, in bytes."""

    warm: int
    peak: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=32)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="agentv-faults-") as name:
        return measure(Path(name), options.cases, options.workers)


def measure(folder: Path, cases: int, workers: int) -> int:
    mark = f"agentv-faults-{uuid.uuid4().hex}"
    ids = [f"{kind_of(number)}-{number}" for number in range(cases)]
    write(folder, ids, mark)
    began = time.perf_counter()
    code, memory = run(folder, workers, cases)
    seconds = time.perf_counter() - began
    left = processes_with(mark)
    rows = [json.loads(line) for line in (folder / "run/results.jsonl").open("rb")]
    wrong = mistakes(ids, rows)
    grown = (memory.peak - memory.warm) / cases
    print(f"{cases} cases, {workers} workers: {seconds:.1f} s, exit code {code}")
    print(f"verdicts     {dict(Counter(row['verdict'] for row in rows))}")
    print(f"grandchildren that hung {len(list((folder / 'traces').iterdir()))}, left over {left}")
    print(f"wrong        {len(wrong)}{': ' + '; '.join(wrong[:5]) if wrong else ''}")
    print(
        f"memory       {memory.warm / 1e6:.1f} MB after {WARM_SHARE:.0%} of the rows, "
        f"peak {memory.peak / 1e6:.1f} MB: {grown:.0f} bytes a case"
    )
    return int(code != 1 or bool(wrong) or left > 0 or grown > GROWTH_BYTES_A_CASE)


def kind_of(number: int) -> str:
    return {3: "crash", 13: "crash", 7: "hang", 17: "liar"}.get(number % 20, "good")


def write(folder: Path, ids: list[str], mark: str) -> None:
    """The suite in JSONL, so that memory need not hold its cases."""
    check = [{"type": "contains", "value": "The right answer"}]
    message = [{"role": "user", "content": "What is right?"}]
    with (folder / "cases.jsonl").open("w") as file:
        for id_ in ids:
            file.write(
                json.dumps({"id": id_, "input_messages": message, "evaluators": check}) + "\n"
            )
    (folder / "faults.eval.yaml").write_text("evalcases: cases.jsonl\n")
    template = f"{sys.executable} -S -E {AGENT} {{EVAL_ID}} traces {mark}"
    target = {"name": "default", "provider": "cli", "command_template": template}
    (folder / "targets.yaml").write_text(json.dumps({"targets": [target]}))
    (folder / "traces").mkdir()


def run(folder: Path, workers: int, cases: int) -> tuple[int, Memory]:
    """Run the suite and watch the memory of its process."""
    options = f"--quiet --out run --max-retries 0 --agent-timeout {TIME_LIMIT_SECONDS}".split()
    command = [sys.executable, "-m", "agentv", "eval", "faults.eval.yaml", *options]
    process = psutil.Popen(
        [*command, "--workers", str(workers)], cwd=folder, stdout=DEVNULL, stderr=DEVNULL
    )
    warm = peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, process.memory_info().rss)
        except psutil.Error:
            break
        if rows_in(folder / "run/results.jsonl") < cases * WARM_SHARE:
            warm = peak
        time.sleep(_PAUSE_SECONDS)
    return process.wait(), Memory(warm=warm, peak=peak)


def rows_in(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def mistakes(ids: list[str], rows: list[dict[str, str]]) -> list[str]:
    """Every case that has not exactly one row with the right verdict."""
    found = [f"{id_} has {count} rows" for id_, count in row_counts(ids, rows) if count != 1]
    for row in rows:
        right = VERDICTS[row["eval_id"].partition("-")[0]]
        if row["verdict"] != right:
            found.append(f"{row['eval_id']} is '{row['verdict']}': {row['error']}")
    return found


def row_counts(ids: list[str], rows: list[dict[str, str]]) -> list[tuple[str, int]]:
    counted = Counter(row["eval_id"] for row in rows)
    return [(id_, counted[id_]) for id_ in ids]


def processes_with(mark: str) -> int:
    found = 0
    for process in psutil.process_iter(["cmdline"]):
        found += mark in " ".join(process.info["cmdline"] or [])
    return found


if __name__ == "__main__":
    sys.exit(main())
