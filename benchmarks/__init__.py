"""Speed and memory, measured on whole processes and held against what is promised.

`python -m benchmarks` prints a table; `--json` prints it for machines.
"""
