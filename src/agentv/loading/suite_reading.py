"""An eval file's own keys, read as far as that can be done; its cases are left for later."""

from collections.abc import Sequence
from typing import Any

import msgspec

from agentv.loading.case_file import SuiteFile
from agentv.loading.check import check
from agentv.loading.document import Document, locate
from agentv.loading.mistake import Mistake
from agentv.loading.salvage import Reading, misspelt_key, read_record
from agentv.model.base import Record
from agentv.model.problem import KeyPath, LoadError

_KEYS = tuple(field.encode_name for field in msgspec.structs.fields(SuiteFile))


class SuiteReading(Record, frozen=True, kw_only=True):
    """What an eval file says besides its cases, and where these are."""

    file: SuiteFile
    """Without cases."""
    cases: Sequence[Any] | str | None
    """Their trees, or the name of the file that has them; `None` when neither was written."""
    place: KeyPath
    """Where the cases stand, as it was written."""
    _reading: Reading[SuiteFile]

    @property
    def mistakes(self) -> Sequence[Mistake]:
        """All that is wrong with the types, the cases left aside."""
        return self._reading.mistakes

    def placed(self, mistakes: Sequence[Mistake]) -> list[Mistake]:
        """Mistakes found in `file`, at the places where they were written."""
        written = self._reading.written
        return [msgspec.structs.replace(m, path=written(m.path)) for m in mistakes]

    def in_doubt(self, *keys: str) -> bool:
        """Whether what is absent from some keys may be among the mistakes."""
        return any(place[0] in keys or place[0] not in _KEYS for place in self._reading.unclear)


def read_suite(document: Document) -> SuiteReading:
    """Read the tree of an eval file.

    Raises:
        LoadError: It is not a mapping.
    """
    tree = document.tree
    if not isinstance(tree, dict):
        hint = "an eval file is a mapping; its cases are a list under `evalcases:`"
        mistakes = [msgspec.structs.replace(m, hint=hint) for m in check(tree, SuiteFile)]
        raise LoadError(locate(mistakes, document))
    key = "evalcases" if "evalcases" in tree else misspelt_key(tree, "evalcases", _KEYS)
    cases = tree[key] if key else None
    shell = {**tree, key: []} if key and isinstance(cases, list) else tree
    reading = read_record(shell, SuiteFile)
    return SuiteReading(
        file=reading.record or SuiteFile(evalcases=[]),
        cases=cases if isinstance(cases, list | str) else None,
        place=(key or "evalcases",),
        _reading=reading,
    )
