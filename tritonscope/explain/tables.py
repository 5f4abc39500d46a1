"""The tables of explanations: how they are written, and the index over all of them."""

from dataclasses import dataclass
from functools import cache

__all__ = ["KINDS", "Entry", "Explanation", "entries", "read"]

#: What there is, in the order in which things are listed.
KINDS = ("stage", "step", "pass", "operation", "layout", "attribute", "ptx", "sass", "amdgcn")


@dataclass(frozen=True)
class Explanation:
    """What a name in a dump means. `see_also` are names that are explained, too."""

    name: str
    kind: str
    text: str
    see_also: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A text and all the names that it explains, the first of which stands for all."""

    names: tuple[str, ...]
    kind: str
    text: str
    see_also: tuple[str, ...]


def read(table: str, kind: str) -> list[Entry]:
    """The entries of a table: paragraphs of names, after ">" what to see as well, and the text on lines of its own.

    Names go on after a line that ends in "|", and ">" may start a line.

    >>> read("tt.load | tt.gather > tt.store LDG\\nReads\\nmemory.", "operation")[0].see_also
    ('tt.store', 'LDG')
    """
    found = []
    for paragraph in table.strip().split("\n\n"):
        head, *body = paragraph.split("\n")
        while body and (head.endswith("|") or body[0].startswith("> ")):
            head += " " + body.pop(0)
        names, _, see_also = head.partition(" > ")
        found.append(Entry(tuple(names.split(" | ")), kind, " ".join(body), tuple(see_also.split())))
    return found


@cache
def entries() -> tuple[Entry, ...]:
    """Every entry, kind after kind."""
    from tritonscope.explain import amdgcn, layouts, operations, passes, ptx, sass

    tables = (
        (passes.STAGES, "stage"),
        (passes.STEPS, "step"),
        (passes.PASSES, "pass"),
        (passes.LLVM_PASSES, "pass"),
        (operations.OPERATIONS, "operation"),
        (layouts.LAYOUTS, "layout"),
        (layouts.ATTRIBUTES, "attribute"),
        (ptx.PTX, "ptx"),
        (sass.SASS, "sass"),
        (amdgcn.AMDGCN, "amdgcn"),
    )
    return tuple(entry for table, kind in tables for entry in read(table, kind))
