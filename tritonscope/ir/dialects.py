"""What a line of TTIR, TTGIR, LLVM dialect, LLVM IR, PTX, SASS or AMD assembly is made of.

Each kind has a reader that splits a line, indentation dropped, into names and the rest. A name is what may be called
something else without changing what the line says:

- "mlir": SSA values and blocks. `#` and `!` aliases are no names: the line is read as if what they stand for stood
  there. Symbols (`@matmul`) and strings stay as they are.
- "llir": values, blocks, metadata numbers, attribute groups.
- "ptx": virtual registers and labels.
- "sass": labels and addresses; the registers are real, and names only where that is asked for.
- "amdgcn": labels; the registers are real.

Any other kind, "mir" among them, has no names, and its indentation counts. Standard library only; every pattern runs
in time linear in the line.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

__all__ = [
    "Aliases",
    "Reader",
    "Tokens",
    "find_names",
    "hint_of",
    "is_readable",
    "reader_for",
    "starts_with_label",
]


class Tokens(NamedTuple):
    """A line, read.

    `template` is the line with its names masked and its aliases looked through; `loose` the same without the
    encodings of its types. `names` are the names in order, as the line writes them. `results` and `inner` are indices
    into `names`: what the line defines in the scope it stands in, and in the scope that it opens. `counts` gives, for
    a name that stands for several results (`%x:3`), how many. `opens` and `closes` say whether a scope starts or ends
    here. `floating` marks a definition whose place has no meaning: of an alias, of metadata, of an attribute group.
    """

    template: str
    loose: str
    names: tuple[str, ...] = ()
    results: tuple[int, ...] = ()
    inner: tuple[int, ...] = ()
    counts: tuple[tuple[int, int], ...] = ()
    opens: bool = False
    closes: bool = False
    floating: bool = False


class Reader(Protocol):
    """Reads lines of one text."""

    #: Whether a name has one definition that comes before its uses.
    ssa: bool

    def read(self, line: str) -> Tokens:
        """What `line` is made of."""

    def is_global(self, name: str) -> bool:
        """Whether `name` means the same all over the text rather than in its function."""


#: Stands in templates where a name or an attribute stood; no text that is read has it.
_MASK = "\x01"
_DEEPEST = 60

_STRING = r'"(?:[^"\\]|\\.)*"'
# What an attribute's angle brackets hold, up to three braces deep, as an encoding of an encoding of an encoding is.
_FLAT = r"[^{}<>]*"
_BRACED = _FLAT
for _ in range(4):
    _BRACED = rf"{_FLAT}(?:(?:\{{{_BRACED}\}}|<{_BRACED}>){_FLAT})*"
_MLIR_ALIAS = r"[A-Za-z_][\w$]*"
_MLIR_NAME = r"%[\w$.\-]+(?:#\d+)?|\^[\w$.\-]+"
_MLIR = re.compile(
    rf"({_STRING}|{_MLIR_NAME}|#{_MLIR_ALIAS}(?:\.[\w$.]+(?:<{_BRACED}>)?)?|![A-Za-z_]\w*(?![\w.$]))", re.ASCII
)
_ONE_ATTRIBUTE = re.compile(rf"[#!]{_MLIR_ALIAS}\.[\w$.]+<{_BRACED}>", re.ASCII)
_MLIR_DEFINITION = re.compile(rf"([#!]{_MLIR_ALIAS}) = (.*)", re.ASCII)
_LAYOUT = re.compile(r"#(?:ttg|ttng|gluon|triton_gpu|triton_nvidia_gpu|amdg|amdgpu|proton\w*)\.(\w+)", re.ASCII)
_MEMORY_SPACES = {"shared_memory", "tensor_memory"}
_QUOTED = re.compile(f"({_STRING})")
_SPACES = re.compile(r"\s+")
_COUNT = re.compile(r":(\d+)")

_LLVM = re.compile(rf'(%"[^"]*"|{_STRING}|%[\w$.\-]+|!\d+|#\d+)', re.ASCII)
_LLVM_LABEL = re.compile(r'([\w$.\-]+|"[^"]*"):')
_PTX = re.compile(rf"({_STRING}|%[a-z]{{1,2}}\d+\b|%bb\.\d+|(?:\$L__)?BB\d+_\d+|\$L__\w+)", re.ASCII)
_PTX_NO_RESULT = re.compile(r"(?:@!?\S+ )?(?:st|bra|brx|ret|red|bar|barrier|exit|cp|membar|fence|discard)\b[^ ]*")
_SASS = re.compile(rf"({_STRING}|/\*[0-9a-f]{{4,}}\*/|\.L_\w+)", re.ASCII)
_SASS_RENAMING = re.compile(rf"({_STRING}|/\*[0-9a-f]{{4,}}\*/|\.L_\w+|\bU?[RP]\d+\b)", re.ASCII)
_GCN = re.compile(rf"({_STRING}|(?:\.L)?BB\d+_\d+|\.L\w+|%bb\.\d+)", re.ASCII)

_MASKED = {sigil: sigil + _MASK for sigil in "%^!#"}
_HINT = re.compile(r"^[%^!#$.L_]*(.*?)[_.]?\d*(?:#\d+)?$")


def hint_of(name: str) -> str:
    """What `name` says about its value besides its number: "acc" for "%acc_12", "" for "%12"."""
    if name.startswith("/*"):
        return ""
    match = _HINT.match(name)
    return match[1] if match else name


def is_readable(text: str) -> bool:
    """Whether `text` can be masked: no IR has the character that does it."""
    return _MASK not in text


def starts_with_label(line: str) -> bool:
    """Whether `line` of LLVM IR starts with a label, whose name has no sigil there."""
    return bool(_LLVM_LABEL.match(line))


class Aliases:
    """What the aliases of one MLIR text stand for.

    `ids` numbers what stands behind aliases; the two texts of a diff share it, so that one number is one attribute.
    """

    def __init__(self, lines: Iterable[str], ids: dict[str, int]) -> None:
        self.definitions: dict[str, str] = {}
        for line in lines:
            if line[:1] in ("#", "!") and (match := _MLIR_DEFINITION.match(line)):
                self.definitions[match[1]] = match[2]
        self._ids = ids
        self._tokens: dict[str, tuple[str, bool]] = {}
        self._depth = 0
        for name in self.definitions:
            self.token(name)

    def token(self, text: str) -> tuple[str, bool]:
        """A short text that equals another's exactly where both stand for the same, and whether that is a layout.

        `text` is an alias or an attribute, with or without aliases in it. Each attribute is numbered with the numbers
        of those inside it, so that no text is ever written out.
        """
        known = self._tokens.get(text)
        if known is None:
            self._tokens[text] = (text, False)  # an alias that stands for itself, which no compiler prints, ends here
            meaning = self.definitions.get(text, text)
            head, bracket, rest = meaning.partition("<")
            body = head + bracket + self._numbered(rest)
            if bracket and meaning is not text and not _ONE_ATTRIBUTE.fullmatch(meaning):
                body = self._numbered(meaning)
            if body == meaning and meaning in self.definitions:
                known = self.token(meaning)
            else:
                layout = _LAYOUT.match(meaning)
                number = self._ids.setdefault(body, len(self._ids))
                known = (f"{_MASK}{number}", bool(layout and layout[1] not in _MEMORY_SPACES))
            self._tokens[text] = known
        return known

    def _numbered(self, text: str) -> str:
        if ("#" not in text and "!" not in text) or self._depth > _DEEPEST:
            return text
        self._depth += 1
        parts = _MLIR.split(text)
        for i in range(1, len(parts), 2):
            if parts[i][0] == "#" or parts[i] in self.definitions:
                parts[i] = self.token(parts[i])[0]
        self._depth -= 1
        return "".join(parts)


class _Mlir:
    ssa = True

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases

    def is_global(self, name: str) -> bool:
        return False

    def read(self, line: str) -> Tokens:
        first = line[:1]
        body = line if first not in (" ", "\t") else line.lstrip()
        if not body:
            return _EMPTY
        if first in ("#", "!") and (match := _MLIR_DEFINITION.match(line)):
            text, _ = self._aliases.token(match[1])
            return Tokens(f"alias {text}", f"alias {text}", floating=True)
        opens, closes = body[-1] == "{", body[0] == "}"
        parts = _MLIR.split(body)
        if len(parts) == 1:
            return Tokens(body, body, opens=opens, closes=closes)
        names: list[str] = []
        after: list[str] = []
        layouts: list[int] = []
        for i in range(1, len(parts), 2):
            token = parts[i]
            sigil = token[0]
            if sigil in "%^":
                names.append(token)
                after.append(parts[i + 1])
                parts[i] = _MASKED[sigil]
            elif sigil == "#":
                parts[i], is_layout = self._aliases.token(token)
                if is_layout:
                    layouts.append(i)
            elif sigil == "!" and token in self._aliases.definitions:
                parts[i] = self._aliases.token(token)[0]
        template = loose = "".join(parts)
        if layouts:
            for i in layouts:
                parts[i] = ""
                if parts[i - 1].endswith(", "):
                    parts[i - 1] = parts[i - 1][:-2]
            loose = "".join(parts)
        results: tuple[int, ...] = ()
        counts: tuple[tuple[int, int], ...] = ()
        if body[0] == "%":
            results, counts = _results(after)
        inner: tuple[int, ...] = ()
        if body[0] == "^":
            results = (0, *(i for i, text in enumerate(after) if text.startswith(": ") and i))
        elif opens:
            inner = tuple(i for i, text in enumerate(after) if i >= len(results) and text.startswith((" = ", ": ")))
        return Tokens(template, loose, tuple(names), results, inner, counts, opens, closes)


def _results(after: list[str]) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Which names stand left of the equals sign, told by what follows each, and how many results each stands for."""
    counts = []
    for i, text in enumerate(after):
        if text[:1] == ":" and (match := _COUNT.match(text)):
            counts.append((i, int(match[1])))
            text = text[match.end() :]
        if text.startswith(" = "):
            return tuple(range(i + 1)), tuple(counts)
        if text != ", ":
            break
    return (), ()


class _Llvm:
    ssa = True

    def is_global(self, name: str) -> bool:
        return name[0] in "!#"

    def read(self, line: str) -> Tokens:
        body = _squeezed(line)
        if not body:
            return _EMPTY
        label = _LLVM_LABEL.match(line)
        first = body[0]
        parts = _LLVM.split(body[label.end() - 1 :] if label else body)
        names = [f"%{label[1]}"] if label else []
        for i in range(1, len(parts), 2):
            if parts[i][0] != '"':
                names.append(parts[i])
                parts[i] = _MASKED[parts[i][0]]
        template = (_MASKED["%"] if label else "") + "".join(parts)
        results: tuple[int, ...] = ()
        inner: tuple[int, ...] = ()
        floating = (first == "!" and " = " in body) or body.startswith("attributes #")
        if label or (floating and names) or (first == "%" and " = " in template):
            results = (0,)
        define = body.startswith("define ")
        if define:
            inner = tuple(i for i, name in enumerate(names) if name[0] == "%")
        return Tokens(template, template, tuple(names), results, inner, (), define, body == "}", floating)


class _Ptx:
    ssa = False

    def is_global(self, name: str) -> bool:
        return False

    def read(self, line: str) -> Tokens:
        body = _squeezed(line)
        names: list[str] = []
        parts = _PTX.split(body)
        for i in range(1, len(parts), 2):
            token = parts[i]
            if token[0] == '"':
                continue
            if token.startswith("$L__BB"):
                names.append(token[4:])
                parts[i] = "$L__" + _MASK
            else:
                names.append(token)
                parts[i] = _class_of(token) + _MASK
        template = "".join(parts)
        opens, closes = line == "{", line == "}"
        results: tuple[int, ...] = ()
        if names and (line[0] == "$" or not _PTX_NO_RESULT.match(template)):
            results = _destinations(parts)
        return Tokens(template, template, tuple(names), results, (), (), opens, closes)


def _class_of(token: str) -> str:
    """The part of a name that stays: "%rd" of "%rd4", "$" or "." of a label, "/*" of an address, "" of a block."""
    if token[0] in "$.":
        return token[0]
    return "/*" if token[0] == "/" else "" if token.startswith("BB") else token.rstrip("0123456789")


def _destinations(parts: list[str]) -> tuple[int, ...]:
    """The names before the first comma outside braces: what an instruction writes, or a label."""
    index, depth = 0, 0
    found = []
    for i, part in enumerate(parts):
        if i % 2:
            if part[:1] == '"':
                continue
            if not parts[i - 1].endswith("@") and not parts[i - 1].endswith("@!"):
                found.append(index)
            index += 1
            continue
        for char in part:
            if char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
            elif char in ",;" and depth <= 0 and found:
                return tuple(found)
    return tuple(found)


class _Assembly:
    ssa = False

    def __init__(self, pattern: "re.Pattern[str]", function: str) -> None:
        self._pattern = pattern
        self._function = function

    def is_global(self, name: str) -> bool:
        return False

    def read(self, line: str) -> Tokens:
        body = _squeezed(line)
        names: list[str] = []
        parts = self._pattern.split(body)
        for i in range(1, len(parts), 2):
            token = parts[i]
            if token[0] == '"':
                continue
            if token[0] == "." and token.startswith(".LBB"):
                names.append(token[2:])
                parts[i] = ".L" + _MASK
            else:
                names.append(token)
                parts[i] = _class_of(token) + _MASK
        template = "".join(parts)
        results = (0,) if names and (body[0] == "/" or body.startswith(".L")) else ()
        function = bool(self._function) and body.startswith(self._function)
        return Tokens(template, template, tuple(names), results, (), (), function, function)


class _Opaque:
    ssa = True

    def is_global(self, name: str) -> bool:
        return False

    def read(self, line: str) -> Tokens:
        return Tokens(line, line)


def _squeezed(line: str) -> str:
    """`line` without indentation, and with the padding of its columns as one space; strings stay as they are."""
    if '"' not in line:
        return " ".join(line.split())
    parts = _QUOTED.split(line.strip())
    parts[::2] = [_SPACES.sub(" ", part) for part in parts[::2]]
    return "".join(parts)


_EMPTY = Tokens("", "")

_READERS: dict[str, Callable[[bool], Reader]] = {
    "llir": lambda _: _Llvm(),
    "ptx": lambda _: _Ptx(),
    "sass": lambda rename: _Assembly(_SASS_RENAMING if rename else _SASS, ".section .text."),
    "amdgcn": lambda _: _Assembly(_GCN, ""),
}


def reader_for(kind: str, aliases: Aliases, rename_registers: bool) -> Reader:
    """The reader for a text of `kind`; `aliases` are those of the text."""
    if kind == "mlir":
        return _Mlir(aliases)
    make = _READERS.get(kind)
    return make(rename_registers) if make else _Opaque()


_WORDS = {
    "mlir": _MLIR,
    "llir": _LLVM,
    "ptx": _PTX,
    "sass": _SASS,
    "amdgcn": _GCN,
}


def find_names(kind: str, rename_registers: bool) -> "re.Pattern[str]":
    """The pattern whose matches are the names, strings and attributes of a line of `kind`."""
    if kind == "sass" and rename_registers:
        return _SASS_RENAMING
    return _WORDS.get(kind, _NOTHING)


_NOTHING = re.compile(r"(?!)")
