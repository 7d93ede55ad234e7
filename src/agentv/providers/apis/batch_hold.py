"""A run's hold on its batches, from before they are made until its last row is written."""

from agentv.providers.apis.batch_ledger import Claim
from agentv.providers.apis.batch_telling import Teller


class BatchHold:
    """Keeps the batches of one plan for this run, and leaves them to the next if it is cut short.

    Args:
        place: In the ledger.
        tell: Takes what people should see.
    """

    def __init__(self, place: Claim, tell: Teller) -> None:
        self.place = place
        self._tell = tell
        self._is_told = False

    def close(self) -> None:
        """Leave the place, with what is still in it, to the next run. May be called again."""
        entry = self.place.entry
        if entry is not None and entry.is_asked and not self._is_told:
            self._tell.news(self.told())
        self.place.release()

    def told(self) -> str:
        """What becomes of the batches when this run goes; whoever asks will say it."""
        self._is_told = True
        parts = self.place.entry.parts if self.place.entry else ()
        made = [part.batch_id for part in parts if part.batch_id]
        which = f"batch {made[0]} is" if made else "a batch was perhaps made, and is"
        if len(made) > 1:
            which = f"{len(made)} batches are"
        them = "them" if len(made) > 1 else "it"
        return (
            f"{which} kept by the service, and will go on if not ended: "
            f"the same command, started again within two days, takes {them} up"
        )
