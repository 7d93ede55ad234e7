"""Runs that would run nothing."""

from collections.abc import Sequence

from agentv.assembly.assembly import Assembly
from agentv.assembly.earlier import Rerun
from agentv.assembly.left_out import left_out
from agentv.assembly.left_out import why_nothing as none_meant
from agentv.core.moved_suites import SuiteName
from agentv.errors import AgentVError, ExitCode
from agentv.execution.request import RunRequest


class NothingToRunError(AgentVError):
    """No trial would be run, so nothing could be said of any target."""

    exit_code = ExitCode.NOTHING


def why_nothing(request: RunRequest, assembly: Assembly) -> str:
    """In a sentence for whoever asked."""
    if isinstance(request.origin, Rerun):
        return _why_nothing_again(request.origin, assembly, request.workspace.suite_names)
    cases = sum(suite.total_cases for suite in request.workspace.suites)
    asked = request.arguments.get("eval_ids")
    if cases and asked:
        wanted = ", ".join(f"'{glob}'" for glob in asked)
        if not any(len(suite.suite.cases) for suite in request.workspace.suites):
            return f"Nothing ran: none of the {cases} eval cases has an id that matches {wanted}."
    if cases and (shard := request.options.shard):
        return (
            f"Nothing ran: there are fewer trials than shards, so shard {shard.number} of "
            f"{shard.of} is empty."
        )
    return "Nothing ran: there are no eval cases."


def _why_nothing_again(rerun: Rerun, assembly: Assembly, suites: Sequence[SuiteName]) -> str:
    why = left_out(rerun, assembly.scope.chosen, suites, ()) or none_meant(rerun)
    return f"Nothing ran: {why}"
