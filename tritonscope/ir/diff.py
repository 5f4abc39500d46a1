"""What really changed between two texts of IR: names, aliases, indentation and the order of definitions aside.

The texts come without locations (see `ir.locations.strip_debug`). Lines are aligned with their names masked, the
definitions of aligned lines make a one-to-one renaming, and every line is judged under it:

- "unchanged": the same text;
- "renamed": the same under the renaming;
- "layout": the same operation on the same operands, only the encodings of its types differ;
- "changed": aligned, and different; `marks` say in which words;
- "removed", "added": without a counterpart;
- "moved": the same under the renaming, in another place.

It is sound: apart from indentation and the padding of columns, applying the renaming to the old lines that are called
unchanged, renamed or moved gives the new ones exactly, and the renaming is one-to-one. Aliases count as what they stand
for: an alias for the same attribute is the same, whatever it is called and wherever it is defined.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from tritonscope.ir import align as alignment
from tritonscope.ir import fingerprints
from tritonscope.ir.dialects import Aliases, hint_of, is_readable, reader_for, starts_with_label
from tritonscope.ir.marks import Span, Words, compare, split_words, word_pattern
from tritonscope.ir.renaming import Binding, best_in_order, bind, definitions
from tritonscope.ir.values import Side, read_side

__all__ = ["HIDDEN", "Diff", "Hunk", "Line", "Scope", "Stat", "diff", "hunks"]

#: The kinds of lines that are counted rather than shown.
HIDDEN = frozenset({"unchanged", "renamed"})

_ROUNDS = 3
_MOST_CELLS_OF_A_GAP = 900
_MOST_CELLS = 20_000
_LEAST_LIKENESS = 4


@dataclass(frozen=True)
class Line:
    """One line of a diff, or two that are each other's.

    `left` and `right` are line numbers from 1, None on a side that has no such line here. A moved line stands twice,
    where it was and where it is; `other` is then its number on the other side. The same goes for a definition of an
    alias, of metadata or of an attribute group that merely changed places, which is "renamed". `words` gives the words
    of both sides, where they differ.
    """

    kind: str
    left: int | None
    right: int | None
    left_text: str
    right_text: str
    other: int | None = None
    words: Callable[[], tuple[Words, Words]] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def marks(self) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        """The spans of the words that differ, left and right: found when asked for, since most are never shown."""
        return compare(*self.words()) if self.words else ((), ())

    @property
    def shown(self) -> bool:
        """Whether a reader is to see this line."""
        return self.kind not in HIDDEN

    def to_json(self) -> dict[str, Any]:
        """The line as `diff --json` gives it: `text` is the new text where there is one; marks are [start, end]."""
        value: dict[str, Any] = {
            "kind": self.kind,
            "left": self.left,
            "right": self.right,
            "text": self.left_text if self.right is None else self.right_text,
            "marks": {
                side: [list(s) for s in spans] for side, spans in zip(("left", "right"), self.marks, strict=True)
            },
        }
        if self.left is not None and self.right is not None and self.left_text != self.right_text:
            value["left_text"] = self.left_text
        if self.other is not None:
            value["other"] = self.other
        return value


@dataclass(frozen=True)
class Stat:
    """How many lines are of each kind; two lines that are each other's count once, and so does one that moved."""

    unchanged: int = 0
    renamed: int = 0
    layout: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0

    @property
    def differs(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.layout or self.changed or self.added or self.removed or self.moved)

    @property
    def lines(self) -> int:
        """The lines that a unified diff of these shows, old and new ones, as git counts them."""
        return 2 * (self.layout + self.changed + self.moved) + self.added + self.removed


@dataclass(frozen=True)
class Scope:
    """What the names of one scope of the left text are called in one scope of the right text.

    `first` and `last` are the lines of the left scope, numbered from 1: the line that opens a region or function and
    the one that closes it, or the whole text; `right_first` and `right_last` those of the right one. A name means what
    the innermost scope around it has for it. A scope whose values went to several scopes stands here several times.
    One-to-one means: no name of a left scope stands twice, and none of a right scope.
    """

    first: int
    last: int
    right_first: int
    right_last: int
    names: Mapping[str, str]


@dataclass(frozen=True)
class Hunk:
    """Lines that are shown together, with those around them. The starts are line numbers from 1."""

    left_start: int
    right_start: int
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Diff:
    """Two texts of IR compared: every line of both in order, how many of each kind, and what is called what."""

    kind: str
    lines: tuple[Line, ...]
    stat: Stat
    renaming: tuple[Scope, ...]

    def to_json(self, context: int = 3) -> dict[str, Any]:
        """`stat` and `hunks` as `diff --json` gives them."""
        return {
            "stat": {name: getattr(self.stat, name) for name in Stat.__dataclass_fields__},
            "hunks": [
                {
                    "left_start": hunk.left_start,
                    "right_start": hunk.right_start,
                    "lines": [line.to_json() for line in hunk.lines],
                }
                for hunk in hunks(self, context)
            ],
        }


def diff(left: str, right: str, kind: str, *, rename_registers: bool = False) -> Diff:
    """Compare two texts of `kind` ("mlir", "llir", "ptx", "sass", "amdgcn"; any other is compared word by word).

    The texts come without locations. `rename_registers` lets the registers of SASS have other names as well.
    """
    readable = is_readable(left) and is_readable(right)
    return _Comparison(left, right, kind if readable else "text", rename_registers).result()


def hunks(diff: Diff, context: int = 3) -> Iterator[Hunk]:
    """The parts of `diff` that are to be seen, each with up to `context` hidden lines before and after."""
    lines = diff.lines
    shown = [i for i, line in enumerate(lines) if line.kind not in HIDDEN]
    groups: list[list[int]] = []
    for i in shown:
        start, end = max(0, i - context), min(len(lines), i + context + 1)
        if groups and start <= groups[-1][1]:
            groups[-1][1] = end
        else:
            groups.append([start, end])
    left = right = 1
    at = 0
    for start, end in groups:
        for line in lines[at:start]:
            left += line.left is not None
            right += line.right is not None
        hunk = lines[start:end]
        yield Hunk(left, right, hunk)
        left += sum(line.left is not None for line in hunk)
        right += sum(line.right is not None for line in hunk)
        at = end


class _Comparison:
    """The work of one diff."""

    def __init__(self, left: str, right: str, kind: str, rename_registers: bool) -> None:
        self.kind = kind
        self.rename_registers = rename_registers
        ids: dict[str, int] = {}
        self.aliases = [Aliases(text.split("\n") if kind == "mlir" else (), ids) for text in (left, right)]
        templates: dict[str, int] = {}
        readers = [reader_for(kind, aliases, rename_registers) for aliases in self.aliases]
        self.ssa = readers[0].ssa
        self.left = read_side(left, readers[0], templates)
        self.right = read_side(right, readers[1], templates)
        self.operations = {number: fingerprints.operation_of(text) for text, number in templates.items()}
        self.pairs: dict[int, int] = {}
        self.away: dict[int, int] = {}
        self.binding = Binding()
        self._align()

    def result(self) -> Diff:
        """The diff."""
        lines = tuple(self._lines())
        counts: Counter[str] = Counter()
        for line in lines:
            if line.other is None or line.left is not None:
                counts[line.kind] += 1
        return Diff(self.kind, lines, Stat(**counts), tuple(self._scopes()))

    def _align(self) -> None:
        left, right = self.left, self.right
        coarse = fingerprints.coarse_keys(left, right, self.operations)
        deep_a, deep_b = fingerprints.deep_keys(left), fingerprints.deep_keys(right)
        levels: fingerprints.Levels = [(deep_a[0], deep_b[0]), (deep_a[1], deep_b[1])]
        best: tuple[int, dict[int, int], dict[int, int], Binding] | None = None
        for _ in range(_ROUNDS):
            pairs, away, binding = self._attempt([*levels, *coarse])
            cost = self._cost(pairs, away, binding)
            if best is not None and cost >= best[0]:
                break
            best = (cost, pairs, away, binding)
            if not cost:
                break
            levels = fingerprints.paired_keys(left, right, binding.forward, pairs)
        assert best is not None
        _, self.pairs, self.away, self.binding = best

    def _attempt(self, levels: fingerprints.Levels) -> tuple[dict[int, int], dict[int, int], Binding]:
        left, right = self.left, self.right
        pairs, gaps = alignment.align(levels, len(left.lines), len(right.lines))
        self._pair_alike(gaps, pairs)
        binding = bind(left, right, pairs, self.ssa)
        away = self._find_moved(pairs, binding)
        return pairs, away, binding

    def _pair_alike(self, gaps: list[alignment.Gap], pairs: dict[int, int]) -> None:
        """Pair lines of small gaps that are alike without being the same operation on the same hint."""
        cells = 0
        for a0, a1, b0, b1 in gaps:
            size = (a1 - a0) * (b1 - b0)
            if size > _MOST_CELLS_OF_A_GAP or cells + size > _MOST_CELLS:
                continue
            cells += size
            rows = [self._likeness_key(self.left, a) for a in range(a0, a1)]
            columns = [self._likeness_key(self.right, b) for b in range(b0, b1)]
            scores = [[_likeness(row, column) for column in columns] for row in rows]
            for i, k in best_in_order(scores):
                pairs[a0 + i] = b0 + k

    def _likeness_key(self, side: Side, at: int) -> tuple[str, str, int]:
        token = side.tokens[at]
        hint = hint_of(token.names[0]) if token.results else ""
        return self.operations[side.loose[at]], hint, len(token.results)

    def _find_moved(self, pairs: dict[int, int], binding: Binding) -> dict[int, int]:
        """Lines that the alignment left over and that are the same under the renaming; their definitions bind."""
        left, right = self.left, self.right
        taken = set(pairs.values())
        places: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for b in range(len(right.lines) - 1, -1, -1):
            if b not in taken and self._can_move(right, b):
                key = (right.strict[b], *right.uses[b])
                places[key].append(b)
        away: dict[int, int] = {}
        if not places:
            return away
        forward = binding.forward
        for a in range(len(left.lines)):
            if a in pairs or not self._can_move(left, a):
                continue
            uses = [forward.get(value, -1) for value in left.uses[a]]
            found = places.get((left.strict[a], *uses))
            if not found:
                continue
            b = found[-1]
            new = list(definitions(left, a, right, b, binding))
            if all(forward.get(v, w) == w and binding.backward.get(w, v) == v for v, w in new):
                found.pop()
                away[a] = b
                for value, other in new:
                    binding.add(value, other)
        return away

    def _can_move(self, side: Side, at: int) -> bool:
        token = side.tokens[at]
        return token.floating or (bool(token.names) and not token.opens and not token.closes)

    def _cost(self, pairs: Mapping[int, int], away: Mapping[int, int], binding: Binding) -> int:
        """The lines that would be shown."""
        left, right = self.left, self.right
        same = sum(
            left.strict[a] == right.strict[b] and binding.agrees(left.ids[a], right.ids[b]) for a, b in pairs.items()
        )
        return len(left.lines) + len(right.lines) - 2 * same - sum(left.tokens[a].floating for a in away)

    def _judge(self, a: int, b: int) -> str:
        left, right = self.left, self.right
        if left.loose[a] != right.loose[b] or not self.binding.agrees(left.ids[a], right.ids[b]):
            return "changed"
        if left.strict[a] != right.strict[b]:
            return "layout"
        return "unchanged" if left.lines[a].strip() == right.lines[b].strip() else "renamed"

    def _lines(self) -> Iterator[Line]:
        left, right = self.left, self.right
        back = {b: a for a, b in self.away.items()}
        pattern = word_pattern(self.kind, self.rename_registers)
        a = b = 0
        for pair_a, pair_b in [*sorted(self.pairs.items()), (len(left.lines), len(right.lines))]:
            for i in range(a, pair_a):
                other = self.away.get(i)
                if other is None:
                    yield Line("removed", i + 1, None, left.lines[i], "")
                else:
                    yield Line(self._away_kind(i), i + 1, None, left.lines[i], "", other=other + 1)
            for k in range(b, pair_b):
                other = back.get(k)
                if other is None:
                    yield Line("added", None, k + 1, "", right.lines[k])
                else:
                    yield Line(self._away_kind(other), None, k + 1, "", right.lines[k], other=other + 1)
            if pair_a < len(left.lines):
                kind = self._judge(pair_a, pair_b)
                words = None if kind in HIDDEN else self._words(pair_a, pair_b, pattern)
                yield Line(kind, pair_a + 1, pair_b + 1, left.lines[pair_a], right.lines[pair_b], words=words)
            a, b = pair_a + 1, pair_b + 1

    def _away_kind(self, a: int) -> str:
        return "renamed" if self.left.tokens[a].floating else "moved"

    def _words(self, a: int, b: int, pattern: "re.Pattern[str]") -> Callable[[], tuple[Words, Words]]:
        """What splits two lines into words, which holds nothing else of the comparison."""
        forward = self.binding.forward
        # A value as a number, so that no word of the text equals it; one without a counterpart equals nothing.
        values = [forward.get(value, -1 - value) for value in self.left.ids[a]]
        left = self._splitter(self.left, a, values, self.aliases[0], pattern)
        right = self._splitter(self.right, b, self.right.ids[b], self.aliases[1], pattern)
        return lambda: (left(), right())

    def _splitter(
        self, side: Side, at: int, values: Sequence[object], aliases: Aliases, pattern: "re.Pattern[str]"
    ) -> Callable[[], Words]:
        text, known = side.lines[at], aliases if self.kind == "mlir" else None
        return partial(split_words, text, pattern, known, values, self.kind == "llir" and starts_with_label(text))

    def _scopes(self) -> Iterator[Scope]:
        left, right = self.left, self.right
        names: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
        for a, b in self.binding.forward.items():
            names[left.scope_of[a], right.scope_of[b]][left.name_of[a]] = right.name_of[b]
        meaning = {self.aliases[1].token(name)[0]: name for name in reversed(self.aliases[1].definitions)}
        for name in self.aliases[0].definitions:
            if (other := meaning.get(self.aliases[0].token(name)[0])) is not None:
                names[0, 0][name] = other
        for scope, other_scope in sorted(names):
            (first, last), (right_first, right_last) = left.scopes[scope], right.scopes[other_scope]
            yield Scope(first + 1, last + 1, right_first + 1, right_last + 1, names[scope, other_scope])


def _likeness(a: tuple[str, str, int], b: tuple[str, str, int]) -> int:
    if a[2] != b[2] or not a[0] or not b[0]:
        return 0
    score = 5 * (a[0] == b[0]) + 3 * (a[1] == b[1] and bool(a[1])) + 2 * (a[0].split(".")[-1] == b[0].split(".")[-1])
    return score if score >= _LEAST_LIKENESS else 0
