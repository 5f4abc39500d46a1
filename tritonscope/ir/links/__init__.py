"""From any line of any text of a capture to the Python that caused it, and back.

`line_map` reads a text with its locations; `shown` gives the map of that text as it is shown, without them.
"""

from tritonscope.ir.links.assembly import map_amdgcn, map_ptx
from tritonscope.ir.links.llvm import map_llvm
from tritonscope.ir.links.mlir import map_mlir
from tritonscope.ir.links.positions import Chain, LineMap, Position, SameOrigin, counted
from tritonscope.ir.links.sass import PtxLines, map_sass, ptx_lines
from tritonscope.ir.locations import kept_lines

__all__ = [
    "KINDS",
    "Chain",
    "LineMap",
    "Position",
    "PtxLines",
    "SameOrigin",
    "counted",
    "line_map",
    "ptx_lines",
    "shown",
]

_MAPS = {"mlir": map_mlir, "llir": map_llvm, "ptx": map_ptx, "amdgcn": map_amdgcn}

#: Of `ir.kinds.kind_of`, those whose lines lead to Python.
KINDS = (*_MAPS, "sass")


def line_map(text: str, kind: str, ptx: str = "") -> LineMap:
    """The map of `text`, with its locations, of a kind in KINDS; raises ValueError for another.

    `ptx` is the PTX with its locations, which SASS refers to.
    """
    if kind == "sass":
        return map_sass(text, ptx)
    if kind not in _MAPS:
        raise ValueError(f"lines of {kind!r} lead nowhere")
    return _MAPS[kind](text)


def shown(found: LineMap, text: str, kind: str) -> LineMap:
    """The map of `strip_debug(text, kind)`, where `found` is that of `text`."""
    return LineMap([found.chains[at] for at in kept_lines(text, kind)])
