"""Counting the operations of a snapshot as printed: implicit terminators, which MLIR leaves out, do not count."""

import re
from collections import Counter

__all__ = ["count_ops", "op_counts"]

# An operation starts on a line of its own: results, if any, then a dotted name, quoted in the generic form. The name
# has no dot for the few operations whose dialect the printer leaves out.
_MLIR_OP = re.compile(
    r'\n[ \t]*(?:%[^=\n]*= )?"?((?:[A-Za-z_][\w$]*\.[\w.$]+)|(?:module|return|call)(?= |\n|$))', re.ASCII
)
_ELIDED = {"module": "builtin.module", "return": "func.return", "call": "func.call"}

# Instructions are indented by exactly two spaces; the cases of a switch by four, debug records by four and a "#".
_LLVM_OP = re.compile(r"\n  (?:%[^=\n]* = )?(?:(?:tail|musttail|notail) )?([a-z]\w*)", re.ASCII)


def op_counts(text: str, kind: str = "mlir") -> "Counter[str]":
    """How often each operation occurs in `text`: by "dialect.name" in MLIR, by opcode where `kind` is "llir".

    Raises ValueError for a kind whose operations are not counted.
    """
    if kind == "mlir":
        counts = Counter(_MLIR_OP.findall("\n" + text))
        for short, full in _ELIDED.items():
            if short in counts:
                counts[full] += counts.pop(short)
        return counts
    if kind == "llir":
        return Counter(_LLVM_OP.findall("\n" + text))
    raise ValueError(f"operations of {kind!r} are not counted")


def count_ops(text: str, kind: str = "mlir") -> int:
    """The number of operations in `text`; see `op_counts`."""
    return sum(op_counts(text, kind).values())
