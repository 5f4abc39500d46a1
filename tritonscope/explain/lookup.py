"""From what a user types, or a line of a dump, to what it means.

A name is looked up as it stands, then in other cases and spellings, then by its longest known beginning
(`ld.global.v4.b32` by `ld.global`); a line is looked up by its first operation. What is recognised of the rest of a
name, or of a layout's definition, is added to the text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import prod

from tritonscope.explain.tables import Entry, Explanation, entries

__all__ = ["close_matches", "explain", "explain_all"]

#: Longer texts are cut: no name is as long, and of a line only the beginning counts.
_LONGEST = 4000
_LONGEST_NAME = 120

#: The name that matched, of those that the entry has.
Match = tuple[str, Entry]

_FILE = re.compile(r"(?:\d+(?:\.\d+)*-)?(.*?)(?:\.before)?\.(?:mlir|ll)(?:\.zst)?")
_RUN = re.compile(r"(.+)#\d+")
_NUMBERED_ALIAS = re.compile(r"([#!][A-Za-z_]+)\d+")
_PASS_NAME = re.compile(r"[a-z0-9-]+")
_AMDGCN = re.compile(r"(?:v|s|ds|buffer|global|flat|scratch|tensor)_\w+")
#: Dialects with more operations than are listed one by one: there, what begins right is no misspelling.
_OPEN = ("llvm", "nvvm", "rocdl")

_DEFINITION = re.compile(r"[#!][A-Za-z_]\w*\s*=\s*(?=[#!])")
_RESULTS = re.compile(r"%[^=]{0,1000}?\s=\s+")
# What may stand before an instruction: addresses, braces, predicates.
_BEFORE = re.compile(r"(?:/\*[0-9a-fA-F]+\*/|[\s{(]|@!?(?:U?P(?:\d+|T)|%\w+)(?=\s))+")
_INTRINSIC = re.compile(r"@(llvm\.[\w.]+)")
_WORD = re.compile(r'"?([#!@]?[A-Za-z_][\w.$:*-]*)')
_TILE = re.compile(r"m?(\d+)[xn](\d+)[xk](\d+)", re.ASCII)
_LIST = r"{} = \[([\d, ]{{1,60}})\]"


def explain(name: str) -> Explanation | None:
    """What `name`, or the first operation of a line, means; the first where it means several things."""
    found = explain_all(name)
    return found[0] if found else None


def explain_all(name: str) -> list[Explanation]:
    """Everything that `name`, or the first operation of a line, means: `inline` is a pass, `add` is in PTX and LLVM IR.

    >>> [each.name for each in explain_all("ld.global.v4.b32")]
    ['ld.global']
    """
    text = next((line.strip() for line in name[:_LONGEST].splitlines() if line.strip()), "")
    if not text:
        return []
    if not any(character.isspace() for character in text):
        found = _by_name(text)
        if found:
            return [_explanation(each, text) for each in found]
    return _by_line(text)


def close_matches(name: str) -> list[str]:
    """Up to three names that `name` may be a misspelling of, the likeliest first."""
    import difflib

    text = name.strip()
    word = (_WORD.search(_RESULTS.sub("", text[:_LONGEST], count=1)) or [text, text])[1]
    spelled = {each.lower(): each for entry in entries() for each in entry.names}
    near = difflib.get_close_matches(word[:_LONGEST_NAME].lower(), spelled, n=3, cutoff=0.65)
    return [spelled[each] for each in near]


# -- names


@cache
def _exact() -> Mapping[str, list[Match]]:
    index: dict[str, list[Match]] = {}
    for entry in entries():
        for name in entry.names:
            index.setdefault(name, []).append((name, entry))
    return index


@cache
def _lowered() -> Mapping[str, list[Match]]:
    return _merged((name.lower(), matches) for name, matches in _exact().items())


@cache
def _squashed() -> Mapping[str, list[Match]]:
    """Passes and steps by their letters and digits alone, as class names have them."""
    return _merged(
        (_squash(name), [match])
        for name, matches in _exact().items()
        for match in matches
        if match[1].kind in ("pass", "step")
    )


def _merged(items: Iterable[tuple[str, list[Match]]]) -> Mapping[str, list[Match]]:
    index: dict[str, list[Match]] = {}
    for key, matches in items:
        index.setdefault(key, []).extend(matches)
    return index


def _squash(name: str) -> str:
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    return letters.removesuffix("pass") or letters


def _by_name(text: str) -> list[Match]:
    """What a word means, whatever is attached to it."""
    for spelling in _spellings(text[:_LONGEST]):
        found = _exact().get(spelling) or _lowered().get(spelling.lower()) or []
        found = [*found, *_exact().get(f"llvm.{spelling}", ())]  # in LLVM IR, opcodes have no dialect
        if found:
            return found
    for spelling in reversed(list(_spellings(text[:_LONGEST_NAME]))):
        found = (
            _squashed().get(_squash(spelling), [])
            or _ending(spelling.lower())
            or _beginning(spelling)
            or _beginning(spelling.lower())
            or _beginning(spelling.upper())
            or _instruction(spelling.lower())
        )
        if found:
            return found
    return []


def _spellings(text: str) -> Iterator[str]:
    yield text
    text = text.strip("\"'`,;()[]").rstrip(":=")
    text = text.partition("<")[0]  # of a type or layout, what its parameters belong to
    if text.endswith("}") and "{" in text:  # a pass with its options
        text = text[: text.index("{")]
    if text.startswith("@llvm."):
        text = text[1:]
    yield text
    if match := _FILE.fullmatch(text):
        yield match[1]
        text = match[1]
    if match := _RUN.fullmatch(text):
        yield match[1]
    if match := _NUMBERED_ALIAS.fullmatch(text):
        yield match[1]
    for prefix, dialect in (("llvm.nvvm.", "nvvm."), ("llvm.amdgcn.", "rocdl.")):
        if text.startswith(prefix):
            yield dialect + text.removeprefix(prefix)


def _ending(name: str) -> list[Match]:
    """Passes whose name ends in `name`, as in `--pass coalesce`."""
    if not _PASS_NAME.fullmatch(name) or len(name) < 3:
        return []
    return [
        match
        for known, matches in _exact().items()
        if known.endswith("-" + name)
        for match in matches
        if match[1].kind == "pass"
    ]


def _beginning(name: str) -> list[Match]:
    """By the longest beginning of a dotted name that is explained."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        start = ".".join(parts[:count])
        found = [match for match in _exact().get(start, ()) if match[1].kind in ("operation", "ptx", "sass")]
        if found:
            dialect = count == 1 and found[0][1].kind == "operation" and start not in _OPEN
            return [] if dialect and _is_misspelt(name, start + ".") else found
    return []


def _instruction(name: str) -> list[Match]:
    """By the longest beginning of an AMD instruction that is explained."""
    if not _AMDGCN.fullmatch(name):
        return []
    known = [each for entry in entries() if entry.kind == "amdgcn" for each in entry.names if name.startswith(each)]
    for start in sorted(known, key=len, reverse=True):
        rest = name[len(start) :]
        if start in ("v_", "s_"):
            return [] if _is_misspelt(name, start) else _exact()[start + "*"]
        if not rest or rest[0] in "_0123456789":
            return _exact()[start]
    return []


def _is_misspelt(name: str, start: str) -> bool:
    import difflib

    others = [each for each in _exact() if each.startswith(start)]
    return bool(difflib.get_close_matches(name, others, n=1, cutoff=0.85))


# -- lines


def _by_line(line: str) -> list[Explanation]:
    line = _DEFINITION.sub("", line, count=1)
    rest = _BEFORE.sub("", line, count=1) if _BEFORE.match(line) else line
    assigns = _RESULTS.match(rest)
    if assigns:
        rest = rest[assigns.end() :]
    word = _WORD.match(rest)
    if word is None:
        return []
    found: list[Match] = []
    if word[1] in ("call", "tail", "declare", "invoke") and (intrinsic := _INTRINSIC.search(rest)):
        found = _by_name(intrinsic[1])
    found = found or _by_name(word[1])
    if assigns:
        found = [each for each in found if each[1].kind == "operation"] or found
    return [_explanation(each, word[1], rest) for each in found]


# -- what is said of this very name


def _explanation(match: Match, asked: str, definition: str = "") -> Explanation:
    name, entry = match
    shown = entry.names[0] if entry.kind in ("layout", "stage") else name
    details = list(_details(entry, name, asked, definition or asked))
    written = f" As written: {'; '.join(details)}." if details else ""
    return Explanation(shown, entry.kind, entry.text + written, entry.see_also)


def _details(entry: Entry, name: str, asked: str, definition: str) -> Iterator[str]:
    if entry.kind in ("ptx", "sass", "amdgcn"):
        yield from _modifiers(entry.kind, name, asked.strip("\"'`,;"))
    elif entry.names[0] == "#ttg.blocked":
        yield from _tile(definition)


def _modifiers(kind: str, name: str, asked: str) -> Iterator[str]:
    from tritonscope.explain import amdgcn, ptx, sass

    known = {"ptx": ptx.MODIFIERS, "sass": sass.MODIFIERS, "amdgcn": amdgcn.MODIFIERS}[kind]
    separator = "_" if kind == "amdgcn" else "."
    sign = "" if kind == "amdgcn" else "."
    for part in asked[len(name) :].split(separator):
        part = part.upper() if kind == "sass" else part.lower()
        tile = _TILE.fullmatch(part.lower())
        if tile:
            yield f"{sign}{part.lower()} is a tile with M = {tile[1]}, N = {tile[2]}, K = {tile[3]}"
        elif part in known:
            yield f"{sign}{part} {known[part]}"


def _tile(definition: str) -> Iterator[str]:
    """How much the threads, warps and CTA of a blocked layout's definition cover."""
    found = [re.search(_LIST.format(key), definition) for key in ("sizePerThread", "threadsPerWarp", "warpsPerCTA")]
    sizes = [[int(number) for number in each[1].split(",") if number.strip()] for each in found if each]
    if len(sizes) != 3 or len({len(each) for each in sizes}) != 1 or max(map(max, sizes)) > 1 << 20:
        return
    thread, lanes, warps = sizes
    warp = [a * b for a, b in zip(thread, lanes, strict=True)]
    cta = [a * b for a, b in zip(warp, warps, strict=True)]
    yield (
        f"each thread holds {prod(thread)} neighbouring element{'s' * (prod(thread) != 1)}, "
        f"a warp covers {_by(warp)} and the CTA {_by(cta)} before the pattern repeats"
    )


def _by(shape: list[int]) -> str:
    return " x ".join(map(str, shape))
