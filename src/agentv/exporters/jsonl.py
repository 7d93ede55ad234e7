"""`.jsonl`: the rows as they are, one a line."""

from collections.abc import Iterable
from typing import BinaryIO

from agentv.core.json_text import to_json
from agentv.exporters.base import Row


def write_jsonl(rows: Iterable[Row], file: BinaryIO) -> None:
    """Write one JSON object a line."""
    for row in rows:
        file.write(to_json(row) + b"\n")
