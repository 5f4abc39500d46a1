"""Two texts compared line by line as they stand, names and numbers included: what git would show."""

from tritonscope.ir import align
from tritonscope.ir.diff import Diff, Line, Stat

__all__ = ["raw_diff"]


def raw_diff(left: str, right: str, kind: str) -> Diff:
    """Lines that are the same to the letter are each other's; all others are removed or added."""
    a, b = left.split("\n"), right.split("\n")
    numbers: dict[str, int] = {}
    keys = [[numbers.setdefault(line, len(numbers)) for line in lines] for lines in (a, b)]
    pairs, _ = align.align([(keys[0], keys[1])], len(a), len(b))
    lines: list[Line] = []
    i = k = 0
    for pair_a, pair_b in [*sorted(pairs.items()), (len(a), len(b))]:
        lines += [Line("removed", at + 1, None, a[at], "") for at in range(i, pair_a)]
        lines += [Line("added", None, at + 1, "", b[at]) for at in range(k, pair_b)]
        if pair_a < len(a):
            lines.append(Line("unchanged", pair_a + 1, pair_b + 1, a[pair_a], b[pair_b]))
        i, k = pair_a + 1, pair_b + 1
    stat = Stat(unchanged=len(pairs), added=len(b) - len(pairs), removed=len(a) - len(pairs))
    return Diff(kind, tuple(lines), stat, ())
