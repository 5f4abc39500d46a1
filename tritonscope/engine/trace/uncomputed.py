"""What a program reads of tensors that no GPU has computed, and the sentence for what it cannot go on without.

A floating-point number is nan. An integer is one that can be shown, calculated with and passed to a kernel; what the
program decides by it, or takes for a size, ends the program. What it asserts is taken to hold.
"""

import ast
import functools
import linecache
import operator
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "NAN",
    "NeedsValue",
    "Say",
    "UncomputedNumber",
    "answers",
    "for_a_kernel",
    "place",
    "taken_to_hold",
    "why_it_cannot_go_on",
]

NAN = float("nan")

#: Stands for an unknown integer in a kernel's arguments: neither 1 nor divisible by 16, so compiled for any.
_ANY = 7

_OURS = "tritonscope/engine"

#: What stands between whoever needs a value and where it is found that nobody has it.
_BETWEEN = (_OURS, "/torch/")

Say = Callable[[str], None]


class NeedsValue(RuntimeError):
    """The program needs to know what nobody has computed."""


class UncomputedNumber:
    """An integer, or a truth value, that only a GPU would have computed."""

    #: Whether a program was given a number, of any type, that nobody computed.
    given = False

    def __repr__(self) -> str:
        return "?"

    def __format__(self, _: str) -> str:
        return "?"

    def __float__(self) -> float:
        return NAN

    def _needed(self, *_: Any) -> NoReturn:
        raise NeedsValue("the value of an uncomputed number")

    __bool__ = __int__ = __index__ = __hash__ = _needed
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _needed


def _calculated(calculate: Callable[..., Any], reflected: bool) -> Callable[..., Any]:
    """An operation with an uncomputed number: with a tensor a tensor, whose values nobody computes either."""

    def method(number: UncomputedNumber, *others: Any) -> Any:
        if not others or isinstance(others[0], UncomputedNumber | int | float):
            return number
        return calculate(others[0], 1) if reflected else calculate(1, others[0])

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _calculate = getattr(operator, _name)
    setattr(UncomputedNumber, f"__{_name}__", _calculated(_calculate, False))
    setattr(UncomputedNumber, f"__r{_name}__", _calculated(_calculate, True))
for _name in ("neg", "pos", "abs", "round"):
    setattr(UncomputedNumber, f"__{_name}__", _calculated(operator.pos, False))


def answers(torch: Any, say: Say) -> dict[Any, Callable[..., Any]]:
    """For functions of PyTorch's that read values, what they give: {function: called in its place}."""
    unknown = torch._subclasses.fake_tensor.DataDependentOutputException

    def numbers(read: Callable[..., Any], name: str) -> Callable[..., Any]:
        def answer(tensor: Any, *rest: Any) -> Any:
            try:
                return read(tensor, *rest)
            except unknown:
                number = _number(tensor.dtype)
                given = "an unknown number" if isinstance(number, UncomputedNumber) else "nan"
                say(f"{place()}: nothing is computed without a GPU, so {name} gives {given}")
                UncomputedNumber.given = True
                return _filled(tensor.shape if read is torch.Tensor.tolist else (), number)

        return answer

    def decided(tensor: Any) -> Any:
        try:
            return torch.Tensor.__bool__(tensor)
        except unknown:
            if not _is_asserted(_caller()):
                raise
            say(f"{place()}: nothing is computed without a GPU, so what is asserted is taken to hold")
            return True

    return {
        **{
            check: taken_to_hold(f"torch.{name}", True, say)
            for name in ("allclose", "equal")
            for check in (getattr(torch, name), getattr(torch.Tensor, name))
        },
        torch.Tensor.item: numbers(torch.Tensor.item, ".item()"),
        torch.Tensor.tolist: numbers(torch.Tensor.tolist, ".tolist()"),
        torch.Tensor.__float__: numbers(lambda tensor: float(torch.Tensor.__float__(tensor)), "float()"),
        torch.Tensor.__bool__: decided,
    }


def taken_to_hold(name: str, answer: Any, say: Say) -> Callable[..., Any]:
    """In the place of a check of values: what it gives where all is well."""

    def check(*_: Any, **__: Any) -> Any:
        say(f"{place()}: nothing is computed without a GPU, so {name} is taken to hold")
        return answer

    return check


def _number(dtype: Any) -> Any:
    if dtype.is_complex:
        return complex(NAN, NAN)
    return NAN if dtype.is_floating_point else UncomputedNumber()


def _filled(shape: Any, number: Any) -> Any:
    """Nested lists of `shape`, all of `number`."""
    return [_filled(shape[1:], number) for _ in range(shape[0])] if len(shape) else number


def for_a_kernel(argument: Any, say: Say) -> Any:
    """What a kernel is compiled for and given in the place of `argument`."""
    if not isinstance(argument, UncomputedNumber):
        return argument
    say(
        f"{place()}: a kernel is passed an integer that only a GPU would have computed, "
        f"so it is compiled for one that is neither 1 nor divisible by 16, and launched with {_ANY}"
    )
    return _ANY


# -- where in the program


def _caller() -> FrameType | None:
    """The innermost frame that is neither ours nor PyTorch's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and any(part in frame.f_code.co_filename for part in _BETWEEN):
        frame = frame.f_back
    return frame


def _is_asserted(frame: FrameType | None) -> bool:
    """Whether `frame` is in an assert statement of its own."""
    if frame is None:
        return False
    return any(first <= frame.f_lineno <= last for first, last in _asserts(frame.f_code.co_filename))


@functools.cache
def _asserts(filename: str) -> tuple[tuple[int, int], ...]:
    """The lines, first and last, of the assert statements in a file."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return ()
    asserts = (node for node in ast.walk(tree) if isinstance(node, ast.Assert))
    return tuple((node.lineno, node.end_lineno or node.lineno) for node in asserts)


def place() -> str:
    """FILE:LINE of the program's innermost frame."""
    frame = sys._getframe(1)
    while frame is not None and not _is_the_programs(frame.f_code.co_filename):
        if frame.f_back is None:
            return "the program"
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_the_programs(filename: str) -> bool:
    library = ("site-packages", "dist-packages", _OURS, "<frozen", sysconfig.get_path("stdlib"))
    return os.path.isfile(filename) and not any(part in filename for part in library)  # noqa: PTH113


# -- what only a GPU knows

_WORDS_OF_FAKE_TENSORS = (
    "FakeTensor",
    "fake tensor",
    "aten._local_scalar_dense",
    "meta tensors",
    "numpy() is not supported",
    UncomputedNumber.__name__,
)
_WORDS_OF_CUDA = ("Torch not compiled with CUDA", "No CUDA GPUs", "NVIDIA driver", "'_cuda_")


def why_it_cannot_go_on(error: BaseException) -> str | None:
    """The sentence for an exception that came of there being no GPU, None for one of the program's own."""
    text = str(error)
    cuda = any(word in text for word in _WORDS_OF_CUDA)
    if not (cuda or _is_of_a_value(error, text)):
        return None
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if _is_the_programs(frame.filename)]
    where = f"{theirs[-1].filename}:{theirs[-1].lineno}" if theirs else "the program"
    line = f" (`{theirs[-1].line}`)" if theirs and theirs[-1].line else ""
    within = [frame for frame in frames if not any(part in frame.filename for part in _BETWEEN)]
    if within and theirs and within[-1] is not theirs[-1] and within[-1].line:
        line += f", in {within[-1].filename}:{within[-1].lineno} (`{within[-1].line}`)"
    if "is_pinned" in text or cuda:
        return f"{where} asks for what only a GPU has{line}, so the program ends here"
    return f"{where} needs a value that only a GPU would have computed{line}, so the program ends here"


def _is_of_a_value(error: BaseException, text: str) -> bool:
    if isinstance(error, NeedsValue) or type(error).__module__.startswith("torch._subclasses.fake"):
        return True
    if any(word in text for word in _WORDS_OF_FAKE_TENSORS):
        return True
    # What follows from a nan: an assertion that does not hold, and a nan that is to be an integer.
    follows = isinstance(error, AssertionError) or (isinstance(error, ValueError) and "float NaN" in text)
    return UncomputedNumber.given and follows
