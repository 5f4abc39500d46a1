"""Puts the locations of an MLIR text back on those of its lines that an edit left as they were.

People read and edit IR without locations; a kernel that is compiled from it should not lose its line numbers for that.
"""

import difflib
import re
from collections.abc import Iterator

from tritonscope.ir.locations import strip_locations

__all__ = ["relocated"]

_DEFINITION = re.compile(r"#(?:loc\d*|di_\w+) = ")


def relocated(edited: str, original: str) -> str:
    """`edited`, which was made from `original` without its locations, with those of the lines that stayed.

    Every line keeps its number: the definitions of locations go before what stands in the first line. A text that has
    locations of its own is left as it is.
    """
    if strip_locations(edited) != edited:
        return edited
    shown = strip_locations(original).split("\n")
    lines = original.split("\n")
    full = [line for line in lines if not _DEFINITION.match(line)]
    if len(full) != len(shown):  # definitions that something else uses, too
        return edited
    new = edited.split("\n")
    for start, at, length in _kept(shown, new):
        new[at : at + length] = full[start : start + length]
    definitions = " ".join(line for line in lines if _DEFINITION.match(line))
    return f"{definitions} {new[0]}\n" + "\n".join(new[1:]) if definitions else "\n".join(new)


def _kept(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int]]:
    """(start in `old`, start in `new`, length) of runs of equal lines."""
    ahead = 0
    while ahead < min(len(old), len(new)) and old[ahead] == new[ahead]:
        ahead += 1
    behind = 0
    while behind < min(len(old), len(new)) - ahead and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    yield 0, 0, ahead
    between = difflib.SequenceMatcher(
        None, old[ahead : len(old) - behind], new[ahead : len(new) - behind], autojunk=False
    )
    for block in between.get_matching_blocks():
        yield ahead + block.a, ahead + block.b, block.size
    yield len(old) - behind, len(new) - behind, behind
