"""The one-to-one renaming between the values of two texts, built from pairs of lines.

Definitions bind: where a line is paired with another, what the one defines is called what the other defines. Uses
have no say, except for names that nothing defines; registers, which are written more than once, go by majority.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tritonscope.ir.dialects import hint_of
from tritonscope.ir.values import Side

__all__ = ["Binding", "best_in_order", "bind", "definitions"]

_MOST_CELLS = 10_000


@dataclass
class Binding:
    """Which value of the right each value of the left is, and the reverse: two halves of one one-to-one map."""

    forward: dict[int, int] = field(default_factory=dict)
    backward: dict[int, int] = field(default_factory=dict)

    def add(self, a: int, b: int) -> None:
        """Make `b` the value that `a` is, unless either is another one already."""
        if a not in self.forward and b not in self.backward:
            self.forward[a] = b
            self.backward[b] = a

    def agrees(self, left: Sequence[int], right: Sequence[int]) -> bool:
        """Whether these values, in this order, are each other's."""
        get = self.forward.get
        return len(left) == len(right) and all(get(a) == b for a, b in zip(left, right, strict=True))


def bind(left: Side, right: Side, pairs: Mapping[int, int], ssa: bool) -> Binding:
    """The renaming that the definitions in `pairs` of lines make."""
    binding = Binding()
    if ssa:
        for a, b in sorted(pairs.items()):
            if not (left.results[a] or left.inner[a]) or not (right.results[b] or right.inner[b]):
                continue
            for value, other in definitions(left, a, right, b, binding):
                binding.add(value, other)
    else:
        votes: Counter[tuple[int, int]] = Counter()
        for a, b in pairs.items():
            votes.update(zip(left.results[a], right.results[b], strict=False))
            if left.strict[a] == right.strict[b]:
                votes.update(zip(left.results[a], right.results[b], strict=False))
        for (value, other), _ in votes.most_common():
            binding.add(value, other)
    for a, b in pairs.items():
        if left.loose[a] == right.loose[b]:
            for value, other in zip(left.ids[a], right.ids[b], strict=True):
                if not left.defined[value] and not right.defined[other]:
                    binding.add(value, other)
    return binding


def definitions(left: Side, a: int, right: Side, b: int, binding: Binding) -> Iterator[tuple[int, int]]:
    """What line `a` defines beside what line `b` defines."""
    inner_a, inner_b = left.inner[a], right.inner[b]
    inner: list[tuple[int, int]] = []
    if inner_a and inner_b:
        inner = _match(left, a, right, b, binding)
        yield from ((inner_a[i], inner_b[k]) for i, k in inner)
    results_a, results_b = left.results[a], right.results[b]
    if len(results_a) != len(results_b) and left.tokens[a].template[:1] != "^":
        return
    for value, other in zip(results_a, results_b, strict=False):
        parts_a, parts_b = left.several.get(value, ()), right.several.get(other, ())
        if bool(parts_a) == bool(parts_b):
            yield value, other
        if len(parts_a) == len(parts_b):
            yield from zip(parts_a, parts_b, strict=True)
        elif len(results_a) == 1:
            elements_a, elements_b = parts_a or (value,), parts_b or (other,)
            if len(elements_a) == len(inner_a) - 1 and len(elements_b) == len(inner_b) - 1:
                # A loop that gained or lost carried values: its results follow them.
                yield from ((elements_a[i - 1], elements_b[k - 1]) for i, k in inner if i and k)


def _match(left: Side, a: int, right: Side, b: int, binding: Binding) -> list[tuple[int, int]]:
    """Which of the values that line `a` hands into its region is which of line `b`'s, by position.

    In order, by the values they start from and by their hints.
    """
    inner_a, inner_b = left.inner[a], right.inner[b]
    if len(inner_a) * len(inner_b) > _MOST_CELLS:
        return [(i, i) for i in range(min(len(inner_a), len(inner_b)))]
    rows, columns = _starts(left, a), _starts(right, b)
    scores = [
        [
            1 + 8 * (first_a >= 0 and binding.forward.get(first_a) == first_b) + 4 * (hint_a == hint_b)
            for first_b, hint_b in columns
        ]
        for first_a, hint_a in rows
    ]
    if len(inner_a) == len(inner_b) and all(scores[i][i] >= 5 for i in range(len(inner_a))):
        return [(i, i) for i in range(len(inner_a))]
    return best_in_order(scores)


def _starts(side: Side, at: int) -> list[tuple[int, str]]:
    ids, own = side.ids[at], set(side.inner[at])
    return [
        (
            ids[index + 1] if index + 1 < len(ids) and ids[index + 1] not in own else -1,
            hint_of(side.name_of[ids[index]]),
        )
        for index in side.tokens[at].inner
    ]


def best_in_order(scores: list[list[int]]) -> list[tuple[int, int]]:
    """The pairs of row and column, in order, whose scores add up to the most. Quadratic: for small tables."""
    rows, columns = len(scores), len(scores[0])
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        row, below, of_row = best[i], best[i + 1], scores[i]
        for k in range(columns - 1, -1, -1):
            most = below[k] if below[k] > row[k + 1] else row[k + 1]
            with_pair = below[k + 1] + of_row[k]
            row[k] = with_pair if of_row[k] and with_pair >= most else most
    pairs = []
    i = k = 0
    while i < rows and k < columns:
        if scores[i][k] and best[i][k] == best[i + 1][k + 1] + scores[i][k]:
            pairs.append((i, k))
            i, k = i + 1, k + 1
        elif best[i][k] == best[i + 1][k]:
            i += 1
        else:
            k += 1
    return pairs
