"""Which value, block or label each name of a text means: scopes opened, definitions found, uses resolved.

A name means what the innermost scope around it defines under that name, before it or after it (blocks and phis point
forward). Scopes are the regions of MLIR and the functions of everything else; the text itself is scope 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tritonscope.ir.dialects import Reader, Tokens

__all__ = ["Side", "read_side"]


@dataclass
class Side:
    """One text of a diff, read. Values are numbered from 0; lines are indices from 0.

    `strict` and `loose` number the templates of the lines: the same number, on both sides, is the same template.
    `ids` are the values that a line's names mean, in order; `uses` those that it does not define itself; `results`
    and `inner` those that it defines, by position. `several` gives, for a value that stands for a tuple (`%x:3`), the
    values of its elements. `scope_of` and `name_of` tell where a value is defined and as what, `defined` whether it
    is at all. `scopes` are first line, last line; `opener` gives for a line that closes a scope the line that
    opened it.
    """

    lines: Sequence[str]
    tokens: list[Tokens]
    strict: list[int]
    loose: list[int]
    ids: list[list[int]] = field(default_factory=list)
    uses: list[tuple[int, ...]] = field(default_factory=list)
    results: list[tuple[int, ...]] = field(default_factory=list)
    inner: list[tuple[int, ...]] = field(default_factory=list)
    several: dict[int, tuple[int, ...]] = field(default_factory=dict)
    name_of: list[str] = field(default_factory=list)
    scope_of: list[int] = field(default_factory=list)
    defined: list[bool] = field(default_factory=list)
    scopes: list[tuple[int, int]] = field(default_factory=list)
    opener: dict[int, int] = field(default_factory=dict)


def read_side(text: str, reader: Reader, templates: dict[str, int]) -> Side:
    """Read `text` line by line and resolve its names. `templates` numbers templates and is shared by both sides."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return resolve(lines, reader, templates)


def resolve(lines: list[str], reader: Reader, templates: dict[str, int]) -> Side:
    """Resolve the names of `lines`."""
    read = reader.read
    tokens = [read(line) for line in lines]
    strict = [templates.setdefault(t[0], len(templates)) for t in tokens]
    loose = [
        s if t[1] is t[0] else templates.setdefault(t[1], len(templates)) for t, s in zip(tokens, strict, strict=True)
    ]
    side = Side(lines, tokens, strict, loose)
    parents, inside, opened = _find_scopes(side)
    tables = _define(side, reader, inside, opened)
    _use(side, reader, tables, parents, inside, opened)
    return side


def _find_scopes(side: Side) -> tuple[list[int], list[int], dict[int, int]]:
    """Each scope's parent; the scope that each line stands in; the scope that each opening line opens."""
    parents, inside, opened = [0], [], {}
    starts, ends = [0], [len(side.tokens) - 1]
    current = 0
    for at, token in enumerate(side.tokens):
        if token.closes and current:
            side.opener[at] = starts[current]
            ends[current] = at
            current = parents[current]
        inside.append(current)
        if token.opens:
            opened[at] = len(parents)
            parents.append(current)
            starts.append(at)
            ends.append(len(side.tokens) - 1)
            current = opened[at]
    side.scopes = list(zip(starts, ends, strict=True))
    return parents, inside, opened


def _define(side: Side, reader: Reader, inside: list[int], opened: dict[int, int]) -> list[dict[str, int]]:
    """The table of each scope, from name to value."""
    tables: list[dict[str, int]] = [{} for _ in side.scopes]
    name_of, scope_of = side.name_of, side.scope_of

    def define(name: str, scope: int) -> int:
        value = tables[scope].get(name)
        if value is None:
            value = tables[scope][name] = len(name_of)
            name_of.append(name)
            scope_of.append(scope)
        return value

    for at, token in enumerate(side.tokens):
        names = token.names
        here = inside[at]
        if token.results:
            side.results.append(
                tuple(define(names[i], 0 if here and reader.is_global(names[i]) else here) for i in token.results)
            )
            for i, count in token.counts:
                value = side.results[at][i]
                side.several[value] = tuple(define(f"{names[i]}#{k}", here) for k in range(count))
        else:
            side.results.append(())
        side.inner.append(tuple(define(names[i], opened[at]) for i in token.inner) if token.inner else ())
    side.defined = [True] * len(name_of)
    return tables


def _use(
    side: Side,
    reader: Reader,
    tables: list[dict[str, int]],
    parents: list[int],
    inside: list[int],
    opened: dict[int, int],
) -> None:
    for at, token in enumerate(side.tokens):
        if not token.names:
            side.ids.append([])
            side.uses.append(())
            continue
        start = opened.get(at, inside[at])
        ids = []
        for name in token.names:
            scope = start
            value = tables[scope].get(name)
            while value is None and scope:
                scope = parents[scope]
                value = tables[scope].get(name)
            ids.append(_undefined(side, name, start, tables, parents, reader) if value is None else value)
        own = token.results + token.inner if token.inner else token.results
        side.ids.append(ids)
        if not own:
            side.uses.append(tuple(ids))
        elif own == tuple(range(len(own))):
            side.uses.append(tuple(ids[len(own) :]))
        else:
            side.uses.append(tuple(value for i, value in enumerate(ids) if i not in own))


def _undefined(
    side: Side, name: str, scope: int, tables: list[dict[str, int]], parents: list[int], reader: Reader
) -> int:
    """A value for a name that nothing defines (LLVM's entry block has no label): one in its function."""
    if reader.is_global(name):
        scope = 0
    while scope and parents[scope]:
        scope = parents[scope]
    value = tables[scope][name] = len(side.name_of)
    side.name_of.append(name)
    side.scope_of.append(scope)
    side.defined.append(False)
    return value
