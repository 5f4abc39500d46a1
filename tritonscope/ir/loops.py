"""The loops of machine code, found in its branches: natural loops of the control-flow graph. Standard library only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonscope.ir.instructions import Code, Instruction

__all__ = ["Loop", "find_loops"]


_MOST_BRANCHES_BACK = 1000


@dataclass(frozen=True)
class Loop:
    """A loop: `label` where it begins ("" for none), and its `body`, indices of its instructions in order.

    `head` is the index of the one that it begins with, which need not be the first; `depth` is 1 for an outermost
    loop; `inner` says whether no loop lies within it.
    """

    label: str
    body: tuple[int, ...]
    head: int
    depth: int
    inner: bool


@dataclass(frozen=True)
class _Block:
    """A run of instructions, `start` to before `end`, and the blocks that may come after it."""

    start: int
    end: int
    after: tuple[int, ...]


def find_loops(code: Code) -> list[Loop]:
    """The loops of `code`, in the order in which they begin.

    A branch of an instruction to itself is none: it is what assemblers put behind a kernel's end. Where a loop is
    entered in several places, as compilers hardly ever write it, it is left out; so are all of them in a text with
    more branches back than any compiler writes.
    """
    back = sum(each.target is not None and each.target <= at for at, each in enumerate(code.instructions))
    if not 0 < back <= _MOST_BRANCHES_BACK:
        return []
    blocks = _blocks(code.instructions)
    before: list[list[int]] = [[] for _ in blocks]
    for index, block in enumerate(blocks):
        for successor in block.after:
            before[successor].append(index)
    dominators = _Dominators(blocks, before)
    bodies: dict[int, set[int]] = {}
    for index, block in enumerate(blocks):
        for head in block.after:
            if dominators.of(head, index) and not _is_trap(blocks[head], index == head):
                bodies.setdefault(head, {head}).update(_reaching(index, head, before))
    labels = {index: name for name, index in reversed(code.labels)}
    return [_loop(head, bodies, blocks, labels) for head in sorted(bodies)]


def _loop(head: int, bodies: dict[int, set[int]], blocks: Sequence[_Block], labels: dict[int, str]) -> Loop:
    own = bodies[head]
    return Loop(
        labels.get(blocks[head].start, ""),
        tuple(at for index in sorted(own) for at in range(blocks[index].start, blocks[index].end)),
        blocks[head].start,
        sum(head in body for body in bodies.values()),
        not any(other != head and other in own for other in bodies),
    )


def _blocks(instructions: Sequence[Instruction]) -> list[_Block]:
    starts = {0}
    for at, instruction in enumerate(instructions):
        if instruction.target is not None:
            starts.add(instruction.target)
        if (instruction.target is not None or not instruction.goes_on) and at + 1 < len(instructions):
            starts.add(at + 1)
    ordered = sorted(starts)
    number = {start: index for index, start in enumerate(ordered)}
    blocks = []
    for start, end in zip(ordered, [*ordered[1:], len(instructions)], strict=True):
        last = instructions[end - 1]
        after = {number[end]} if last.goes_on and end in number else set()
        if last.target is not None:
            after.add(number[last.target])
        blocks.append(_Block(start, end, tuple(sorted(after))))
    return blocks


class _Dominators:
    """Which block lies on every way to which; by Cooper, Harvey and Kennedy's algorithm."""

    def __init__(self, blocks: Sequence[_Block], before: Sequence[Sequence[int]]) -> None:
        self._root = len(blocks)
        # What nothing leads to is an entry too: the kernel, functions that it calls, targets of indirect branches.
        entries = [index for index, found in enumerate(before) if not found]
        order = _reverse_postorder(blocks, entries or [0])
        self._place = {index: place for place, index in enumerate([self._root, *order])}
        self._nearest: dict[int, int] = {self._root: self._root}
        into = {
            index: [*before[index], *([self._root] if index in set(entries) or index == 0 else [])] for index in order
        }
        changed = True
        while changed:
            changed = False
            for index in order:
                known = [other for other in into[index] if other in self._nearest]
                if not known:
                    continue
                nearest = known[0]
                for other in known[1:]:
                    nearest = self._common(nearest, other)
                if self._nearest.get(index) != nearest:
                    self._nearest[index] = nearest
                    changed = True

    def of(self, dominator: int, index: int) -> bool:
        """Whether `dominator` lies on every way to `index`."""
        while index in self._nearest and index not in (dominator, self._root):
            index = self._nearest[index]
        return index == dominator

    def _common(self, one: int, other: int) -> int:
        while one != other:
            if self._place[one] > self._place[other]:
                one = self._nearest[one]
            else:
                other = self._nearest[other]
        return one


def _reverse_postorder(blocks: Sequence[_Block], entries: Sequence[int]) -> list[int]:
    done: list[int] = []
    seen: set[int] = set()
    for entry in reversed(entries):
        if entry in seen:
            continue
        seen.add(entry)
        waiting: list[tuple[int, Iterator[int]]] = [(entry, iter(blocks[entry].after))]
        while waiting:
            index, successors = waiting[-1]
            following = next((other for other in successors if other not in seen), None)
            if following is None:
                done.append(index)
                waiting.pop()
            else:
                seen.add(following)
                waiting.append((following, iter(blocks[following].after)))
    return done[::-1]


def _reaching(tail: int, head: int, before: Sequence[Sequence[int]]) -> set[int]:
    """The blocks from which `tail` is reached without passing `head`."""
    found = {tail}
    waiting = [tail] if tail != head else []
    while waiting:
        for index in before[waiting.pop()]:
            if index != head and index not in found:
                found.add(index)
                waiting.append(index)
    return found


def _is_trap(block: _Block, to_itself: bool) -> bool:
    return to_itself and block.end - block.start == 1
