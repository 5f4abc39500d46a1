"""What the compiler prints under MLIR_ENABLE_DUMP, taken apart: dumps, and whatever else came between them.

The compiler prints a header line, an operation, and blank lines. Headers differ by release:

    // -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //                    Triton 3.4 to 3.6
    // -----// IR Dump Before CSEPass: cse ('tt.func' operation: @matmul) //----- //              Triton 3.9
    // -----// IR Dump After X Failed (x) ('builtin.module' operation) //----- //                 a pass that failed
    // -----// SoftwarePipeliner internal IR Dump After: LowerLoops                               steps inside a pass

A dump "on" a function still holds the whole module: Triton asks for module scope. Standard library only.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = [
    "Diagnostic",
    "Dump",
    "Noise",
    "Reproducer",
    "is_header",
    "parse_diagnostics",
    "parse_reproducer",
    "read_dumps",
    "why_failed",
]

_START = b"// -----// "
_HEADER = re.compile(
    r"// -----// IR Dump (?P<when>Before|After) (?P<pass>.+?)"
    r"(?: \('(?P<operation>[^']+)' operation(?:: @(?P<symbol>.*))?\))? //----- //"
)
_STEP_HEADER = re.compile(r"// -----// (?P<owner>\S+) internal IR Dump After: (?P<name>.+?)(?: //----- //)?")
_COLON_PASS = re.compile(r"(?P<name>.+?): (?P<mnemonic>[^{]+?)(?:\{(?P<options>.*)\})?")
_BRACKET_PASS = re.compile(r"(?P<name>.+?) \((?P<mnemonic>[^\s()]+)\)")

_DIAGNOSTIC = re.compile(
    r"^(?:(?P<path>[^\s:\"][^\n:\"]*):(?P<line>\d+):(?P<column>\d+)|(?P<loc>loc\([^\n]*?\))|<unknown>:0): "
    r"(?P<severity>error|warning|remark|note): (?P<message>[^\n]*)",
    re.MULTILINE,
)
_LOC_POSITION = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')

_ONLY_THAT_IT_FAILED = "Failures have been detected while processing"
_ONLY_A_SIGNAL = "A signal was caught while processing"
_ASSERTION = re.compile(r"(?<![^/\s:])(?P<place>[^/\s:]{1,255}:\d+): [^\n]*\bAssertion `(?P<what>[^\n]*)' failed")
_FATAL = re.compile(r"^LLVM ERROR: (?P<what>[^\n]+)", re.MULTILINE)

_RESOURCES_BEGIN = re.compile(r"^\{-#\n", re.MULTILINE)
_RESOURCES_END = re.compile(r"^#-\}\n?", re.MULTILINE)
_PIPELINE = re.compile(r'\bpipeline: "((?:[^"\\]|\\.)*)"')
_TOP_OPERATION = re.compile(r'^(?:module|builtin\.module|"builtin\.module")(?=[ (@{])', re.MULTILINE)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")


@dataclass(frozen=True)
class Dump:
    """One printed operation.

    `when` is "Before", "After" or "After failed". `name` is the pass's class ("CSEPass"), or the step's name
    ("LowerLoops") where `owner` names what printed a step inside a pass ("SoftwarePipeliner", "WarpSpec"). `mnemonic`
    and `options` are the pass's as the compiler spells them, None where the header has none. `operation` is what
    the pass ran on ("builtin.module", "tt.func"), None where the header does not say; `symbol` its name with the "@".

    `text` is exactly what was printed, up to and with its last newline, so that it equals `str(module)`; steps inside
    a pass print without locations and aliases, and of one function only where the pass works by function. `complete`
    is False where the output ended or something else began before the blank lines that close a dump.
    """

    when: str
    name: str
    mnemonic: str | None
    options: str | None
    operation: str | None
    symbol: str | None
    text: str
    owner: str | None = None
    complete: bool = True


@dataclass(frozen=True)
class Noise:
    """What was printed between dumps: diagnostics, reproducers, warnings, the lines of a crash."""

    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler. `severity` is "error", "warning", "remark" or "note".

    `line` and `column` are as printed (Triton counts columns from 0 up to 3.6 and from 1 in 3.9); `file`, `line` and
    `column` are None where the message has no position.
    """

    file: str | None
    line: int | None
    column: int | None
    severity: str
    message: str


@dataclass(frozen=True)
class Reproducer:
    """What a failed pass manager printed: its `pipeline`, the `ir` that went in, and `text`, a file of both."""

    pipeline: str
    ir: str
    text: str


def read_dumps(lines: Iterable[bytes]) -> Iterator[Dump | Noise]:
    """The dumps and the noise between them, in the order printed, from the lines of a stream (each with its newline).

    Holds one dump in memory at a time. Bytes that are not UTF-8 become U+FFFD; the compiler prints none.
    """
    header: Dump | None = None
    pending: list[bytes] = []
    for line in lines:
        if line.startswith(_START) and (found := _parse_header(line)):
            yield from _close(header, pending)
            header, pending = found, []
        elif header and line == b"\n" and pending and pending[-1] == b"\n":
            yield _with_text(header, pending[:-1], True)
            header, pending = None, []
        else:
            pending.append(line)
    yield from _close(header, pending)


def is_header(line: bytes) -> str | None:
    """What a line that begins a dump announces: a "pass", or a "step" inside one; None for any other line."""
    found = _parse_header(line) if line.startswith(_START) else None
    return None if found is None else "step" if found.owner else "pass"


def _close(header: Dump | None, pending: list[bytes]) -> Iterator[Dump | Noise]:
    """What is left when a header or the end comes: noise, or a dump without its closing blank lines."""
    if header:
        # A text without a newline of its own is followed by one blank line only.
        closed = len(pending) > 1 and pending[-1] == b"\n"
        yield _with_text(header, pending[:-1] if closed else pending, closed)
    elif any(line.strip() for line in pending):
        yield Noise(_decode(pending))


def _with_text(header: Dump, lines: list[bytes], complete: bool) -> Dump:
    return Dump(
        header.when,
        header.name,
        header.mnemonic,
        header.options,
        header.operation,
        header.symbol,
        _decode(lines),
        header.owner,
        complete,
    )


def _decode(lines: list[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "replace")


def _parse_header(line: bytes) -> Dump | None:
    """The header as a Dump without text, None where the line is something else."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    if step := _STEP_HEADER.fullmatch(text):
        return Dump("After", step["name"], None, None, None, None, "", step["owner"])
    header = _HEADER.fullmatch(text)
    if not header:
        return None
    described = header["pass"]
    shape = _COLON_PASS.fullmatch(described) or _BRACKET_PASS.fullmatch(described)
    name = shape["name"] if shape else described
    mnemonic = shape["mnemonic"] if shape else None
    if mnemonic and mnemonic.startswith("unknown<"):
        mnemonic = None
    options = shape.groupdict().get("options") if shape else None
    when = header["when"]
    if when == "After" and name.endswith(" Failed"):
        when, name = "After failed", name.removesuffix(" Failed")
    symbol = None if header["symbol"] is None else "@" + header["symbol"]
    return Dump(when, name, mnemonic, options, header["operation"], symbol, "")


def parse_diagnostics(text: str) -> list[Diagnostic]:
    """The messages in `text` that have the form of the compiler's diagnostics, in order.

    Reads `file:line:column: error: ...` and the `loc(...): error: ...` forms, of which the first position counts.
    """
    found = []
    for match in _DIAGNOSTIC.finditer(text):
        file, line, column = match["path"], match["line"], match["column"]
        if match["loc"] and (position := _LOC_POSITION.search(match["loc"])):
            file, line, column = position.groups()
        if file is None:
            found.append(Diagnostic(None, None, None, match["severity"], match["message"]))
        else:
            found.append(Diagnostic(file, int(line), int(column), match["severity"], match["message"]))
    return found


def why_failed(text: str, raised: str = "") -> str:
    """Why a pass failed, in a line: its first error that says something, else the assertion or signal that ended it.

    `text` is what the compiler printed, and `raised` what Triton has to say where that holds no error at all.
    """
    messages = [d.message for d in parse_diagnostics(text) if d.severity == "error"]
    telling = [message for message in messages if not message.startswith((_ONLY_THAT_IT_FAILED, _ONLY_A_SIGNAL))]
    if telling:
        return telling[0]
    if asserted := _ASSERTION.search(text):
        return f"the assertion {asserted['what']} does not hold ({asserted['place']})"
    if fatal := _FATAL.search(text):
        return fatal["what"]
    if any(message.startswith(_ONLY_A_SIGNAL) for message in messages):
        return "the compiler caught a signal in the pass, and did not say why"
    if messages or raised.startswith(_ONLY_THAT_IT_FAILED) or not raised:
        return "the pass failed and did not say why"
    return raised


def parse_reproducer(text: str) -> Reproducer | None:
    """The first reproducer in `text`, which may hold other output around it; None where there is none.

    After a failure under an assertion the compiler prints more than one; the first is the failing pass's.
    """
    for opens, closes in _resources(text):
        resources = text[opens:closes]
        pipeline = _PIPELINE.search(resources)
        if not pipeline:
            continue
        before = text[:opens]
        tops = list(_TOP_OPERATION.finditer(before))
        if not tops:
            continue
        start = tops[-1].start()
        while start > 0 and before[before.rfind("\n", 0, start - 1) + 1] in "#!":
            start = before.rfind("\n", 0, start - 1) + 1
        ir = before[start:].rstrip("\n") + "\n"
        return Reproducer(_unescape(pipeline[1]), ir, before[start:] + resources)
    return None


def _resources(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the blocks between "{-#" and "#-}"."""
    position = 0
    while (begin := _RESOURCES_BEGIN.search(text, position)) and (end := _RESOURCES_END.search(text, begin.end())):
        yield begin.start(), end.end()
        position = end.end()


def _unescape(quoted: str) -> str:
    """The inside of an MLIR string literal as text."""
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], quoted)
