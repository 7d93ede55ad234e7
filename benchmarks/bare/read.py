"""The bare half of `agentv validate`: only read the file, finding no mistakes."""

import json
import sys
from pathlib import Path

import yaml


def main() -> None:
    for name in sys.argv[1:]:
        path = Path(name)
        if path.suffix == ".jsonl":
            with path.open("rb") as lines:
                cases = [json.loads(line) for line in lines]
        else:
            cases = yaml.load(path.read_bytes(), yaml.CSafeLoader)["evalcases"]
        print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
