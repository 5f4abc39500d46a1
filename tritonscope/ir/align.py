"""Aligning two sequences by keys, coarser and coarser, without ever being quadratic.

Patience: what occurs once on both sides, in the longest run of such pairs that cross nothing, holds the alignment;
between two of them the same is tried again. What is left between them is tried with the next coarser key.
"""

from bisect import bisect_left
from collections.abc import Sequence

__all__ = ["Gap", "align"]

#: Lines `[a0, a1)` on the left that face lines `[b0, b1)` on the right.
Gap = tuple[int, int, int, int]

_ROUNDS = 6


def align(
    levels: Sequence[tuple[Sequence[int], Sequence[int]]], left: int, right: int
) -> tuple[dict[int, int], list[Gap]]:
    """Pairs of equal lines in order, and the gaps between them where lines face each other.

    `levels` are keys of all lines, left and right, the finest first.
    """
    pairs: dict[int, int] = {}
    gaps: list[Gap] = [(0, left, 0, right)]
    for keys_a, keys_b in levels:
        gaps = [rest for gap in gaps for rest in _fill(keys_a, keys_b, gap, pairs)]
    return pairs, gaps


def _fill(keys_a: Sequence[int], keys_b: Sequence[int], gap: Gap, pairs: dict[int, int]) -> list[Gap]:
    """Pair what can be paired in `gap` by these keys; the gaps that are left."""
    waiting: list[tuple[int, int, int, int, int]] = [(*gap, 0)]
    left: list[Gap] = []
    while waiting:
        a0, a1, b0, b1, depth = waiting.pop()
        while a0 < a1 and b0 < b1 and keys_a[a0] == keys_b[b0]:
            pairs[a0] = b0
            a0 += 1
            b0 += 1
        while a0 < a1 and b0 < b1 and keys_a[a1 - 1] == keys_b[b1 - 1]:
            a1 -= 1
            b1 -= 1
            pairs[a1] = b1
        if a0 == a1 or b0 == b1:
            continue
        anchors = _anchors(keys_a, keys_b, (a0, a1, b0, b1), depth) if depth < _ROUNDS else []
        if not anchors:
            left.append((a0, a1, b0, b1))
            continue
        for a, b in anchors:
            pairs[a] = b
            if a > a0 and b > b0:
                waiting.append((a0, a, b0, b, depth + 1))
            a0, b0 = a + 1, b + 1
        if a0 < a1 and b0 < b1:
            waiting.append((a0, a1, b0, b1, depth + 1))
    left.sort()
    return left


def _anchors(keys_a: Sequence[int], keys_b: Sequence[int], gap: Gap, depth: int) -> list[tuple[int, int]]:
    """Pairs of equal keys that cross nothing: of keys that occur once on both sides, or else equally often."""
    a0, a1, b0, b1 = gap
    places_a: dict[int, list[int]] = {}
    places_b: dict[int, list[int]] = {}
    for a in range(a0, a1):
        places_a.setdefault(keys_a[a], []).append(a)
    for b in range(b0, b1):
        places_b.setdefault(keys_b[b], []).append(b)
    unique: list[tuple[int, int]] = []
    even: list[tuple[int, int]] = []
    for key, of_a in places_a.items():
        of_b = places_b.get(key)
        if of_b and len(of_a) == len(of_b):
            (unique if len(of_a) == 1 else even).extend(zip(of_a, of_b, strict=True))
    if not unique:
        unique = sorted(even)
    return longest_increasing(unique)


def longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of `pairs`, which are in the order of their first, whose seconds increase too."""
    tails: list[int] = []
    at_tail: list[int] = []
    before: list[int] = []
    for i, (_, b) in enumerate(pairs):
        place = bisect_left(tails, b)
        if place == len(tails):
            tails.append(b)
            at_tail.append(i)
        else:
            tails[place] = b
            at_tail[place] = i
        before.append(at_tail[place - 1] if place else -1)
    chosen = []
    i = at_tail[-1] if at_tail else -1
    while i >= 0:
        chosen.append(pairs[i])
        i = before[i]
    chosen.reverse()
    return chosen
