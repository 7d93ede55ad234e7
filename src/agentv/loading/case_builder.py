"""From a case as it is written to an `EvalCase`: defaults filled in, references checked."""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from agentv.core.question import looks_marked
from agentv.loading.case_file import CaseFile
from agentv.loading.evaluator_options import EvaluatorParser, Parsed, unknown_target
from agentv.loading.files import SearchPath
from agentv.loading.media import is_media
from agentv.loading.mistake import Mistake
from agentv.loading.references import check_file, check_image
from agentv.loading.salvage import Reading, read_record
from agentv.model.case import ContentPart, EvalCase, Message
from agentv.model.problem import KeyPath

_REMEMBERED_FILES = 4_096
_SAYS_NO_EVALUATOR = frozenset(CaseFile.__struct_fields__) - {
    *("execution", "evaluators", "evaluator")
}


class CaseBuilder(msgspec.Struct):
    """Builds the cases of one suite and finds what is wrong with them."""

    files: SearchPath
    evaluators: EvaluatorParser
    defaults: Parsed
    """The suite's evaluators, for cases that name none."""
    target_names: Collection[str] | None
    """The names in the targets file; `None` leaves them unchecked."""
    _checked_files: dict[tuple[str, str], Mistake | None] = {}

    def read(self, tree: object) -> tuple[EvalCase | None, list[Mistake]]:
        """The case that a tree stands for, and all that is wrong with it, at places below it.

        A case that comes with mistakes is only good for looking at.
        """
        reading = read_record(tree, CaseFile)
        if reading.record is None:
            return None, list(reading.mistakes)
        own: list[Mistake] = []
        raw = _with_outcome_in_doubt(reading, reading.record)
        case = self.build(raw, own)
        own += self._mistakes(case, raw)
        if not reading.mistakes:
            return case, own
        placed = [
            msgspec.structs.replace(mistake, path=reading.written(mistake.path))
            for mistake in own
            if not reading.invented(mistake.path)
        ]
        return case, [*reading.mistakes, *placed]

    def build(self, raw: CaseFile, mistakes: list[Mistake]) -> EvalCase:
        """The case; what is wrong with its evaluators is added to `mistakes`."""
        return EvalCase(
            id=raw.id,
            expected_outcome=raw.outcome or raw.expected_outcome or "",
            input_messages=tuple(raw.input_messages),
            expected_messages=tuple(raw.expected_messages or ()),
            conversation_id=raw.conversation_id,
            note=raw.note,
            target=raw.execution.target if raw.execution else None,
            evaluators=self._evaluators_of(raw, mistakes),
        )

    def _evaluators_of(self, raw: CaseFile, mistakes: list[Mistake]) -> Parsed:
        inner = raw.execution.evaluators if raw.execution else None
        if inner is not None and raw.evaluators is not None:
            message = "the case lists evaluators twice, here and under `execution`"
            mistakes.append(_mistake(("evaluators",), message, "keep one", "given-twice"))
        if inner is not None:
            return self._listed(inner, ("execution", "evaluators"), mistakes)
        if raw.evaluators is not None:
            return self._listed(raw.evaluators, ("evaluators",), mistakes)
        if raw.evaluator is not None:
            return self.evaluators.named_alone(raw.evaluator, ("evaluator",), mistakes)
        return self.defaults

    def _listed(self, listed: Sequence[object], path: KeyPath, mistakes: list[Mistake]) -> Parsed:
        if not listed:
            mistakes.append(nothing_asserted(path))
        return self.evaluators.parse(listed, path, mistakes)

    def _mistakes(self, case: EvalCase, raw: CaseFile) -> Iterator[Mistake]:
        if raw.outcome is not None and raw.expected_outcome is not None:
            message = "`outcome` and `expected_outcome` are one key"
            yield _mistake(("expected_outcome",), message, "keep one", "given-twice")
        if not case.expected_outcome.strip() and self._is_judged(case):
            message = "the case has no `outcome`, and its judge needs one"
            hint = "say in a sentence what a good answer achieves"
            yield _mistake((), message, hint, "missing-key")
        if case.target and self.target_names is not None and case.target not in self.target_names:
            yield unknown_target(case.target, self.target_names, ("execution", "target"))
        yield from self._in_messages(case.input_messages, "input_messages")
        yield from self._in_messages(case.expected_messages, "expected_messages")
        if not any(map(_says_something, case.input_messages)):
            message = "the messages are blank, so nothing is asked"
            yield _mistake(("input_messages",), message, "write the question", "empty-value")

    def _is_judged(self, case: EvalCase) -> bool:
        return any(map(self.evaluators.needs_judge, case.evaluators))

    def _in_messages(self, messages: Sequence[Message], key: str) -> Iterator[Mistake]:
        for number, message in enumerate(messages):
            if isinstance(message.content, str):
                if looks_marked(message.content):
                    yield _role_marker((key, number, "content"))
                continue
            for index, part in enumerate(message.content):
                place = (key, number, "content", index, "value")
                if part.type == "text":
                    if looks_marked(part.value):
                        yield _role_marker(place)
                    continue
                if mistake := self._in_file(part):
                    yield msgspec.structs.replace(mistake, path=place)
                is_shown = key == "input_messages" and is_media(part.type, part.value)
                if is_shown and message.role != "user":
                    yield _media_role(message.role, place)

    def _in_file(self, part: ContentPart) -> Mistake | None:
        known = part.type, part.value
        if known not in self._checked_files:
            if len(self._checked_files) >= _REMEMBERED_FILES:
                self._checked_files.clear()
            check = check_image if part.type == "image" else check_file
            self._checked_files[known] = check(part.value, self.files, ())
        return self._checked_files[known]


def nothing_asserted(path: KeyPath) -> Mistake:
    """An empty list of evaluators: such a case could only pass by accident."""
    message = "the list of evaluators is empty, so nothing is asserted"
    hint = "name at least one evaluator, or leave the key out to use the suite's"
    return _mistake(path, message, hint, "nothing-asserted")


def _with_outcome_in_doubt(reading: Reading[CaseFile], raw: CaseFile) -> CaseFile:
    """When it is unclear which evaluators a case names, so is whether it needs an outcome."""
    doubt = any(place[0] not in _SAYS_NO_EVALUATOR for place in reading.unclear)
    if not doubt or raw.outcome or raw.expected_outcome:
        return raw
    return msgspec.structs.replace(raw, outcome="-", expected_outcome=None)


def _role_marker(path: KeyPath) -> Mistake:
    return Mistake(
        path=path,
        message="a line of this text looks like a role marker",
        hint="a reader of the formatted question could take it for a turn; reword or indent it",
        code="role-marker",
        severity="warning",
    )


def _media_role(role: str, path: KeyPath) -> Mistake:
    return Mistake(
        path=path,
        message=f"an image or a PDF in a `{role}` message reaches no model",
        hint="move it to a `user` message: LLM APIs take them nowhere else",
        code="media-role",
    )


def _says_something(message: Message) -> bool:
    if isinstance(message.content, str):
        return bool(message.content.strip())
    return any(part.type != "text" or part.value.strip() for part in message.content)


def _mistake(path: KeyPath, message: str, hint: str | None, code: str) -> Mistake:
    return Mistake(path=path, message=message, hint=hint, code=code)
