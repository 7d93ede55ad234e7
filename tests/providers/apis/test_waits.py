"""What a vendor on loopback asks us to wait, in every form, and how long we do: whole runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import formatdate
from math import ceil
from statistics import median

import pytest
from test_against_vendor import KEY, prepared, suite, target

from agentv.errors import ExitCode
from agentv.testing import Project
from vendor import Fault, Vendor, failure, refused

RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure"
OVERSHOOT_SECONDS = 0.1
"""Promised: in the middle of several, as this machine may be busy with other tests."""
BUSY_SECONDS = 0.5


class Until:
    """A refusal that names a moment, some whole second from 0.2 to 1.2 seconds ahead.

    Args:
        status: Of the reply.
        headers: From that moment, by the service's clock, to what the reply says of it.
        ahead: Seconds by which the service's clock is fast.
    """

    def __init__(
        self, status: int, headers: Callable[[float], Mapping[str, str]], ahead: float = 0
    ) -> None:
        self.moment = 0.0
        """By our clock; known once the refusal is sent."""
        self.status = status
        self._headers = headers
        self._ahead = ahead

    def fault(self) -> Fault:
        return Fault(kind="status", status=self.status, headers_at=self._headers_at)

    def _headers_at(self, now: float) -> Mapping[str, str]:
        its_moment = ceil(now + self._ahead + 0.2)
        self.moment = its_moment - self._ahead
        return {"date": http_date(now + self._ahead), **self._headers(its_moment)}


def http_date(moment: float) -> str:
    return formatdate(moment, usegmt=True)


def retry_after_date(moment: float) -> Mapping[str, str]:
    return {"retry-after": http_date(moment)}


def requests_reset(moment: float) -> Mapping[str, str]:
    return {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": datetime.fromtimestamp(moment, UTC).isoformat(),
    }


def run(project: Project, provider: str, faults: Sequence[Fault]) -> Vendor:
    """A case for each fault, all at once; each is answered in the end."""
    script = {f"case-{number}": [fault] for number, fault in enumerate(faults, 1)}
    with Vendor(key=KEY, script=script) as vendor:
        prepared(project, target(provider, vendor), suite(cases=len(faults)))
        outcome = project.run("eval", "e.yaml", "--workers", str(len(faults)))
    assert outcome.code == ExitCode.OK, outcome.err
    return vendor


FORMS: dict[str, list[tuple[Fault, float]]] = {
    "openai": [
        (refused("1"), 1.0),
        (refused("0.7"), 0.7),
        (refused(retry_after_ms="350"), 0.35),
        (refused(retry_after_ms="350", retry_after="1"), 0.35),
        (refused("0"), 0.0),
        (refused(x_ratelimit_reset_requests="800ms"), 0.8),
        (refused(x_ratelimit_reset_tokens="1.2s", x_ratelimit_remaining_tokens="0"), 1.2),
        (failure(503, retry_after="1"), 1.0),
        (failure(500, retry_after="0.5"), 0.5),
    ],
    "azure": [
        (refused(retry_after_ms="400", retry_after="1"), 0.4),
        (refused(x_ratelimit_reset_requests="1"), 1.0),
    ],
    "anthropic": [(refused("1"), 1.0), (failure(529, retry_after="1"), 1.0)],
    "gemini": [
        (refused("1"), 1.0),
        (
            Fault(
                kind="status",
                status=429,
                said={"details": [{"@type": RETRY_INFO, "retryDelay": "1.2s"}]},
            ),
            1.2,
        ),
        (
            Fault(
                kind="status",
                status=503,
                said={"details": [{"@type": RETRY_INFO, "retryDelay": "1s"}]},
            ),
            1.0,
        ),
    ],
}


@pytest.mark.parametrize("provider", FORMS)
def test_a_wait_in_seconds_is_kept_exactly(provider: str, project: Project) -> None:
    faults = [fault for fault, _ in FORMS[provider]]
    vendor = run(project, provider, faults)
    overshoots = []
    for number, (fault, seconds) in enumerate(FORMS[provider], 1):
        [gap] = vendor.gaps(f"case-{number}")
        assert seconds <= gap <= seconds + BUSY_SECONDS, fault
        overshoots.append(gap - seconds)
    assert median(overshoots) <= OVERSHOOT_SECONDS


@pytest.mark.parametrize(
    ("provider", "headers"),
    [("openai", retry_after_date), ("anthropic", requests_reset)],
    ids=["retry-after", "anthropic-reset"],
)
def test_a_moment_is_waited_for_by_the_services_clock(
    provider: str, headers: Callable[[float], Mapping[str, str]], project: Project
) -> None:
    """Exactly when the clocks agree; at most a second longer, and never shorter, when not."""
    by_ours = [Until(429, headers) for _ in range(3)]
    by_others = [Until(429, headers, ahead=ahead) for ahead in (3600, -86_400.5)]
    vendor = run(project, provider, [wait.fault() for wait in (*by_ours, *by_others)])
    since_boot = time.time() - time.monotonic()
    overshoots = []
    for number, wait in enumerate((*by_ours, *by_others), 1):
        _, again = (asked.at for asked in vendor.asked if asked.case == f"case-{number}")
        overshoots.append(again + since_boot - wait.moment)
    assert min(overshoots) >= 0
    assert median(overshoots[:3]) <= OVERSHOOT_SECONDS
    assert max(overshoots[3:]) <= 1 + BUSY_SECONDS


@pytest.mark.parametrize(
    "fault",
    [
        refused("86400"),
        failure(503, "down for maintenance", retry_after="3600"),
        refused("Fri, 31 Dec 2199 23:59:59 GMT"),
        refused(x_ratelimit_reset_requests="24h0m0s"),
    ],
    ids=["a-day", "unavailable", "date", "reset"],
)
def test_a_wait_that_is_too_long_is_an_error_at_once(fault: Fault, project: Project) -> None:
    with Vendor(key=KEY, script={"case-1": [fault] * 9}) as vendor:
        prepared(project, target("openai", vendor), suite())
        outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.ERRORS
    assert vendor.tries("case-1") == 1
    [row] = project.rows()
    assert row["error"]["kind"] == f"http_{fault.status}"
    assert fault.message in row["error"]["message"]
    assert "it asks us to wait " in row["error"]["message"]
    assert row["error"]["message"].endswith("and `max_retry_after_seconds` is 900")


def test_how_long_is_too_long_is_the_authors_choice(project: Project) -> None:
    with Vendor(key=KEY, script={"case-1": [refused("1")]}) as vendor:
        prepared(project, target("openai", vendor, max_retry_after_seconds=0.5), suite())
        assert project.run("eval", "e.yaml").code == ExitCode.ERRORS
    [row] = project.rows()
    assert row["error"]["message"].endswith(
        "slow down; it asks us to wait 1 s, and `max_retry_after_seconds` is 0.5"
    )


def test_workers_bound_what_is_asked_at_once_also_while_others_wait(project: Project) -> None:
    """Whoever waits lends the place, so the waits of the eight take no longer than one."""
    script = {f"case-{number}": [refused("0.5")] for number in range(10, 90, 10)}
    with Vendor(key=KEY, script=script, latency=0.01) as vendor:
        prepared(project, target("openai", vendor), suite(cases=100))
        assert project.run("eval", "e.yaml", "--workers", "4").code == ExitCode.OK
    assert len(vendor.asked) == 108
    assert vendor.most_at_once == 4
    assert vendor.asked[-1].at - vendor.asked[0].at <= 2


def quota(message: str, status: int = 429, **said: object) -> Fault:
    return Fault(kind="status", status=status, message=message, said=said)


DAILY = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "20"}
PLAN = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.parametrize(
    ("provider", "fault"),
    [
        ("openai", quota(PLAN, type="insufficient_quota", code="insufficient_quota")),
        ("openai", quota(PLAN, type="insufficient_quota", code=None)),
        ("responses", quota("No credit.", type="insufficient_quota", code="x")),
        ("openai", quota("The project has.", code="project_spend_limit_exceeded")),
        ("openai", quota("Request too large for gpt-4 on tokens per min (TPM): Limit 10000.")),
        ("azure", quota(PLAN, code="insufficient_quota")),
        ("anthropic", quota("Stop.", details={"error_code": "enforced_spend_limit_reached"})),
        ("anthropic", quota("This request would exceed your account's monthly spend limit.")),
        ("gemini", quota("Your prepayment credits are depleted.")),
        (
            "gemini",
            quota(
                f"{PLAN}\nPlease retry in 36.4s.",
                details=[
                    {"@type": QUOTA_FAILURE, "violations": [DAILY]},
                    {"@type": RETRY_INFO, "retryDelay": "36s"},
                ],
            ),
        ),
    ],
)
def test_money_and_quotas_that_are_used_up_come_back_by_no_waiting(
    provider: str, fault: Fault, project: Project
) -> None:
    with Vendor(key=KEY, script={"case-1": [fault] * 9}) as vendor:
        prepared(project, target(provider, vendor), suite())
        outcome = project.run("eval", "e.yaml")
    assert outcome.code == ExitCode.ERRORS
    assert vendor.tries("case-1") == 1
    [row] = project.rows()
    assert row["error"]["kind"] == "quota"
    assert fault.message.splitlines()[0] in row["error"]["message"]


def test_a_quota_of_a_minute_is_waited_for(project: Project) -> None:
    """Its words are those of a used up one."""
    minutely = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}
    details = [
        {"@type": QUOTA_FAILURE, "violations": [minutely]},
        {"@type": RETRY_INFO, "retryDelay": "0.1s"},
    ]
    vendor = run(project, "gemini", [quota(PLAN, details=details)])
    assert vendor.tries("case-1") == 2
