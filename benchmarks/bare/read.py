"""The bare half of `agentv validate`: only read the file, finding no mistakes.

The garbage collector is left as Python sets it, as a plain script would. It makes two thirds of the
time that YAML takes, so the ratio there says less than the seconds.
"""

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
