"""Debug locations of LLVM IR: `!dbg` attachments, `DILocation` with `inlinedAt`, and the files of their scopes."""

import re

from tritonscope.ir.links.positions import Chain, LineMap, Position

__all__ = ["map_llvm"]

_DEFINITION = re.compile(r"!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_ATTACHED = re.compile(r"!dbg !(\d+)")
_FIELD = re.compile(r'(\w+): (?:!(\d+)|(\d+)|"((?:[^"\\]|\\.)*)")')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_DEEPEST = 100
_NOWHERE: tuple[Chain, ...] = ()


class _Metadata:
    """The nodes of a text's debug information, by number."""

    def __init__(self, lines: list[str]) -> None:
        self._nodes: dict[str, tuple[str, str]] = {}
        for line in lines:
            if line.startswith("!") and (match := _DEFINITION.match(line)):
                self._nodes[match[1]] = (match[2], match[3])
        self._fields: dict[str, dict[str, str]] = {}
        self._files: dict[str, str] = {}
        self._chains: dict[str, tuple[Chain, ...]] = {}

    def chains(self, number: str) -> tuple[Chain, ...]:
        known = self._chains.get(number)
        if known is None:
            chain = tuple(self._frames(number))
            known = self._chains[number] = (chain,) if chain else _NOWHERE
        return known

    def _frames(self, number: str) -> list[Position]:
        frames: list[Position] = []
        following: str | None = number
        for _ in range(_DEEPEST):
            kind, _ = self._nodes.get(following or "", ("", ""))
            if kind not in ("DILocation", "DISubprogram") or following is None:
                break
            fields = self._fields_of(following)
            line = int(fields.get("line", "0"))
            if line:  # 0 is code that the compiler made itself
                file = self._file(following if kind == "DISubprogram" else fields.get("scope", ""), 0)
                frames.append(Position(file, line, int(fields.get("column", "0"))))
            following = fields.get("inlinedAt")
        return frames

    def _file(self, number: str, depth: int) -> str:
        """The file of a scope, or of the one around it."""
        known = self._files.get(number)
        if known is None:
            fields = self._fields_of(number) if depth <= _DEEPEST else {}
            if "file" in fields:
                named = self._fields_of(fields["file"])
                folder, name = named.get("directory", ""), named.get("filename", "")
                known = name if not folder or name.startswith("/") else f"{folder}/{name}"
            else:
                known = self._file(fields["scope"], depth + 1) if "scope" in fields else ""
            self._files[number] = known
        return known

    def _fields_of(self, number: str) -> dict[str, str]:
        known = self._fields.get(number)
        if known is None:
            _, body = self._nodes.get(number, ("", ""))
            known = {m[1]: m[2] or m[3] or _unescaped(m[4] or "") for m in _FIELD.finditer(body)}
            self._fields[number] = known
        return known


def map_llvm(text: str) -> LineMap:
    """The chains of each line of LLVM IR with its debug information; a function's head has its definition's line."""
    lines = text.split("\n")
    metadata = _Metadata(lines)
    found: list[tuple[Chain, ...]] = []
    for line in lines:
        at = line.rfind("!dbg !") if not line.startswith("!") else -1
        match = _ATTACHED.match(line, at) if at >= 0 else None
        found.append(metadata.chains(match[1]) if match else _NOWHERE)
    return LineMap(found)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)), text)
