"""What the passes made of a line, as a list to choose a place from."""

from collections.abc import Callable, Sequence
from functools import partial

from textual.screen import Screen

from tritonscope.errors import TritonscopeError
from tritonscope.line_history import Entry, history, texts
from tritonscope.model import Capture
from tritonscope.printable import escape
from tritonscope.tui.linking import chains_of, level_at, operation_at
from tritonscope.tui.overlay import Choice
from tritonscope.tui.places import Place
from tritonscope.tui.session import Session

__all__ = ["show_history"]

_NOWHERE = "this line came from no line of Python that the compiler names, so it cannot be followed"


def show_history(screen: Screen[None], session: Session, place: Place, line: int, go: Callable[[Place], None]) -> None:
    """List the passes after which the operations of a line's origin are others; `go` is told which was chosen.

    `line` is one of the text at `place` without locations.
    """
    screen.notify("following this line through the passes")

    def find() -> None:
        """In a thread: every text of the capture is read."""
        entries: list[Entry] = []
        title, own, said = "", "", _NOWHERE
        try:
            level = level_at(session, place)
            title, own = f"line {line} of {level.document.title}", operation_at(level, line)
            chains = chains_of(session.links, level, line)
            entries = list(history(session.capture, chains, own, session.listing)) if chains else []
        except TritonscopeError as error:
            said = str(error)
        screen.app.call_from_thread(show, entries, title, own, said)

    def show(entries: Sequence[Entry], title: str, own: str, said: str) -> None:
        screen.app.clear_notifications()
        if not screen.is_current:  # the reader went elsewhere meanwhile
            return
        if not entries:
            screen.notify(said, severity="warning", markup=False)
            return
        options = [(str(index), escape(entry.label(own))) for index, entry in enumerate(entries)]
        first = _present(session.capture, place, entries)
        screen.app.push_screen(Choice(f"{title} through the passes", options, first), partial(chosen, entries))

    def chosen(entries: Sequence[Entry], index: str | None) -> None:
        if index is not None:
            entry = entries[int(index)]
            row = entry.at - 1 if entry.at else 0
            go(Place(step=entry.step, row=row) if entry.step else Place(stage=entry.stage, row=row))

    screen.run_worker(find, thread=True, exclusive=True, group="history")


def _present(capture: Capture, place: Place, entries: Sequence[Entry]) -> int:
    """Which entry holds at `place`: the last one up to there."""
    reached = {"": 0}
    for rank, text in enumerate(texts(capture), 1):
        stage, step = (text, "") if isinstance(text, str) else (text.stage, text.step)
        reached |= {stage: rank} if not step else {stage: rank, step: rank}
    here = reached.get(place.step or place.stage, 0)
    return sum(reached[entry.step or entry.stage] <= here for entry in entries[1:])
