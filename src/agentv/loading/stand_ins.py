"""Variables that a run can do without: what stands for their values."""

from collections.abc import Iterator, Mapping


class StandIns(Mapping[str, str]):
    """The environment as those see it who call nobody: no variable is ever unset.

    A variable that is set has its own value. Any other has what it was recorded with: its value
    then or, for a secret, what recordings hold in its place.

    Args:
        values: What is set.
        recorded: By the cassette that is replayed.
    """

    def __init__(self, values: Mapping[str, str], recorded: Mapping[str, str]) -> None:
        self._values = values
        self._recorded = recorded

    def __getitem__(self, name: str) -> str:
        return self._values.get(name) or self._recorded.get(name) or f"[redacted {name}]"

    def __iter__(self) -> Iterator[str]:
        return iter({**self._values, **self._recorded})

    def __len__(self) -> int:
        return len({**self._values, **self._recorded})

    def stands_in(self, name: str) -> bool:
        """Whether a variable is not set itself."""
        return not self._values.get(name)


def is_stand_in(env: Mapping[str, str], name: str, value: str) -> bool:
    """Whether this is no secret, but what stands for one that nobody has."""
    return isinstance(env, StandIns) and env.stands_in(name) and env[name] == value
