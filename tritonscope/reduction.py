"""Makes MLIR smaller while it still does what it is kept for: every step is tried before it is taken.

Nothing here knows what an operation means. A step that makes no sense does not parse, and so is not taken.
"""

import re
from collections.abc import Callable, Iterator

from tritonscope.ir.outline import Operation, names_in, outline, walk

__all__ = ["reduce"]

_TERMINATOR = re.compile(
    r"\s*(?:[\w.]*\.(?:yield|return|condition|warp_yield|warp_return)|(?:cf|llvm)\.(?:cond_)?br)\b"
)
_ATTRIBUTES = re.compile(r" ?(?:attributes )?(?<![<\w])\{[^{}\n]*\}")
_ITERATED = re.compile(r"iter_args\((?P<pairs>[^)]*)\)")
_PAIR = re.compile(r"(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?)")
_USE = r"(?<![\w$.-]){name}(?:#(?P<number>\d+))?(?![\w$.#-])"
_OPERAND = re.compile(r"%[\w$.-]+(?:#\d+)?")
_FUNCTION = re.compile(
    r"(?P<head>\s*(?:tt|llvm|func)\.func [^(]*\()(?P<arguments>.*?)(?P<tail>\)(?: ->.*| attributes.*)? \{)"
)
_MOST_STAND_INS = 6

Lines = list[str]


def reduce(text: str, still: Callable[[str], bool], on_progress: Callable[[str], None] = lambda text: None) -> str:
    """The smallest text that was found for which `still` says yes, as it did for `text`.

    `on_progress` is given each better text as it is found; what it was last given is what an interruption leaves.
    """
    best = text.split("\n")
    tried: set[str] = set()

    def better(candidate: Lines) -> bool:
        nonlocal best
        joined = "\n".join(candidate)
        if joined in tried or candidate == best:
            return False
        tried.add(joined)
        if not still(joined):
            return False
        best = candidate
        on_progress(joined)
        return True

    while True:
        before = best
        for shrink in (_without_operations, _without_values, _unwrapped, _without_attributes, _without_arguments):
            shrink(lambda: best, better)
        if best == before:
            return "\n".join(best)


Now = Callable[[], Lines]
Try = Callable[[Lines], bool]


# -- operations left out, together with what needs them


def _without_operations(now: Now, better: Try) -> None:
    """Leave out runs of neighbours, longer ones first, and of each length the last ones first: they are used least."""
    size = max((len(each) for each in _siblings(outline(now()))), default=0)
    while size:
        before: int | None = None
        while (before := _leave_out_one(now(), better, size, before)) is not None:
            pass
        size //= 2


def _leave_out_one(lines: Lines, better: Try, size: int, before: int | None) -> int | None:
    """Leave out the last run of `size` neighbours, of those that end before line `before`, that can be.

    Gives the line at which it began, None where none could be.
    """
    top = outline(lines)
    users = _users(lines, top)
    runs = [siblings[max(end - size, 0) : end] for siblings in _siblings(top) for end in range(len(siblings), 0, -size)]
    for run in sorted(runs, key=lambda each: each[-1].last, reverse=True):
        if before is not None and run[-1].last >= before:
            continue
        gone = _with_users(lines, run, users)
        if gone is not None and better(_left(lines, gone)):
            return run[0].first
    return None


def _siblings(top: list[Operation]) -> list[list[Operation]]:
    """The operations of each region, outer regions first."""
    return [each for each in [top, *(operation.inner for operation in walk(top))] if each]


def _users(lines: Lines, top: list[Operation]) -> dict[str, list[Operation]]:
    """The operations that name each value themselves."""
    found: dict[str, list[Operation]] = {}
    for operation in walk(top):
        for name in _heads(lines, operation):
            found.setdefault(name, []).append(operation)
    return found


def _with_users(lines: Lines, operations: list[Operation], users: dict[str, list[Operation]]) -> set[int] | None:
    """The numbers of the lines that go with `operations`: theirs, and of all that use their values.

    None where nothing would go, or a terminator would, which a region needs.
    """
    gone: set[int] = set()
    waiting = [each for each in operations if not _TERMINATOR.match(lines[each.first])]
    while waiting:
        operation = waiting.pop()
        if operation.first in gone:
            continue
        gone.update(range(operation.first, operation.last + 1))
        for user in (each for name in operation.results for each in users.get(name, ())):
            if user.first not in gone:
                if _TERMINATOR.match(lines[user.first]):
                    return None
                waiting.append(user)
    return gone or None


def _heads(lines: Lines, operation: Operation) -> set[str]:
    """The values that an operation itself names, and not those inside it."""
    return names_in(lines[operation.first]) | names_in(lines[operation.last]) - set(operation.results)


def _left(lines: Lines, gone: set[int]) -> Lines:
    return [line for number, line in enumerate(lines) if number not in gone]


# -- values that others stand in for


def _without_values(now: Now, better: Try) -> None:
    """Leave out an operation and let another value stand where its own did: an operand, or one of the same type."""
    number = len(now())
    while number > 0:
        number -= 1
        lines = now()
        operation = next((each for each in walk(outline(lines)) if each.first == number and each.results), None)
        if operation is None:
            continue
        for candidate in _stood_in_for(lines, operation):
            if better(candidate):
                break


def _stood_in_for(lines: Lines, operation: Operation) -> Iterator[Lines]:
    rest = _left(lines, set(range(operation.first, operation.last + 1)))
    start = lines[operation.first]
    if initial := _initial_values(start):
        yield _renamed(rest, operation.results[0], initial)
    if len(operation.results) != 1 or ":" in start.partition(" = ")[0]:
        return
    name = operation.results[0]
    wanted = _type(lines[operation.last])
    operands = _OPERAND.findall(start.partition(" = ")[2])
    alike = [
        each.results[0]
        for each in walk(outline(lines))
        if each.last < operation.first and len(each.results) == 1 and _type(lines[each.last]) == wanted
    ]
    for stand_in in list(dict.fromkeys([*operands, *reversed(alike)]))[:_MOST_STAND_INS]:
        if stand_in != name:
            yield _renamed(rest, name, [stand_in])
    if not re.search(r" = (?:ub\.poison|arith\.constant)\b", start):
        # A value that could be anything: what it was made of is then not needed any more.
        nothing = f"{start[: start.index('%')]}{name} = ub.poison : {wanted}"
        yield [*lines[: operation.first], nothing, *lines[operation.last + 1 :]]


def _initial_values(line: str) -> list[str]:
    """What a loop starts its results with."""
    match = _ITERATED.search(line)
    return [value for _, value in _PAIR.findall(match["pairs"])] if match else []


def _renamed(lines: Lines, name: str, values: list[str]) -> Lines:
    """`lines` with `name`, or "name#1", standing for the first, or second, of `values`."""
    use = re.compile(_USE.format(name=re.escape(name)))

    def value(match: "re.Match[str]") -> str:
        number = int(match["number"] or 0)
        return values[number] if number < len(values) else match[0]

    return [use.sub(value, line) if name in line else line for line in lines]


def _type(line: str) -> str:
    """What looks like the type of the result of an operation that ends with `line`."""
    return re.split(r" : | -> | to ", line)[-1].strip()


# -- regions without what is around them, and loops that carry nothing


def _unwrapped(now: Now, better: Try) -> None:
    number = len(now())
    while number > 0:
        number -= 1
        lines = now()
        operation = next((each for each in walk(outline(lines)) if each.first == number and each.inner), None)
        if operation is not None:
            any(better(candidate) for candidate in _without_region(lines, operation))


def _without_region(lines: Lines, operation: Operation) -> Iterator[Lines]:
    start, last = lines[operation.first], operation.inner[-1]
    if not _TERMINATOR.match(lines[last.first]):
        if ".if " in start or ".for " in start:
            yield _inlined(lines, operation, operation.last, [])
        return
    yielded = _OPERAND.findall(lines[last.first].partition(" : ")[0])
    pairs = match["pairs"] if (match := _ITERATED.search(start)) else ""
    carried = [name for name, _ in _PAIR.findall(pairs)]
    if carried and carried != yielded and len(carried) == len(yielded):
        line = lines[last.first]
        head, colon, types = line.partition(" : ")
        keyword = head[: head.index("%")] if "%" in head else head
        yield [*lines[: last.first], f"{keyword}{', '.join(carried)}{colon}{types}", *lines[last.first + 1 :]]
    if ".if " in start or ".for " in start:
        yield _inlined(lines, operation, last.first, yielded)


def _inlined(lines: Lines, operation: Operation, end: int, yielded: list[str]) -> Lines:
    """The first region of `operation`, up to line `end`, in its place; a loop's goes round once."""
    start = lines[operation.first]
    between = next((n for n in range(operation.first + 1, end) if lines[n].strip().startswith("} else")), end)
    body = lines[operation.first + 1 : between]
    if between < end and body:
        yielded, body = _OPERAND.findall(body[-1].partition(" : ")[0]), body[:-1]
    if loop := re.search(r"\.for (%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?) to", start):
        body = _renamed(body, loop[1], [loop[2]])
        yielded_by_name = dict(_PAIR.findall(match["pairs"])) if (match := _ITERATED.search(start)) else {}
        for name, value in yielded_by_name.items():
            body = _renamed(body, name, [value])
        yielded = [yielded_by_name.get(each, each) for each in yielded]
    after = lines[operation.last + 1 :]
    if operation.results:
        after = _renamed(after, operation.results[0], yielded)
    return [*lines[: operation.first], *body, *after]


# -- what is written beside operations


def _without_attributes(now: Now, better: Try) -> None:
    number = len(now())
    while number > 0:
        number -= 1
        for found in reversed(list(_ATTRIBUTES.finditer(now()[number])) if number < len(now()) else []):
            lines = now()
            line = lines[number]
            if better(_with_line(lines, number, line[: found.start()] + line[found.end() :])):
                continue
            entries = found[0].strip()[found[0].strip().index("{") + 1 : -1].split(", ")
            for entry in entries if len(entries) > 1 else ():
                shorter = found[0].replace(f"{entry}, ", "", 1).replace(f", {entry}", "", 1)
                if better(_with_line(now(), number, line[: found.start()] + shorter + line[found.end() :])):
                    break


def _with_line(lines: Lines, number: int, line: str) -> Lines:
    return [*lines[:number], line, *lines[number + 1 :]]


def _without_arguments(now: Now, better: Try) -> None:
    """Leave out arguments of functions, and definitions, that nothing uses."""
    for number in range(len(now())):
        match = _FUNCTION.fullmatch(now()[number])
        arguments = _arguments(match["arguments"]) if match else []
        for argument in reversed(arguments):
            lines = now()
            here = _FUNCTION.fullmatch(lines[number])
            assert here is not None
            left = [each for each in _arguments(here["arguments"]) if each != argument]
            better(_with_line(lines, number, f"{here['head']}{', '.join(left)}{here['tail']}"))
    number = len(now())
    while number > 0:
        number -= 1
        lines = now()
        if number < len(lines) and (not lines[number].strip() or lines[number].startswith(("#", "//"))):
            better(_left(lines, {number}))


def _arguments(text: str) -> list[str]:
    """The arguments of a function, apart at the commas that no bracket holds."""
    found, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "(<[{") - (character in ")>]}" and text[at - 1 : at + 1] != "->")
        if character == "," and not depth:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()] if text.strip() else []
