"""What a recorded run's variables were."""

from pathlib import Path


def recorded_variables(replay: Path | None) -> dict[str, str] | None:
    """What a replay's variables were recorded with; `None` when there is no replay.

    Raises:
        SetupError: There is no cassette.
    """
    if replay is None:
        return None
    from agentv.transport.cassettes.folder import CassetteFolder  # which few runs need

    return CassetteFolder(replay).header().variables
