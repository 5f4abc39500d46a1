"""Which thread and register holds which element of a tensor, and where in shared memory it lies.

A layout is linear over bits: each bit of a register's, lane's and warp's number, or of an offset, has a basis, and an
element's place is the exclusive or of the bases of the bits that are set. How each kind of layout becomes one follows
Triton's lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp; tests compare with what Triton itself computes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from tritonscope.ir.layout_text import LayoutText, Value

__all__ = ["Basis", "Linear", "linear_layout"]

Basis: TypeAlias = tuple[int, ...]

_LARGEST = 1 << 20  # elements
_MOST_BITS = 22  # of the numbers of registers, lanes and warps together


@dataclass(frozen=True)
class Linear:
    """A layout of a tensor of `shape`: `bases` by "register", "lane" and "warp", or by "offset" for shared memory.

    `padding` holds pairs of an interval and what is left free after each so many elements, in elements.
    """

    shape: tuple[int, ...]
    bases: Mapping[str, tuple[Basis, ...]]
    padding: tuple[tuple[int, int], ...] = ()

    @property
    def shared(self) -> bool:
        """Whether it says where in shared memory elements lie."""
        return "offset" in self.bases

    def size(self, name: str) -> int:
        """How many registers, lanes, warps or offsets there are."""
        return 1 << len(self.bases.get(name, ()))

    def place(self, **numbers: int) -> tuple[int, ...]:
        """The element that, say, register=3, lane=5, warp=0 holds."""
        found = [0] * len(self.shape)
        for name, number in numbers.items():
            for bit, basis in enumerate(self.bases.get(name, ())):
                if number >> bit & 1:
                    found = [a ^ b for a, b in zip(found, basis, strict=True)]
        return tuple(found)

    def holders(self) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
        """For each element all (warp, lane, register), or (offset,), that hold it, in order."""
        names = ("offset",) if self.shared else ("warp", "lane", "register")
        found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for numbers in _numbers([self.size(name) for name in names]):
            found.setdefault(self.place(**dict(zip(names, numbers, strict=True))), []).append(numbers)
        return found

    def address(self, offset: int) -> int:
        """Where an offset lies, padding counted, in elements."""
        return offset + sum(offset // interval * pad for interval, pad in self.padding)


def linear_layout(layout: LayoutText, shape: Sequence[int]) -> Linear:
    """`layout` of a tensor of `shape`; raises ValueError for a kind that is not known, or a shape that does not fit."""
    sizes = tuple(shape)
    if not sizes or any(size < 1 or size & (size - 1) for size in sizes):
        raise ValueError("each size of the shape has to be a power of two")
    if prod(sizes) > _LARGEST:
        raise ValueError(f"a shape of over {_LARGEST:,} elements is too large")
    if layout.fields.get("CGALayout") or any(_flat(layout.fields.get("CTAsPerCGA", []), 1)):
        raise ValueError("layouts over several CTAs of a cluster are not followed")
    maker = _SHARED.get(layout.name) or _DISTRIBUTED.get(layout.name)
    if maker is None:
        known = ", ".join(sorted([*_DISTRIBUTED, *_SHARED]))
        raise ValueError(f"layouts called {layout.name!r} are not known; {known} are")
    try:
        found = maker(layout, sizes)
    except (IndexError, ZeroDivisionError):
        raise ValueError(f"its parameters do not fit together, or not to {len(sizes)} dimensions") from None
    if any(len(basis) != len(sizes) for bases in found.bases.values() for basis in bases):
        raise ValueError(f"its bases are not of {len(sizes)} dimensions")
    if sum(len(bases) for bases in found.bases.values()) > _MOST_BITS:
        raise ValueError("it is spread over too many registers and threads to be drawn")
    return found


class _Build:
    """A layout that grows: each product lets bits of an input run along a dimension, behind what is there."""

    def __init__(self, rank: int) -> None:
        self.sizes = [1] * rank
        self.bases: dict[str, list[Basis]] = {"register": [], "lane": [], "warp": []}

    def times(self, name: str, dim: int, size: int) -> None:
        if size < 1 or size & (size - 1):
            raise ValueError(f"{size} is no power of two")
        for step in _powers(size):
            basis = [0] * len(self.sizes)
            basis[dim] = self.sizes[dim] * step
            self.bases[name].append(tuple(basis))
        self.sizes[dim] *= size

    def times_all(self, name: str, sizes: Sequence[int], order: Sequence[int]) -> None:
        for dim in order:
            self.times(name, dim, sizes[dim])

    def repeats(self, name: str, size: int) -> None:
        """Bits that change nothing: the same elements again."""
        self.bases[name] += [(0,) * len(self.sizes)] * (size.bit_length() - 1)

    def fit(self, shape: tuple[int, ...], order: Sequence[int]) -> Linear:
        """Cut to `shape`, or repeated over it by more registers."""
        for name, bases in self.bases.items():
            self.bases[name] = [
                tuple(0 if step >= size else step for step, size in zip(basis, shape, strict=True)) for basis in bases
            ]
        self.sizes = [min(size, most) for size, most in zip(self.sizes, shape, strict=True)]
        for dim in order:
            self.times("register", dim, shape[dim] // self.sizes[dim])
        return Linear(shape, {name: tuple(bases) for name, bases in self.bases.items()})


def _blocked(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    order = _order(layout, shape)
    build = _Build(len(shape))
    for name, field in (("register", "sizePerThread"), ("lane", "threadsPerWarp"), ("warp", "warpsPerCTA")):
        build.times_all(name, _ints(layout, field), order)
    # Of a blocked layout registers that would hold the same again are not there.
    outside = [any(step >= size for step, size in zip(basis, shape, strict=True)) for basis in build.bases["register"]]
    build.bases["register"] = [basis for basis, out in zip(build.bases["register"], outside, strict=True) if not out]
    return build.fit(shape, order)


def _linear(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    bases = {name: _bases(layout, name) for name in ("register", "lane", "warp")}
    build = _Build(len(shape))
    for name, found in bases.items():
        for basis in found:
            _same_rank(shape, basis)
            build.bases[name].append(basis)
            build.sizes = [max(size, 2 * step) if step else size for size, step in zip(build.sizes, basis, strict=True)]
    return build.fit(shape, range(len(shape)))


def _nvidia_mma(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    instruction = _ints(layout, "instrShape")
    rank = _same_rank(shape, _ints(layout, "warpsPerCTA"))
    tile = [1] * rank
    tile[-2], tile[-1] = (16, instruction[1]) if _int(layout, "versionMajor") >= 3 else tuple(instruction[-2:])
    order = _descending(rank)
    build = _mma_tile(tile, 2, order)
    build.times_all("warp", _ints(layout, "warpsPerCTA"), _warp_order(layout, rank))
    return build.fit(shape, order)


def _mma_tile(tile: Sequence[int], k_width: int, order: Sequence[int]) -> _Build:
    """A tile of an operand or a result: 8 rows, each of 4 lanes with `k_width` elements along `order`, and repeated."""
    build = _Build(len(tile))
    inner, outer = order[0], order[1]
    build.times("register", inner, k_width)
    build.times("lane", inner, 4)
    build.times("lane", outer, 8)
    for dim in reversed(order):
        build.times("register", dim, max(tile[dim] // build.sizes[dim], 1))
    return build


def _amd_mfma(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    rank = _same_rank(shape, _ints(layout, "warpsPerCTA"))
    instruction = _ints(layout, "instrShape")
    if instruction[:2] not in ([32, 32], [16, 16]):
        raise ValueError("of amd_mfma layouts those of 32 x 32 and of 16 x 16 are followed")
    if any(_flat(layout.fields.get("tilesPerWarp", []), 1)) or layout.fields.get("elementBitWidth", 32) != 32:
        raise ValueError("amd_mfma layouts with several tiles for a warp, or of 64-bit elements, are not followed")
    side = instruction[0]
    # Lanes run along one side of the result; four registers, and then groups of lanes, along the other.
    rows, columns = rank - 2, rank - 1
    lanes, registers = (rows, columns) if layout.fields.get("isTransposed") == "true" else (columns, rows)
    build = _Build(rank)
    build.times("register", registers, 4)
    build.times("lane", lanes, side)
    build.times("lane", registers, 64 // side)
    build.times("register", registers, side // build.sizes[registers])
    build.times_all("warp", _ints(layout, "warpsPerCTA"), _descending(rank))
    return build.fit(shape, _descending(rank))


def _dot_op(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    parent = layout.fields.get("parent")
    if not isinstance(parent, LayoutText):
        raise ValueError("a dot_op needs its parent")
    first = _int(layout, "opIdx") == 0
    if len(shape) < 2:
        raise ValueError("an operand of a product has two dimensions at least")
    if parent.name == "nvidia_mma":
        return _nvidia_operand(parent, first, _int(layout, "kWidth"), shape)
    if parent.name == "blocked":
        return _blocked_operand(parent, first, shape)
    raise ValueError(f"operands of products in layout {parent.name} are not followed")


def _nvidia_operand(parent: LayoutText, first: bool, k_width: int, shape: tuple[int, ...]) -> Linear:
    rank = len(shape)
    rows, columns = rank - 2, rank - 1
    inner = columns if first else rows
    tile = [1] * rank
    tile[inner], tile[rows if first else columns] = k_width * 8, 16 if first else 8
    order = [inner, rows if first else columns, *range(rank - 3, -1, -1)]
    build = _mma_tile(tile, k_width, order)
    warps = _ints(parent, "warpsPerCTA")
    for dim in _warp_order(parent, rank):
        if dim == inner:
            build.repeats("warp", warps[dim])
        else:
            build.times("warp", dim, warps[dim])
    return build.fit(shape, order)


def _blocked_operand(parent: LayoutText, first: bool, shape: tuple[int, ...]) -> Linear:
    order = _order(parent, shape)
    rank = len(shape)
    inner = rank - 1 if first else rank - 2
    sizes = {field: _ints(parent, field) for field in ("sizePerThread", "threadsPerWarp", "warpsPerCTA")}
    build = _Build(rank)
    for dim in order:
        build.times("register", dim, shape[dim] if dim == inner else sizes["sizePerThread"][dim])
    for name, field in (("lane", "threadsPerWarp"), ("warp", "warpsPerCTA")):
        for dim in order:
            if dim == inner:
                build.repeats(name, sizes[field][dim])
            else:
                build.times(name, dim, sizes[field][dim])
    return build.fit(shape, order)


def _slice(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    parent = layout.fields.get("parent")
    if not isinstance(parent, LayoutText):
        raise ValueError("a slice needs its parent")
    dim = _int(layout, "dim")
    if not 0 <= dim <= len(shape):
        raise ValueError(f"the slice leaves out dimension {dim}, which a shape of {len(shape)} more has not")
    whole = linear_layout(parent, (*shape[:dim], 1, *shape[dim:]))
    bases = {name: [(*basis[:dim], *basis[dim + 1 :]) for basis in found] for name, found in whole.bases.items()}
    # Registers that hold the same again are not there.
    bases["register"] = [basis for basis in bases["register"] if any(basis)]
    return Linear(shape, {name: tuple(found) for name, found in bases.items()})


def _swizzled(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    order = _order(layout, shape)
    rank = len(shape)
    vec, per_phase, max_phase = (_int(layout, name) for name in ("vec", "perPhase", "maxPhase"))
    columns = shape[order[0]]
    bases = [_unit(rank, {order[0]: step}) for step in _powers(columns)]
    if rank > 1:
        for row in _powers(shape[order[1]]):
            shift = vec * (row // max(per_phase, 1) % max(max_phase, 1)) % columns
            bases.append(_unit(rank, {order[1]: row, order[0]: shift}))
    bases += [_unit(rank, {dim: step}) for dim in order[2:] for step in _powers(shape[dim])]
    return Linear(shape, {"offset": tuple(bases)})


def _nvmma_shared(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    """Tiles of 8 rows as wide as the swizzle, down the rows and then across; of more dimensions rows are joined."""
    if layout.fields.get("fp4Padded") == "true":
        raise ValueError("layouts that are padded for fp4 are not followed")
    bits, swizzle = _int(layout, "elementBitWidth"), _int(layout, "swizzlingByteWidth")
    if len(shape) < 2:
        return Linear(shape, {"offset": tuple((step,) for step in _powers(shape[0]))})
    transposed = layout.fields.get("transposed") == "true"
    if transposed and len(shape) > 2:
        raise ValueError("transposed nvmma_shared layouts of over two dimensions are not followed")
    dims = [*range(1, len(shape)), 0] if transposed else list(range(len(shape)))
    *rows_of, column = dims
    rows, columns = prod(shape[dim] for dim in rows_of), shape[column]
    phases = {0: (1, 1), 32: (4, 2), 64: (2, 4), 128: (1, 8)}.get(swizzle)
    if phases is None:
        raise ValueError(f"a swizzle of {swizzle} bytes is none of 0, 32, 64 and 128")
    if not swizzle:
        bases = [_unit(len(shape), {dim: step}) for dim in (column, *reversed(rows_of)) for step in _powers(shape[dim])]
        return Linear(shape, {"offset": tuple(bases)})
    vec, width = 128 // bits, swizzle * 8 // bits
    if width > columns or rows < 8:
        raise ValueError(f"a tile is 8 rows of {width}, which the shape is smaller than")
    flat = [(0, step) for step in _powers(width)]
    flat += [(row, vec * (row // phases[0] % phases[1])) for row in _powers(8)]
    flat += [(8 * step, 0) for step in _powers(rows // 8)]
    flat += [(0, width * step) for step in _powers(columns // width)]
    return Linear(shape, {"offset": tuple(_unfold(row, at, shape, rows_of, column) for row, at in flat)})


def _unfold(row: int, at: int, shape: tuple[int, ...], rows_of: Sequence[int], column: int) -> Basis:
    steps = {column: at}
    for dim in reversed(rows_of):
        steps[dim] = row % shape[dim]
        row //= shape[dim]
    return _unit(len(shape), steps)


def _padded(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    pairs = [pair for found in layout.leading if isinstance(found, list) for pair in found]
    padding = tuple((int(a), int(b)) for a, b in (_pair(pair) for pair in pairs))
    if "offset" in layout.fields:
        return Linear(shape, {"offset": _bases(layout, "offset")}, padding)
    order = _order(layout, shape)
    rank = len(shape)
    bases = [_unit(rank, {dim: step}) for dim in order for step in _powers(shape[dim])]
    return Linear(shape, {"offset": tuple(bases)}, padding)


def _shared_linear(layout: LayoutText, shape: tuple[int, ...]) -> Linear:
    return Linear(shape, {"offset": _bases(layout, "offset")})


_DISTRIBUTED = {
    "blocked": _blocked,
    "linear": _linear,
    "nvidia_mma": _nvidia_mma,
    "amd_mfma": _amd_mfma,
    "dot_op": _dot_op,
    "slice": _slice,
}
_SHARED = {
    "swizzled_shared": _swizzled,
    "nvmma_shared": _nvmma_shared,
    "padded_shared": _padded,
    "shared_linear": _shared_linear,
}


def _powers(size: int) -> Iterator[int]:
    step = 1
    while step < size:
        yield step
        step *= 2


def _numbers(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not sizes:
        yield ()
        return
    for number in range(sizes[0]):
        for rest in _numbers(sizes[1:]):
            yield (number, *rest)


def _unit(rank: int, steps: Mapping[int, int]) -> Basis:
    return tuple(steps.get(dim, 0) for dim in range(rank))


def _descending(rank: int) -> list[int]:
    return list(range(rank - 1, -1, -1))


def _warp_order(layout: LayoutText, rank: int) -> list[int]:
    # Warps run down the rows first where the instruction is a warp group's.
    if _int(layout, "versionMajor") >= 3:
        return [*range(rank - 2, rank), *range(rank - 3, -1, -1)]
    return _descending(rank)


def _same_rank(shape: Sequence[int], other: Sequence[int]) -> int:
    if len(shape) != len(other):
        raise ValueError(f"the layout is of {len(other)} dimensions, and the shape of {len(shape)}")
    return len(shape)


def _int(layout: LayoutText, name: str) -> int:
    value = layout.fields.get(name)
    if not isinstance(value, int):
        raise ValueError(f"{layout.name} needs {name}, a number")
    return value


def _ints(layout: LayoutText, name: str) -> list[int]:
    value = layout.fields.get(name)
    if not isinstance(value, list) or not all(isinstance(each, int) and each >= 0 for each in value):
        raise ValueError(f"{layout.name} needs {name}, a list of numbers")
    return [each for each in value if isinstance(each, int)]


def _order(layout: LayoutText, shape: Sequence[int]) -> list[int]:
    order = _ints(layout, "order")
    if sorted(order) != list(range(len(shape))):
        raise ValueError(f"its order is {order}, and the shape of {len(shape)} dimensions")
    return order


def _bases(layout: LayoutText, name: str) -> tuple[Basis, ...]:
    value = layout.fields.get(name)
    if not isinstance(value, list):
        raise ValueError(f"{layout.name} needs {name}, a list of bases")
    found = []
    for basis in value:
        if not isinstance(basis, list) or not all(isinstance(each, int) for each in basis):
            raise ValueError(f"{layout.name} needs {name}, a list of bases")
        found.append(tuple(each for each in basis if isinstance(each, int)))
    return tuple(found)


def _pair(value: Value) -> tuple[int, int]:
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], int) and isinstance(value[1], int):
        return value[0], value[1]
    raise ValueError("padding is written as [512:+16]")


def _flat(value: Value, most: int) -> list[bool]:
    return [isinstance(each, int) and each > most for each in value] if isinstance(value, list) else []
