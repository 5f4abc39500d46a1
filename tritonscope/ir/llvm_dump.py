"""What LLVM prints under LLVM_IR_ENABLE_DUMP, taken apart as it streams by.

LLVM prints a header line and then what the pass worked on, and nothing to say where that ends but the next header:

    ; *** IR Dump After InstCombinePass on matmul ***              the optimiser: on a module, function, loop ..
    *** IR Dump After Early CSE (early-cse) ***                 code generation on IR
    # *** IR Dump After Machine code sinking (machine-sink) ***:  code generation on machine instructions

and between those "Running pass: ..." and the like. Standard library only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

__all__ = ["LlvmDump", "read_llvm_dumps"]

_MARK = b"*** IR Dump "
_CHUNK = 1 << 20
_HEADER = re.compile(rb"(?P<printer>; |# |)\*\*\* IR Dump (?P<when>Before|After) (?P<pass>[^\n]+?) \*\*\*:?\r?\n?")
_ON = re.compile(r"(?P<name>.+?) on (?P<on>.+?)(?P<invalidated> \(invalidated\))?")
_BRACKET_PASS = re.compile(r"(?P<name>.+) \((?P<mnemonic>[^\s()]+)\)")
_FUNCTION = re.compile(rb"^define [^\n]*?@(\"[^\"]*\"|[\w.$-]+)\(", re.MULTILINE)
_MACHINE_FUNCTION = re.compile(rb"# Machine code for function ([^\n]*?):")
_PROGRESS = (b"Running pass", b"Running analysis", b"Skipping pass", b"Invalidating analysis", b"Clearing all analysis")


@dataclass(frozen=True)
class LlvmDump:
    """What one LLVM pass left.

    `name` is the pass's class ("InstCombinePass") or description ("Early CSE"), `mnemonic` what the header has in
    brackets ("early-cse") or None. `kind` is "module", "function", "loop", "scc" (a component of the call graph) or
    "machine"; `on` names the function, loop or component, "" for the module. `text` is what was printed, without the
    progress lines after it. `changed` says whether it differs from the dump before it of the same thing by the same
    printer, None for the first; loops without a name share one, so there it may be True without a change.
    `invalidated` is True where the pass deleted what it worked on; LLVM may then print nothing. `when` is "After", or
    "Before" where somebody asks for that.
    """

    name: str
    mnemonic: str | None
    kind: str
    on: str
    text: str
    changed: bool | None
    invalidated: bool = False
    when: str = "After"


def read_llvm_dumps(stream: BinaryIO) -> Iterator[LlvmDump]:
    """The dumps in a binary stream, in the order printed; what comes before the first is left out.

    Holds one dump at a time, and the last of each function, loop and component to compare with. Bytes that are not
    UTF-8 become U+FFFD.
    """
    last: dict[tuple[bytes, str, str], bytes] = {}
    for header, text in _split(stream):
        yield _read_one(header, text, last)


def _split(stream: BinaryIO) -> Iterator[tuple[re.Match[bytes], bytes]]:
    """Each header with the bytes from its line's end to the next header's line."""
    buffer = bytearray()
    header: re.Match[bytes] | None = None
    searched = 0
    while chunk := stream.read(_CHUNK):
        buffer += chunk
        while (mark := buffer.find(_MARK, searched)) >= 0:
            start = buffer.rfind(b"\n", 0, mark) + 1
            end = buffer.find(b"\n", mark)
            if end < 0:
                break
            searched = end
            if found := _HEADER.fullmatch(bytes(buffer[start : end + 1])):
                if header:
                    yield header, bytes(buffer[:start])
                header, searched = found, 0
                del buffer[: end + 1]
        else:
            searched = max(searched, len(buffer) - len(_MARK))
            if not header:  # nothing before the first header is wanted, but a line may have begun in it
                kept = buffer.rfind(b"\n") + 1
                del buffer[:kept]
                searched = max(searched - kept, 0)
            continue
        searched = mark
    if header:
        yield header, bytes(buffer)


def _read_one(header: re.Match[bytes], text: bytes, last: dict[tuple[bytes, str, str], bytes]) -> LlvmDump:
    text = _without_progress(text)
    printer, described = header["printer"], header["pass"].decode("utf-8", "replace")
    mnemonic, invalidated = None, False
    if printer == b"; " and (optimiser := _ON.fullmatch(described)):
        name, invalidated = optimiser["name"], bool(optimiser["invalidated"])
        kind, on = _optimiser_scope(optimiser["on"])
    else:
        bracket = _BRACKET_PASS.fullmatch(described)
        name, mnemonic = (bracket["name"], bracket["mnemonic"]) if bracket else (described, None)
        kind, on = _code_generation_scope(text)
    scope = (printer, kind, on)
    before = last.get(scope)
    last[scope] = text
    return LlvmDump(
        name=name,
        mnemonic=mnemonic,
        kind=kind,
        on=on,
        text=text.decode("utf-8", "replace"),
        changed=None if before is None else before != text,
        invalidated=invalidated,
        when=header["when"].decode(),
    )


def _without_progress(text: bytes) -> bytes:
    end = len(text)
    while end > 0:
        start = text.rfind(b"\n", 0, end - 1) + 1
        if not text.startswith(_PROGRESS, start):
            break
        end = start
    return text[:end]


def _optimiser_scope(on: str) -> tuple[str, str]:
    if on == "[module]":
        return "module", ""
    if on.startswith("loop "):
        return "loop", on.removeprefix("loop ")
    if on.startswith("(") and on.endswith(")"):
        return "scc", on[1:-1]
    return "function", on


def _code_generation_scope(text: bytes) -> tuple[str, str]:
    """Kind and name of what was printed, which headers of code generation do not say."""
    if machine := _MACHINE_FUNCTION.match(text):
        return "machine", machine[1].decode("utf-8", "replace")
    if text.startswith((b"; ModuleID", b"source_filename", b"target ")):
        return "module", ""
    if text.lstrip(b"\n").startswith((b"; Preheader", b"; Loop")):
        return "loop", ""
    if function := _FUNCTION.search(text):
        return "function", function[1].decode("utf-8", "replace").strip('"')
    return "module", ""
