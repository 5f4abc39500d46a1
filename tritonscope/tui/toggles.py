"""What `t` switches."""

from dataclasses import dataclass

__all__ = ["LABELS", "Toggles"]


@dataclass(frozen=True)
class Toggles:
    """Each is on or off."""

    wrap: bool = False
    side_by_side: bool = False
    raw: bool = False
    locations: bool = False
    sticky: bool = True


LABELS = {
    "wrap": "long lines are wrapped",
    "side_by_side": "diffs side by side",
    "raw": "diffs to the letter, renamed lines and all",
    "locations": "source locations",
    "sticky": "enclosing headers stay on top",
}
