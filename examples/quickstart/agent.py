"""A small support-triage agent: no model, no network, a rule book it really reads.

It reads the ticket and the attached files, finds the queue whose words in the policy fit best,
sets a priority and prints one JSON object. It is simple on purpose: the suite beside it shows
where simple rules stop being enough.
"""

import argparse
import json
import re
from pathlib import Path

URGENT = ("urgent", "asap", "immediately", "down", "outage", "cannot work")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompt", required=True)
    parser.add_argument("--file", action="append", default=[], type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()

    ticket = last_user_turn(options.prompt)
    attached = [path for path in options.file if not path.name.endswith(".instructions.md")]
    policies = [path for path in attached if path.suffix == ".md"]
    evidence = [path for path in attached if path.suffix != ".md"]

    text = "\n".join([ticket, *(path.read_text("utf-8") for path in evidence)]).lower()
    queue = best_queue(text, policies)
    answer = {
        "queue": queue,
        "priority": "high" if any(word in text for word in URGENT) else "normal",
        "order": order_number(text),
        "reply": f"Thank you for writing to us. Our {queue} team has your ticket "
        "and will answer within one working day.",
    }
    options.output.write_text(json.dumps(answer, indent=2), "utf-8")


def last_user_turn(prompt: str) -> str:
    """The newest words of the customer, without attached files."""
    turns = re.split(r"^@\[(?:System|User|Assistant|Tool)\]:\n", prompt, flags=re.MULTILINE)
    without_files = re.sub(r"<file path=.*?</file>", "", turns[-1], flags=re.DOTALL)
    return without_files.strip()


def best_queue(text: str, policies: list[Path]) -> str:
    """The queue whose words appear most often; policies list them as `- queue: word, word`."""
    scores: dict[str, int] = {}
    for path in policies:
        for queue, words in re.findall(r"^- (\w+): (.+)$", path.read_text("utf-8"), re.MULTILINE):
            scores[queue] = sum(text.count(word.strip()) for word in words.split(","))
    best = max(scores, key=lambda queue: scores[queue], default="general")
    return best if scores.get(best) else "general"


def order_number(text: str) -> str | None:
    found = re.search(r"\bord-\d{5}\b", text)
    return found[0].upper() if found else None


if __name__ == "__main__":
    main()
