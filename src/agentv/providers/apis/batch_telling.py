"""What people see of batches: they may take a day, and cost money while nobody watches."""

from collections.abc import Callable

from agentv.model.event import BatchWaiting, Event, Notice
from agentv.providers.apis.batch_api import BatchStatus
from agentv.providers.apis.batch_reading import Answers


class Teller:
    """Tells of the batches of one target.

    Args:
        model: Who works on them: `azure/gpt-x`.
        emit: Takes the events.
    """

    def __init__(self, model: str, emit: Callable[[Event], None]) -> None:
        self._model = model
        self._emit = emit

    def news(self, line: str) -> None:
        """For everybody."""
        self._emit(Notice(level="news", message=f"{self._model}: {line}"))

    def warning(self, line: str) -> None:
        """For everybody, since it may cost money or an answer."""
        self._emit(Notice(level="warning", message=f"{self._model}: {line}"))

    def detail(self, line: str) -> None:
        """For `--verbose`."""
        self._emit(Notice(level="verbose", message=f"{self._model}: {line}"))

    def looked(
        self, batch_id: str, status: BatchStatus, total: int, next_look_seconds: float | None
    ) -> None:
        """A batch was looked at."""
        self._emit(
            BatchWaiting(
                model=self._model,
                batch_id=batch_id,
                word=status.word,
                done=status.done,
                failed=status.failed,
                total=total,
                next_look_seconds=next_look_seconds,
            )
        )

    def answered(self, batch_id: str, answers: Answers) -> None:
        """A batch has ended, and its results are here."""
        line = f"batch {batch_id} answered {answers.answered} of {answers.total} requests"
        if answers.failures:
            reasons = (f"{number} {reason}" for reason, number in answers.failures.most_common())
            line += f"; the others are sent singly ({', '.join(reasons)})"
        self.news(line)
        if answers.oddities:
            self.warning(f"batch {batch_id}: {'; '.join(answers.oddities)}")
