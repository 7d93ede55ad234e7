"""From a case as it is written to an `EvalCase`: defaults filled in, references checked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentv.core.question import looks_marked
from agentv.loading.case_file import CaseFile
from agentv.loading.evaluator_options import EvaluatorParser, unknown_target
from agentv.loading.files import SearchPath, read_attachment
from agentv.loading.mistake import Mistake
from agentv.model.case import EvalCase, Message
from agentv.model.options import EvaluatorOptions
from agentv.model.problem import KeyPath


@dataclass
class CaseBuilder:
    """Builds the cases of one suite and gathers what is wrong with them."""

    files: SearchPath
    evaluators: EvaluatorParser
    defaults: tuple[EvaluatorOptions, ...]
    """The suite's evaluators, for cases that name none."""
    target_names: Sequence[str] | None
    """The names in the targets file; `None` leaves them unchecked."""
    _default_kinds: dict[str, tuple[EvaluatorOptions, ...]] = field(default_factory=dict)

    def build(self, raw: CaseFile, path: KeyPath, mistakes: list[Mistake]) -> EvalCase:
        """The case; whatever is wrong with it is added to `mistakes`."""
        case = EvalCase(
            id=raw.id,
            expected_outcome=raw.outcome or raw.expected_outcome or "",
            input_messages=tuple(raw.input_messages),
            expected_messages=tuple(raw.expected_messages or ()),
            conversation_id=raw.conversation_id,
            note=raw.note,
            target=raw.execution.target if raw.execution else None,
            evaluators=self._evaluators_of(raw, path, mistakes),
        )
        self._check(case, raw, path, mistakes)
        return case

    def _evaluators_of(
        self, raw: CaseFile, path: KeyPath, mistakes: list[Mistake]
    ) -> tuple[EvaluatorOptions, ...]:
        in_execution = raw.execution.evaluators if raw.execution else None
        if in_execution is not None and raw.evaluators is not None:
            message = "the case lists evaluators twice, here and under `execution`"
            mistakes.append(_mistake((*path, "evaluators"), message, "keep one", "given-twice"))
        place = (
            (*path, "execution", "evaluators")
            if in_execution is not None
            else (
                *path,
                "evaluators",
            )
        )
        listed = in_execution if in_execution is not None else raw.evaluators
        if listed is not None:
            if not listed:
                mistakes.append(nothing_asserted(place))
            return self.evaluators.parse(listed, place, mistakes)
        if raw.evaluator is not None:
            return self._of_kind(raw.evaluator, (*path, "evaluator"), mistakes)
        return self.defaults

    def _of_kind(
        self, kind: str, path: KeyPath, mistakes: list[Mistake]
    ) -> tuple[EvaluatorOptions, ...]:
        if kind not in self._default_kinds:
            found = self.evaluators.default(kind, path, mistakes)
            if not found:
                return ()
            self._default_kinds[kind] = found
        return self._default_kinds[kind]

    def _check(self, case: EvalCase, raw: CaseFile, path: KeyPath, mistakes: list[Mistake]) -> None:
        if raw.outcome is not None and raw.expected_outcome is not None:
            message = "`outcome` and `expected_outcome` are one key"
            mistakes.append(
                _mistake((*path, "expected_outcome"), message, "keep one", "given-twice")
            )
        if not case.expected_outcome.strip() and any(
            map(self.evaluators.needs_judge, case.evaluators)
        ):
            message = "the case has no `outcome`, and its judge needs one"
            hint = "say in a sentence what a good answer achieves"
            mistakes.append(_mistake(path, message, hint, "missing-key"))
        if case.target and self.target_names is not None and case.target not in self.target_names:
            place = (*path, "execution", "target")
            mistakes.append(unknown_target(case.target, self.target_names, place))
        self._check_messages(case.input_messages, (*path, "input_messages"), mistakes)
        self._check_messages(case.expected_messages, (*path, "expected_messages"), mistakes)
        if not _asks_something(case.input_messages):
            message = "the messages are blank, so nothing is asked"
            place = (*path, "input_messages")
            mistakes.append(_mistake(place, message, "write the question", "empty-value"))

    def _check_messages(
        self, messages: Sequence[Message], path: KeyPath, mistakes: list[Mistake]
    ) -> None:
        for number, message in enumerate(messages):
            content: KeyPath = (*path, number, "content")
            if isinstance(message.content, str):
                _check_text(message.content, content, mistakes)
                continue
            for index, part in enumerate(message.content):
                place = (*content, index, "value")
                if part.type == "text":
                    _check_text(part.value, place, mistakes)
                else:
                    self._check_file(part.value, place, mistakes)

    def _check_file(self, reference: str, path: KeyPath, mistakes: list[Mistake]) -> None:
        found = self.files.find(reference) if reference.strip() else None
        if found is None:
            mistakes.append(self._missing_file(reference, path))
        elif not found.is_file():
            message = f"'{reference}' is a folder"
            mistakes.append(_mistake(path, message, "name a file in it", "missing-file"))
        else:
            try:
                read_attachment(found)
            except UnicodeDecodeError:
                message = f"the file '{reference}' is not UTF-8 text"
                mistakes.append(_mistake(path, message, "save it as UTF-8", "not-utf8"))
            except OSError as error:
                message = f"the file '{reference}' cannot be read: {error.strerror}"
                mistakes.append(_mistake(path, message, None, "unreadable"))

    def _missing_file(self, reference: str, path: KeyPath) -> Mistake:
        tried = ", ".join(str(place) for place in self.files.tried(reference))
        near = self.files.suggest(reference)
        hint = (f"did you mean '{near}'? " if near else "") + f"tried {tried}"
        return _mistake(path, f"no such file '{reference}'", hint, "missing-file")


def nothing_asserted(path: KeyPath) -> Mistake:
    """An empty list of evaluators: such a case could only pass by accident."""
    message = "the list of evaluators is empty, so nothing is asserted"
    hint = "name at least one evaluator, or leave the key out to use the suite's"
    return _mistake(path, message, hint, "nothing-asserted")


def _check_text(text: str, path: KeyPath, mistakes: list[Mistake]) -> None:
    if looks_marked(text):
        message = "a line of this text looks like a role marker"
        hint = "a reader of the formatted question could take it for a turn; reword or indent it"
        warning = Mistake(
            path=path, message=message, hint=hint, code="role-marker", severity="warning"
        )
        mistakes.append(warning)


def _asks_something(messages: Sequence[Message]) -> bool:
    return any(part.value.strip() for message in messages for part in message.parts)


def _mistake(path: KeyPath, message: str, hint: str | None, code: str) -> Mistake:
    return Mistake(path=path, message=message, hint=hint, code=code)
