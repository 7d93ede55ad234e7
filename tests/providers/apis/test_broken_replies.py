"""Replies that are none, from a vendor on loopback: asked again, and named well in the end."""

import gzip

import pytest
from test_against_vendor import KEY, prepared, suite, target

from agentv.errors import ExitCode
from agentv.testing import Project
from vendor import BROKEN_JSON, RESET, TRUNCATED, Fault, Vendor, raw

JSON = b'{"choices": []}'
PAGE = (
    b"<!DOCTYPE html>\r\n<html><head><title>502 Bad\r\n Gateway</title><style>h1 {color: red}"
    b"</style></head><body><h1>Oops</h1></body></html>"
)
OK = "HTTP/1.1 200 OK"
GZIP = f"{OK}\ncontent-type: application/json\ncontent-encoding: gzip"

BROKEN = {
    "reset": (RESET, "no answer: Server disconnected"),
    "truncated": (TRUNCATED, "no answer: Response payload is not completed"),
    "half-the-head": (Fault(kind="raw", raw=b"HTTP/1.1 200 OK\r\ncont"), "no answer: "),
    "too-short": (raw(f"{OK}\ncontent-length: 99", JSON), "no answer: "),
    "cut-chunk": (raw(f"{OK}\ntransfer-encoding: chunked", b"5\r\n{"), "no answer: "),
    "no-last-chunk": (
        raw(f"{OK}\ntransfer-encoding: chunked", b"f\r\n" + JSON + b"\r\n"),
        "no answer: ",
    ),
    "not-gzip": (raw(f"{GZIP}\ncontent-length: {len(JSON)}", JSON), "no answer: "),
    "half-a-gzip": (raw(f"{GZIP}\ncontent-length: 20", gzip.compress(JSON)[:20]), "the reply is"),
    "broken-json": (BROKEN_JSON, "the reply is not JSON: '{"),
    "too-long": (raw(f"{OK}\ncontent-length: 8", JSON), "no answer: Data after"),
    "html": (raw(f"{OK}\ncontent-type: text/html", PAGE), "the reply is a web page: 502 Bad Gat"),
    "empty": (raw(f"{OK}\ncontent-length: 0"), "the reply is empty"),
    "blank": (raw(f"{OK}\ncontent-length: 2", b"\r\n"), "the reply is empty"),
    "another-protocol": (raw("SSH-2.0-OpenSSH"), "no answer: "),
}
"""With how the error begins once there were enough tries."""


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_reply_is_a_failure_of_the_network(fault: str, project: Project) -> None:
    """Two of them are made good by the third try; four are an error that says what came."""
    broken, words = BROKEN[fault]
    outcome, vendor = run(project, {"case-1": [broken] * 2, "case-2": [broken] * 9})
    assert outcome == ExitCode.ERRORS
    rows = {row["eval_id"]: row for row in project.rows()}
    assert rows["c-1"]["verdict"] == "pass"
    assert vendor.tries("case-1") == 3
    assert vendor.tries("case-2") == 4
    error = rows["c-2"]["error"]
    assert error["kind"] == "connection"
    assert error["message"].startswith(f"{vendor.url}: {words}")
    assert KEY not in error["message"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"text/html\ncontent-length: {len(PAGE)}", "502 Bad Gateway"),
        ("text/plain\ncontent-length: 0", "Bad Gateway"),
    ],
    ids=["html", "empty"],
)
def test_a_failure_of_a_proxy_is_told_by_its_title(
    content: str, words: str, project: Project
) -> None:
    page = raw(
        f"HTTP/1.1 502 Bad Gateway\ncontent-type: {content}", PAGE if "html" in content else b""
    )
    outcome, vendor = run(project, {"case-1": [page], "case-2": [page] * 9})
    assert outcome == ExitCode.ERRORS
    rows = {row["eval_id"]: row for row in project.rows()}
    assert rows["c-1"]["verdict"] == "pass"
    assert vendor.tries("case-2") == 4
    error = rows["c-2"]["error"]
    assert error["kind"] == "http_502"
    assert error["message"] == f"{vendor.url} answered 502: {words}"


def run(project: Project, script: dict[str, list[Fault]]) -> tuple[int, Vendor]:
    with Vendor(key=KEY, script=script) as vendor:
        llm = target("openai", vendor, retry_initial_delay_ms=1)
        prepared(project, llm, suite(cases=len(script)))
        return project.run("eval", "e.yaml", "--workers", "2").code, vendor
