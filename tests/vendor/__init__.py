"""A vendor of language models on 127.0.0.1: a real server for tests, with faults on demand.

It speaks OpenAI's chat completions and responses, Azure's, Anthropic's messages and Gemini's
`generateContent`, and remembers what it was asked.

    with Vendor(key="k", script={"case-7": [refused("1"), RESET]}) as vendor:
        ...  # case-7 is refused, then its connection breaks, then it is answered
        assert vendor.tries("case-7") == 3
"""

from vendor.faults import (
    BROKEN_JSON,
    CUT_OFF,
    HANG,
    RESET,
    SLOW_BODY,
    TRUNCATED,
    Chances,
    Fault,
    failure,
    raw,
    refused,
)
from vendor.server import Asked, Vendor

__all__ = [
    "BROKEN_JSON",
    "CUT_OFF",
    "HANG",
    "RESET",
    "SLOW_BODY",
    "TRUNCATED",
    "Asked",
    "Chances",
    "Fault",
    "Vendor",
    "failure",
    "raw",
    "refused",
]
