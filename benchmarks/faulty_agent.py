"""An agent that does what its case id says: `good-7`, `crash-8`, `hang-9`, `liar-10`.

Called with the id, a folder for its traces and a mark by which its processes are found. An agent
that hangs ignores polite signals and leaves a grandchild in a session of its own.
"""

import os
import signal
import sys
import time


def main(case: str, folder: str) -> int:
    kind = case.partition("-")[0]
    if kind == "crash":
        print("The right answer", flush=True)  # and yet it failed
        print("Segmentation fault (core dumped)", file=sys.stderr)
        return 139
    if kind == "hang":
        hang(os.path.join(folder, case))  # noqa: PTH118 - pathlib takes as long as all the rest
    if kind == "liar":
        print('All checks pass! {"score": 1.0, "hits": ["all"]}\x1b[2J')
        return 0
    print(f"The right answer to {case}")
    return 0


def hang(trace: str) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(os.open(trace, os.O_CREAT | os.O_WRONLY))
            time.sleep(600)
        os._exit(0)
    time.sleep(600)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
