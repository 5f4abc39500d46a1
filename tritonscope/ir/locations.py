"""Taking source locations out of IR text.

Everything here runs in time linear in the text, hostile text included: the child strips every snapshot to see whether
a pass changed anything, and snapshots of LLVM dialect have well over a megabyte.
"""

import re
from collections.abc import Callable

__all__ = ["kept_lines", "strip_debug", "strip_locations"]

_LOCATION = " loc("
_ALIASED = re.compile(r"#loc\d*\)")
_LOCATION_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[()\n]')
_LOCATION_DEFINITION = re.compile(r"#loc\d* = loc\(")
_DEBUG_ATTRIBUTE_DEFINITION = re.compile(r"#di_\w+ = ")

# After an instruction, and after the head of a function.
_LLVM_ATTACHMENTS = (", !dbg !", " !dbg !")
_METADATA_NUMBER = re.compile(r"\d+")
_METADATA_REFERENCE = re.compile(r"!(\d+)\b")
_METADATA_DEFINITION = re.compile(r"!(\d+) = ")

_PTX_DEBUG = re.compile(r"\s*(?:\.loc\s|\.file\s|\$L__tmp\d+:)")
_PTX_DEBUG_SECTION = re.compile(r"\s*\.section\s+\.debug_")
_GCN_DEBUG = re.compile(r"\s*(?:\.loc\s|\.file\s|\.Ltmp\d+:)")
_SECTION = re.compile(r"\s*\.(?:section\s|text\b|data\b)")
_GCN_DEBUG_SECTION = re.compile(r'\s*\.section\s+"?\.debug_')
_SASS_DEBUG = re.compile(r"\s*//## File ")


def strip_debug(text: str, kind: str) -> str:
    """`text` without what only a debugger reads; `kind` as `ir.kinds.kind_of` tells it, unknown ones pass unchanged.

    - "mlir": locations, see `strip_locations`.
    - "llir": `!dbg` attachments, `#dbg_` records, and the metadata that only they reach.
    - "ptx", "amdgcn": `.loc` and `.file`, their labels, and the debug sections.
    - "sass": the `//## File` comments.
    """
    strip = _STRIPPERS.get(kind)
    return strip(text) if strip else text


def kept_lines(text: str, kind: str) -> list[int]:
    """Which lines of `text`, from 0, those of `strip_debug(text, kind)` were."""
    if kind == "llir":
        text = _without_attachments(text)
    lines = text.split("\n")
    keep = _KEEPERS.get(kind)
    return keep(lines) if keep else list(range(len(lines)))


def strip_locations(text: str) -> str:
    """MLIR `text` without `loc(...)` after operations and block arguments, and without the lines that define `#loc`s.

    Definitions of debug attributes (`#di_file`) go too where nothing but locations used them. Strings that contain
    something like a location stay as they are.
    """
    stripped = _without(_without_lines(text, "#loc", _LOCATION_DEFINITION), _LOCATION, _end_of_location)
    if "#di_" not in stripped:
        return stripped
    without_attributes = _without_lines(stripped, "#di_", _DEBUG_ATTRIBUTE_DEFINITION)
    return stripped if "#di_" in without_attributes else without_attributes


def _kept_of_mlir(lines: list[str]) -> list[int]:
    last = len(lines) - 1
    kept = [at for at, line in enumerate(lines) if not _LOCATION_DEFINITION.match(line)]
    naming = [line for at in kept if "#di_" in (line := lines[at])]
    if naming and "#di_" not in strip_locations("\n".join(naming)):
        kept = [at for at in kept if not _DEBUG_ATTRIBUTE_DEFINITION.match(lines[at])]
    # A last line that goes leaves an empty one.
    return kept if kept and kept[-1] == last else [*kept, last]


def _without(text: str, marker: str, end_of: Callable[[str, int], int]) -> str:
    """`text` without every span that starts with `marker` outside a string.

    `end_of(text, start)` gives the end of the span whose marker starts at `start`, or -1 if the rest of that line
    holds none.
    """
    kept = []
    copied = scanned = 0
    in_string = False
    at = text.find(marker)
    while at >= 0:
        # Strings never span lines, and a quote inside one is printed as \22: counting quotes is enough.
        line = text.rfind("\n", scanned, at)
        if line >= 0:
            scanned, in_string = line, False
        if text.count('"', scanned, at) % 2:
            in_string = not in_string
        scanned = at
        if in_string:
            at = text.find(marker, at + 1)
            continue
        end = end_of(text, at)
        if end < 0:
            line = text.find("\n", at)
            at = text.find(marker, line) if line >= 0 else -1
            continue
        kept.append(text[copied:at])
        copied = scanned = end
        at = text.find(marker, end)
    kept.append(text[copied:])
    return "".join(kept)


def _end_of_location(text: str, start: int) -> int:
    body = start + len(_LOCATION)
    if match := _ALIASED.match(text, body):
        return match.end()
    depth = 1
    for token in _LOCATION_TOKEN.finditer(text, body):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
            if not depth:
                return token.end()
        elif token[0] == "\n":
            break
    return -1


def _without_lines(text: str, prefix: str, pattern: "re.Pattern[str]") -> str:
    """`text` without the lines that start with `prefix` and match `pattern`."""
    kept = []
    copied = 0
    at = 0 if text.startswith(prefix) else _next_line(text, prefix, 0)
    while at >= 0:
        end = text.find("\n", at) + 1 or len(text)
        if pattern.match(text, at):
            kept.append(text[copied:at])
            copied = end
        at = _next_line(text, prefix, end - 1)
    kept.append(text[copied:])
    return "".join(kept)


def _next_line(text: str, prefix: str, start: int) -> int:
    newline = text.find("\n" + prefix, start)
    return newline + 1 if newline >= 0 else -1


def _without_attachments(text: str) -> str:
    for attachment in _LLVM_ATTACHMENTS:
        text = _without(text, attachment, _end_of_attachment)
    return text


def _kept_of_llvm(all_lines: list[str]) -> list[int]:
    lines = {at: line for at, line in enumerate(all_lines) if not line.startswith("    #dbg_")}
    defined = {
        match[1]: line
        for line in lines.values()
        if line.startswith("!") and (match := _METADATA_DEFINITION.match(line))
    }
    if not defined:
        return list(lines)
    reached = _reachable(list(lines.values()), defined)
    return [at for at, line in lines.items() if _stays(line, reached)]


def _end_of_attachment(text: str, start: int) -> int:
    number = _METADATA_NUMBER.match(text, text.index("!dbg !", start) + len("!dbg !"))
    return number.end() if number else -1


def _reachable(lines: list[str], defined: dict[str, str]) -> set[str]:
    """The numbers of the metadata that something other than the debug information refers to."""
    waiting = [
        number
        for line in lines
        if "!" in line and not line.startswith("!llvm.dbg.cu") and not _METADATA_DEFINITION.match(line)
        for number in _METADATA_REFERENCE.findall(line)
    ]
    reached: set[str] = set()
    while waiting:
        number = waiting.pop()
        if number in reached:
            continue
        reached.add(number)
        waiting += _METADATA_REFERENCE.findall(defined.get(number, ""))
    return reached


def _stays(line: str, reached: set[str]) -> bool:
    if not line.startswith("!"):
        return True
    if match := _METADATA_DEFINITION.match(line):
        return match[1] in reached
    return not line.startswith("!llvm.dbg.cu")


def _kept_of_ptx(lines: list[str]) -> list[int]:
    kept = []
    in_section = False
    for at, line in enumerate(lines):
        if in_section:
            in_section = line.strip() != "}"
        elif _PTX_DEBUG_SECTION.match(line):
            in_section = True
        elif not _PTX_DEBUG.match(line):
            kept.append(at)
    return kept


def _kept_of_gcn(lines: list[str]) -> list[int]:
    kept = []
    in_section = False
    for at, line in enumerate(lines):
        if _SECTION.match(line):
            in_section = bool(_GCN_DEBUG_SECTION.match(line))
        if not in_section and not _GCN_DEBUG.match(line):
            kept.append(at)
    return kept


def _kept_of_sass(lines: list[str]) -> list[int]:
    return [at for at, line in enumerate(lines) if not _SASS_DEBUG.match(line)]


def _strip_lines(text: str, keep: Callable[[list[str]], list[int]]) -> str:
    lines = text.split("\n")
    return "\n".join(lines[at] for at in keep(lines))


_KEEPERS: dict[str, Callable[[list[str]], list[int]]] = {
    "mlir": _kept_of_mlir,
    "llir": _kept_of_llvm,
    "ptx": _kept_of_ptx,
    "amdgcn": _kept_of_gcn,
    "sass": _kept_of_sass,
}

_STRIPPERS: dict[str, Callable[[str], str]] = {
    "mlir": strip_locations,
    "llir": lambda text: _strip_lines(_without_attachments(text), _kept_of_llvm),
    "ptx": lambda text: _strip_lines(text, _kept_of_ptx),
    "amdgcn": lambda text: _strip_lines(text, _kept_of_gcn),
    "sass": lambda text: _strip_lines(text, _kept_of_sass),
}
