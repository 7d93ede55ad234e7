"""Count verdicts, scores and money over the rows of runs, as a script of ten lines would."""

import json
import sys
from pathlib import Path
from statistics import mean

for folder in sys.argv[1:]:
    passed, scores, cost = 0, [], 0.0
    with Path(folder, "results.jsonl").open() as file:
        for line in file:
            row = json.loads(line)
            passed += row["verdict"] == "pass"
            scores.append(row["score"])
            cost += row["usage"]["cost_usd"]
            cost += sum(result["usage"]["cost_usd"] for result in row["evaluator_results"])
    print(folder, passed, mean(scores), cost)
