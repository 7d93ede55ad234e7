"""What a service answered in a short stretch of time, and what that says of its load."""

from math import inf

import msgspec

_SECONDS = 2.0
_REPLIES = 20
_MANY = 10
_MANY_SHARE = 1 / 3
_MANY_AGAIN = 3
_MANY_AGAIN_SHARE = 1 / 2
_SOME = 2
_SOME_SHARE = 0.04
_HARDLY_ANY_SHARE = 0.02


class Stretch(msgspec.Struct):
    """Counts of requests and replies since a moment."""

    began: float = inf
    """Infinity until the first request starts."""
    started: int = 0
    started_again: int = 0
    succeeded: int = 0
    refused: int = 0
    refused_again: int = 0

    @property
    def replies(self) -> int:
        return self.succeeded + self.refused

    @property
    def accepted(self) -> int:
        """Requests that succeeded or will: a refusal comes at once, an answer takes its time."""
        return max(self.succeeded, self.started - self.refused)

    @property
    def refused_share(self) -> float:
        """Of all that was sent, as the answers are still to come."""
        return self.refused / max(self.started, self.replies, 1)

    @property
    def refused_new_share(self) -> float:
        """Of what was never sent before: some services refuse every request, and none twice."""
        new = max(self.started - self.started_again, 1)
        return min((self.refused - self.refused_again) / new, 1.0)

    def is_over(self, now: float) -> bool:
        """Whether enough has happened to go by."""
        return now - self.began >= _SECONDS and self.replies >= _REPLIES

    def has_many_refusals(self) -> bool:
        """Whether the service is overloaded.

        A request that has waited as it was told to has no worse a chance than others, unless the
        others leave nothing for it.
        """
        if self.refused_again >= max(_MANY_AGAIN, _MANY_AGAIN_SHARE * self.started_again):
            return True
        return self.refused >= _MANY and self.refused_share >= _MANY_SHARE

    def has_some_refusals(self) -> bool:
        """Whether it may be a little too much."""
        return self.refused >= max(_SOME, _SOME_SHARE * self.replies)

    def has_hardly_any(self) -> bool:
        """Whether it is all right."""
        return self.refused <= _HARDLY_ANY_SHARE * self.replies
