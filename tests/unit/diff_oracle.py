"""Checks of a diff that share no code with it, and random edits of real IR for it to find."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tritonscope.ir.diff import Diff, Line

__all__ = ["EDITS", "KINDS", "check", "disguise", "read", "texts"]

_FOLDER = Path(__file__).parent.parent / "data" / "ir"
_SUFFIXES = {"ttir": "mlir", "ttgir": "mlir", "mlir": "mlir", "ll": "llir"}
KINDS = ("mlir", "llir", "ptx", "sass", "amdgcn")

_STRING = r'"(?:[^"\\]|\\.)*"'
_NAMES = {
    "mlir": rf"{_STRING}|(?P<name>%[\w.$-]+(?:#\d+)?|\^[\w.$-]+|#[A-Za-z_]\w*(?![\w.]))",
    "llir": rf"{_STRING}|^(?P<label>[\w.$-]+)(?=:)|(?P<name>%[\w.$-]+|!\d+|#\d+)",
    "ptx": rf"{_STRING}|(?P<name>%[a-z][a-z]?\d+\b|%bb\.\d+|BB\d+_\d+|\$L__(?!BB)\w+)",
    "sass": rf"{_STRING}|(?P<name>/\*[0-9a-f]{{4,}}\*/|\.L_\w+)",
    "amdgcn": rf"{_STRING}|(?P<name>%bb\.\d+|BB\d+_\d+|\.L(?!BB)\w+)",
}
_PATTERNS = {kind: re.compile(pattern, re.MULTILINE) for kind, pattern in _NAMES.items()}


def read(name: str) -> tuple[str, str]:
    """The text of a fixture and its kind."""
    suffix = name.rpartition(".")[2]
    return (_FOLDER / name).read_text(), _SUFFIXES.get(suffix, suffix)


def texts() -> list[str]:
    """The names of the fixtures that have no locations."""
    return sorted(path.name for path in _FOLDER.iterdir() if ".located." not in path.name)


def rename(text: str, kind: str, new_name: Callable[[str], str]) -> str:
    """`text` with each name replaced; a label of LLVM IR counts as the name with its sigil."""

    def replaced(match: "re.Match[str]") -> str:
        if match.groupdict().get("label"):
            return new_name(f"%{match['label']}")[1:]
        return new_name(match["name"]) if match["name"] else match[0]

    return _PATTERNS[kind].sub(replaced, text)


def check(diff: Diff, left: str, right: str) -> None:
    """Assert all that a diff promises, line by line."""
    old, new = left.splitlines(), right.splitlines()
    on_left = [(line.left, line.left_text) for line in diff.lines if line.left is not None]
    on_right = [(line.right, line.right_text) for line in diff.lines if line.right is not None]
    assert on_left == list(enumerate(old, 1)), "the old text cannot be put together from the diff"
    assert on_right == list(enumerate(new, 1)), "the new text cannot be put together from the diff"
    lefts = [(scope.first, scope.last, name) for scope in diff.renaming for name in scope.names]
    rights = [(scope.right_first, scope.right_last, name) for scope in diff.renaming for name in scope.names.values()]
    assert len(set(lefts)) == len(lefts), "one name became two"
    assert len(set(rights)) == len(rights), "two names became one"
    for line in diff.lines:
        _check_marks(line)
    for at, pair in _same(diff):
        renamed = rename(old[at - 1], diff.kind, lambda name, at=at: _lookup(diff, at, name))  # type: ignore[misc]
        assert renamed.split() == new[pair - 1].split(), f"lines {at} and {pair} are not the same under the renaming"
    for line in diff.lines:
        if line.kind == "unchanged":
            assert line.left_text.split() == line.right_text.split()
    assert (diff.stat.unchanged + diff.stat.renamed == len(old) == len(new)) == (not diff.stat.differs)


def _same(diff: Diff) -> Iterator[tuple[int, int]]:
    for line in diff.lines:
        if line.kind in ("unchanged", "renamed", "moved") and line.left is not None:
            pair = line.right if line.right is not None else line.other
            assert pair is not None
            yield line.left, pair


def _lookup(diff: Diff, at: int, name: str) -> str:
    inner_first = sorted(
        (scope for scope in diff.renaming if scope.first <= at <= scope.last),
        key=lambda scope: (scope.last - scope.first, -scope.first),
    )
    return next((scope.names[name] for scope in inner_first if name in scope.names), name)


def _check_marks(line: Line) -> None:
    for text, marks in ((line.left_text, line.marks[0]), (line.right_text, line.marks[1])):
        assert all(0 <= start < end <= len(text) for start, end in marks)
        assert list(marks) == sorted(marks)
    if line.kind in ("changed", "layout"):
        assert line.marks[0] or line.marks[1], f"nothing is marked in {line.left_text!r}"
    else:
        assert not line.marks[0]
        assert not line.marks[1]


def disguise(text: str, kind: str, chance: random.Random) -> str:
    """`text` under other names, one for one, with other indentation and its definitions of aliases shuffled."""
    new_names = _new_names(text, kind, chance)
    lines = rename(text, kind, lambda name: new_names(name)).split("\n")
    if kind == "mlir":
        count = sum(line.startswith("#") for line in lines)
        head = lines[:count]
        chance.shuffle(head)
        lines[:count] = head
        lines[count:] = [" " * chance.randrange(5) + line.lstrip() if line else "" for line in lines[count:]]
    return "\n".join(lines)


def _new_names(text: str, kind: str, chance: random.Random) -> Callable[[str], str]:
    names = list(dict.fromkeys(_all_names(text, kind)))
    numbers = chance.sample(range(100, 100 + 3 * len(names)), len(names))
    table = {}
    for name, number in zip(names, numbers, strict=True):
        if kind == "sass" and name.startswith("/*"):
            table[name] = f"/*{number * 16:04x}*/"
        elif kind in ("sass", "amdgcn") and name.startswith(".L"):
            table[name] = f".L_x_{number}" if kind == "sass" else f".Lfunc_begin{number}"
        elif name.startswith("$L__"):
            table[name] = f"$L__tmp{number}"
        elif name.startswith("BB"):
            table[name] = f"BB0_{number}"
        elif kind in ("ptx", "amdgcn"):
            table[name] = name.rstrip("0123456789") + str(number)
        elif name[0] in "!#" and kind == "llir":
            table[name] = f"{name[0]}{number}"
        else:
            table[name] = f"{name[0]}{chance.choice(('n', 'value_'))}{number}"

    def new_name(name: str) -> str:
        base, mark, index = name.partition("#") if name[0] == "%" else (name, "", "")
        return table[base] + mark + index

    return new_name


def _all_names(text: str, kind: str) -> Iterator[str]:
    for line in text.split("\n"):
        for match in _PATTERNS[kind].finditer(line):
            if match.groupdict().get("label"):
                yield f"%{match['label']}"
            elif match["name"]:
                yield match["name"].partition("#")[0] if match["name"][0] == "%" else match["name"]


_NUMBER = re.compile(r"(?<![\w.%#^!$@-])(\d+)(?![\w.>])")
_TYPE = re.compile(r"(?<![\w%#@.])(i32|f32|i64|f16|b32|u32|b64|s32)(?!\w)")
_OPERANDS = re.compile(r"(%[\w.$#-]+), (%[\w.$#-]+)")
_NO_EDIT = re.compile(r"\s*(?:[#!}/;.]|\^|//|attributes|$)|.*(?:\{|:)$|.*; preds")


def _editable(line: str) -> bool:
    return not _NO_EDIT.match(line)


def _delete(lines: list[str], at: int, chance: random.Random) -> bool:
    del lines[at]
    return True


def _insert(lines: list[str], at: int, chance: random.Random) -> bool:
    lines.insert(
        at, re.sub(r"^(\s*)%[\w.$-]+(?=[: ])", r"\1%inserted_here", lines[chance.randrange(len(lines))] or "x")
    )
    return True


def _edit_constant(lines: list[str], at: int, chance: random.Random) -> bool:
    return _substitute(lines, at, chance, _NUMBER, lambda match: str(int(match[1]) + 7))


def _edit_type(lines: list[str], at: int, chance: random.Random) -> bool:
    return _substitute(lines, at, chance, _TYPE, lambda match: match[1] + "0")


def _swap_operands(lines: list[str], at: int, chance: random.Random) -> bool:
    head, equals, rest = lines[at].rpartition(" = ")
    found = [match for match in _OPERANDS.finditer(rest) if match[1] != match[2]]
    if not found:
        return False
    match = chance.choice(found)
    lines[at] = f"{head}{equals}{rest[: match.start()]}{match[2]}, {match[1]}{rest[match.end() :]}"
    return True


def _substitute(
    lines: list[str],
    at: int,
    chance: random.Random,
    pattern: "re.Pattern[str]",
    new: Callable[["re.Match[str]"], str],
) -> bool:
    outside = re.sub(_STRING, lambda match: "_" * len(match[0]), lines[at])
    found = list(pattern.finditer(outside))
    if not found:
        return False
    match = chance.choice(found)
    lines[at] = lines[at][: match.start()] + new(match) + lines[at][match.end() :]
    return True


#: Edits that change what a text means: each takes the lines, one to edit and a source of chance, and says if it did.
EDITS: dict[str, Callable[[list[str], int, random.Random], bool]] = {
    "delete": _delete,
    "insert": _insert,
    "constant": _edit_constant,
    "type": _edit_type,
    "swap": _swap_operands,
}


def edit(text: str, what: str, chance: random.Random) -> str | None:
    """`text` with one edit at random, None where there is nothing to edit so."""
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if _editable(line)]
    for at in chance.sample(places, len(places)):
        if EDITS[what](lines, at, chance):
            return "\n".join(lines)
    return None
