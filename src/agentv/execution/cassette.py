"""A run's cassette, where exchanges are recorded or replayed."""

from collections.abc import Callable
from itertools import chain

from agentv.core.judge_prompt import without_codes
from agentv.core.redaction import Redactor
from agentv.execution.places import below
from agentv.execution.request import RunRequest
from agentv.loading.target_secrets import is_secret_name
from agentv.loading.workspace import Workspace
from agentv.protocols import Cassette
from agentv.transport.cassettes.folder import CassetteFolder
from agentv.transport.cassettes.player import Player
from agentv.transport.cassettes.recorder import Recorder


def cassette_of(request: RunRequest, warn: Callable[[str], None]) -> Cassette | None:
    """What records or replays the run; `None` where nothing does.

    Raises:
        SetupError: It cannot be read, or nothing can be recorded there.
    """
    if request.replay is not None:
        return Player(CassetteFolder(below(request.cwd, request.replay)))
    if request.record is not None:
        folder = CassetteFolder(below(request.cwd, request.record))
        return Recorder(folder, adds=request.resume is not None, warn=warn)
    return None


def begin(cassette: Cassette, workspace: Workspace, redactor: Redactor) -> None:
    """Tell it what is secret, and what variables a replay needs; before the first exchange."""
    cassette.begin(redactor.text, without_codes, _variables(workspace, redactor))


def _variables(workspace: Workspace, redactor: Redactor) -> dict[str, str]:
    """The variables that targets used, without secrets: a replay can do with these."""
    used = chain.from_iterable(target.variables.items() for target in workspace.resolved.values())
    shown = ((name, value, redactor.text(value)) for name, value in used)
    # What is too short for the redactor may be a secret all the same.
    return {name: text for name, value, text in shown if text != value or not is_secret_name(name)}
