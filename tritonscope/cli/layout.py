"""`tritonscope layout`: which thread and register holds which element, or where in shared memory it lies."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonscope.cli import terminal
from tritonscope.errors import ExitCode, UsageError
from tritonscope.ir.kinds import kind_of
from tritonscope.ir.layout_text import layouts_of, parse_layout, shape_of
from tritonscope.ir.layouts import Linear, linear_layout
from tritonscope.ir.locations import strip_debug
from tritonscope.store import reader

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["add_arguments", "run"]

_EPILOG = """examples:
  tritonscope layout matmul '#mma'
  tritonscope layout matmul '#shared' --bank
  tritonscope layout matmul '#blocked' --pass tritongpu-coalesce
  tritonscope layout matmul '#mma' --element 3,5
  tritonscope layout '#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],
      order = [1, 0]}>' --shape 32x64

A cell is T<thread>:<register> of the thread, among all of the block, that holds the element, or the first that does.
For shared memory it is the offset in elements, or with --bank one of the 32 banks of 4 bytes. Without --shape the
largest tensor with that layout in the text is drawn; of three dimensions and more the first slice. Layouts known:
blocked, linear, slice, nvidia_mma, dot_op of nvidia_mma and of blocked, amd_mfma; swizzled_shared, nvmma_shared,
padded_shared, shared_linear; none over several CTAs of a cluster.

JSON: {capture: null | "..", layout, kind: "distributed" | "shared", shape, element_bits, bases: {register, lane, warp}
or {offset}, each a list of what one bit adds to the element's indices, padding: [[interval, pad]], holders: [{element,
at}]} for --element and --thread, at being [{warp, lane, thread, register}] or [{offset, address, bank}]."""

_SHAPE = re.compile(r"\d+(?:x\d+)*")
_NUMBERS = re.compile(r"\d+(?:,\d+)*")
_BITS = re.compile(r"\d+")
_MOST_ROWS = 32
_STYLES = ("cyan", "green", "yellow", "magenta", "blue", "red", "bright_cyan", "bright_green")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Draw a layout: which thread and register holds which element, or where it lies in shared memory."
    )
    parser.epilog = _EPILOG
    parser.add_argument("of", metavar="CAPTURE|LAYOUT", help="a capture, or a layout as TTGIR writes it")
    parser.add_argument(
        "alias", metavar="ALIAS", nargs="?", help="of a capture: a layout's name in it, such as #blocked1"
    )
    parser.add_argument("--shape", metavar="NxM", help="the tensor's shape")
    parser.add_argument("--bits", metavar="N", type=int, help="bits of an element (default: the capture's, or 16)")
    of = parser.add_mutually_exclusive_group()
    of.add_argument("--stage", metavar="STAGE", help="of a capture: the text that defines it (default: ttgir)")
    of.add_argument("--pass", dest="pass_", metavar="PASS", help="of a capture: the text after a pass")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--element", metavar="I,J", help="say where that element is")
    what.add_argument("--thread", metavar="N", type=int, help="say which elements that thread holds")
    what.add_argument("--bank", action="store_true", help="of shared memory: draw banks instead of offsets")
    parser.add_argument("--all", action="store_true", help=f"draw every row, not the first {_MOST_ROWS}")
    terminal.add_dumps_option(parser)
    terminal.add_json_option(parser)


@dataclass(frozen=True)
class _Drawn:
    """What is to be drawn: the layout as written and as bases, for elements of so many bits."""

    text: str
    linear: Linear
    bits: int
    capture: str | None = None


def run(args: argparse.Namespace) -> int:
    """Draw the layout, or answer the question about it."""
    drawn = _drawn(args)
    if args.bank and not drawn.linear.shared:
        raise UsageError("--bank is for layouts of shared memory, and this one is of registers")
    holders = _asked(args, drawn.linear)
    if args.json:
        terminal.print_json(_as_json(drawn, holders))
        return ExitCode.DONE
    console = terminal.console()
    for line in _summary(drawn):
        console.print(terminal.escape(line), soft_wrap=True)
    if args.element is not None or args.thread is not None:
        for element, at in holders:
            console.print(f"{list(element)}: {', '.join(_cell(drawn, each) for each in at)}", soft_wrap=True)
    else:
        _draw(drawn, args, console)
    return ExitCode.DONE


def _drawn(args: argparse.Namespace) -> _Drawn:
    if args.bits is not None and args.bits not in (4, 8, 16, 32, 64):
        raise UsageError(f"elements have 4, 8, 16, 32 or 64 bits, not {args.bits}")
    if args.of.startswith("#"):
        if args.alias is not None or args.shape is None:
            raise UsageError("of a layout that is written out, give the --shape, as in --shape 64x64, and nothing else")
        return _Drawn(args.of, _linear(args.of, {}, _shape(args.shape)), args.bits or 16)
    capture = terminal.open_capture(args.of, args)
    if args.pass_:
        text = reader.after(capture, reader.find_step(capture, args.pass_))
    else:
        stage = reader.find_stage(capture, args.stage or "ttgir")
        if kind_of(stage.file) != "mlir":
            raise UsageError(f"the stage {stage.stage} defines no layouts; ttgir and the passes of it do")
        text = reader.read_text(capture, stage.file)
    text = strip_debug(text, "mlir")
    aliases = layouts_of(text.split("\n"))
    if args.alias not in aliases:
        there = ", ".join(aliases) or "none"
        asked = (
            "which layout is meant is missing" if args.alias is None else f"no layout is called {args.alias!r} there"
        )
        raise UsageError(f"{asked}; the text defines {there}")
    found = shape_of(args.alias, text)
    if args.shape is None and found is None:
        raise UsageError(
            f"no tensor in the text has the layout {args.alias} itself; give a --shape, as in --shape 64x64"
        )
    shape = _shape(args.shape) if args.shape else found[0] if found else ()
    number = _BITS.search(found[1]) if found else None
    bits = args.bits or (int(number[0]) if number else 16)
    return _Drawn(aliases[args.alias], _linear(args.alias, aliases, shape), bits, capture.capture)


def _linear(text: str, aliases: dict[str, str], shape: Sequence[int]) -> Linear:
    try:
        return linear_layout(parse_layout(text, aliases), shape)
    except ValueError as error:
        raise UsageError(f"{text[:200]} cannot be drawn: {error}") from None


def _shape(text: str) -> tuple[int, ...]:
    if not _SHAPE.fullmatch(text):
        raise UsageError(f"{text!r} is no shape; write 64x64")
    return tuple(map(int, text.split("x")))


def _asked(args: argparse.Namespace, linear: Linear) -> list[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """The element and its holders that --element asks for, or the elements that --thread does."""
    if args.element is not None:
        if not _NUMBERS.fullmatch(args.element):
            raise UsageError(f"{args.element!r} is no element; write its indices, as in 3,5")
        element = tuple(map(int, args.element.split(",")))
        found = linear.holders()
        if element not in found:
            raise UsageError(f"{list(element)} is no element of a tensor of {'x'.join(map(str, linear.shape))}")
        return [(element, found[element])]
    if args.thread is None:
        return []
    if linear.shared:
        raise UsageError("--thread is for layouts of registers, and this one is of shared memory")
    lanes, warps = linear.size("lane"), linear.size("warp")
    warp, lane = divmod(args.thread, lanes)
    if not 0 <= warp < warps:
        raise UsageError(f"there are {lanes * warps} threads, and no thread {args.thread}")
    registers = range(linear.size("register"))
    return [(linear.place(warp=warp, lane=lane, register=each), [(warp, lane, each)]) for each in registers]


def _summary(drawn: _Drawn) -> list[str]:
    linear = drawn.linear
    shape = "x".join(map(str, linear.shape))
    if linear.shared:
        size = linear.address(linear.size("offset") - 1) + 1
        lines = [f"{shape} elements of {drawn.bits} bits in {size * drawn.bits // 8:,} bytes of shared memory"]
        if linear.padding:
            lines.append(", ".join(f"{pad} elements are left free after each {each}" for each, pad in linear.padding))
        return [drawn.text, *lines]
    lanes, warps, registers = linear.size("lane"), linear.size("warp"), linear.size("register")
    lines = [
        f"{shape} elements over {lanes * warps} threads, {_warps(warps)} of {lanes}; "
        f"{registers} element{'s' if registers > 1 else ''} a thread"
    ]
    run, dim = _run(linear)
    if run > 1:
        lines.append(f"a thread holds {run} elements beside each other along dimension {dim}")
    elements = 1
    for size in linear.shape:
        elements *= size
    copies = lanes * warps * registers // elements
    if copies > 1:
        lines.append(f"each element is held {copies} times")
    return [drawn.text, *lines]


def _warps(count: int) -> str:
    return "1 warp" if count == 1 else f"{count} warps"


def _run(linear: Linear) -> tuple[int, int]:
    """How many elements beside each other the first registers hold, and along which dimension."""
    bases = linear.bases["register"]
    dim = next((at for at, step in enumerate(bases[0]) if step), 0) if bases else 0
    run = 1
    for basis in bases:
        if basis[dim] != run or sum(basis) != run:
            break
        run *= 2
    return run, dim


def _draw(drawn: _Drawn, args: argparse.Namespace, console: "Console") -> None:
    from rich.text import Text

    linear = drawn.linear
    holders = linear.holders()
    *outer, rows, columns = (1, 1, *linear.shape)[-max(len(linear.shape), 2) :]
    if outer:
        console.print(Text(f"the slice [{', '.join('0' for _ in outer)}, :, :]", style="dim"))
    many = args.all or not terminal.is_terminal()
    drawn_rows = rows if many else min(rows, _MOST_ROWS)
    places = [
        [((0,) * len(outer) + (row, column))[-len(linear.shape) :] for column in range(columns)]
        for row in range(drawn_rows)
    ]
    cells = [[_cell(drawn, holders[place][0], args.bank) for place in row] for row in places]
    width = max(len(cell) for row in cells for cell in row)
    label = len(str(rows - 1))
    fit = max((console.width - label - 2) // (width + 1), 1)
    console.print(Text(" " * label + "  " + " ".join(f"{n:<{width}}" for n in range(min(columns, fit))), style="dim"))
    for row, (line, where) in enumerate(zip(cells, places, strict=True)):
        text = Text(f"{row:>{label}}  ", style="dim")
        for cell, place in zip(line[:fit], where[:fit], strict=True):
            text.append(f"{cell:<{width}} ", style=f"not dim {_style(linear, holders[place][0])}")
        console.print(text, no_wrap=True, overflow="ellipsis")
    left_out = [f"{n} more {what}" for n, what in ((columns - fit, "columns"), (rows - drawn_rows, "rows")) if n > 0]
    if left_out:
        console.print(Text(f"and {' and '.join(left_out)}", style="dim"))


def _style(linear: Linear, at: tuple[int, ...]) -> str:
    """A colour for a warp, or for a row of banks."""
    return _STYLES[(at[0] // 32 if linear.shared else at[0]) % len(_STYLES)]


def _cell(drawn: _Drawn, at: tuple[int, ...], bank: bool = False) -> str:
    if drawn.linear.shared:
        return str(_bank(drawn, at[0]) if bank else drawn.linear.address(at[0]))
    warp, lane, register = at
    return f"T{warp * drawn.linear.size('lane') + lane}:{register}"


def _bank(drawn: _Drawn, offset: int) -> int:
    return drawn.linear.address(offset) * drawn.bits // 32 % 32


def _as_json(drawn: _Drawn, holders: list[tuple[tuple[int, ...], list[tuple[int, ...]]]]) -> dict[str, Any]:
    return {
        "capture": drawn.capture,
        "layout": drawn.text,
        "kind": "shared" if drawn.linear.shared else "distributed",
        "shape": list(drawn.linear.shape),
        "element_bits": drawn.bits,
        "bases": {name: [list(basis) for basis in bases] for name, bases in drawn.linear.bases.items()},
        "padding": [list(pair) for pair in drawn.linear.padding],
        "holders": [
            {"element": list(element), "at": [_holder_json(drawn, each) for each in at]} for element, at in holders
        ],
    }


def _holder_json(drawn: _Drawn, at: tuple[int, ...]) -> dict[str, int]:
    if drawn.linear.shared:
        return {"offset": at[0], "address": drawn.linear.address(at[0]), "bank": _bank(drawn, at[0])}
    warp, lane, register = at
    thread = warp * drawn.linear.size("lane") + lane
    return {"warp": warp, "lane": lane, "thread": thread, "register": register}
