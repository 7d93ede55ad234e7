"""The bare half of the `cli` target: N `echo` commands by a pool of W threads."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def main() -> None:
    commands, workers = map(int, sys.argv[1:])
    with ThreadPoolExecutor(workers) as pool:
        answers = list(pool.map(echo, range(commands)))
    print(f"{sum('42' in answer for answer in answers)} passed")


def echo(number: int) -> str:
    line = f"echo 'What is {number} plus 42, and what is left when {number} is taken away?'"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
