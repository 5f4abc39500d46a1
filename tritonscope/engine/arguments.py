"""Arguments of a kernel with their constants settled, and the objects that stand in for them in a call.

Runs in the child. A `Node` is what one parameter gets: a type from the signature, or a value known at compile time.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tritonscope.errors import SignatureError
from tritonscope.signature import (
    Argument,
    Constant,
    Descriptor,
    Expression,
    Pointer,
    Scalar,
    TupleOf,
    Unknown,
    format_argument,
    parse_signature,
)

__all__ = ["Items", "Node", "Value", "from_object", "is_unknown", "leaves", "settle", "spell", "stand_in", "type_of"]


@dataclass(frozen=True)
class Value:
    """A compile-time constant: the object, and the text that names it in a signature (`?` where nothing does)."""

    value: Any
    text: str


@dataclass(frozen=True)
class Items:
    """A tuple of nodes."""

    items: tuple["Node", ...]


_LANGUAGES = ("triton.language.", "triton.experimental.gluon.language.")

Node: TypeAlias = Scalar | Pointer | Descriptor | Value | Items | Unknown


def settle(argument: Argument, param: Any, scope: Mapping[str, Any]) -> Node:
    """What a signature's `argument` means for Triton's parameter `param`; names are looked up in `scope`.

    Raises SignatureError for a name that is not there and for a type that a constexpr cannot be.
    """
    text = format_argument(argument)
    if isinstance(argument, Unknown):
        return argument
    if param.is_constexpr:
        return Value(_constant(argument, param.name, scope), text)
    if isinstance(argument, TupleOf):
        return Items(tuple(settle(item, param, scope) for item in argument.items))
    if isinstance(argument, Constant | Expression):
        return Value(_constant(argument, param.name, scope), text)
    if isinstance(argument, Scalar) and argument.hint == 1:
        return Value(1, text)
    if isinstance(argument, Pointer) and param.is_const:
        return Pointer(argument.element, True, argument.hint)
    return argument


def from_object(value: Any, param: Any, scope: Mapping[str, Any]) -> Node:
    """What a launch makes of the Python object `value` for `param`: a default, or a value of an autotune config."""
    import triton.language as tl

    value = value.value if isinstance(value, tl.constexpr) else value
    if param.is_constexpr:
        return Value(value, spell(value, scope))
    node = _from_run_time_object(value, param, scope)
    if param.annotation_type and isinstance(node, Scalar):
        return Scalar(param.annotation_type, node.hint)
    return node


def is_unknown(node: Node) -> bool:
    """Whether any part of `node` is not known."""
    return any(isinstance(leaf, Unknown) for _, leaf in leaves(node))


def leaves(node: Node, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Node]]:
    """The nodes that are no tuples, with their paths."""
    if isinstance(node, Items):
        for index, item in enumerate(node.items):
            yield from leaves(item, (*path, index))
    else:
        yield path, node


def spell(value: Any, scope: Mapping[str, Any]) -> str:
    """The text that names the object in a signature, `?` where there is none."""
    import triton.language as tl

    if isinstance(value, tl.constexpr):
        return spell(value.value, scope)
    if value is None or isinstance(value, bool | int | float | str):
        return format_argument(Constant(value))
    if isinstance(value, list | tuple):
        items = [spell(item, scope) for item in value]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if isinstance(value, tl.dtype):
        return next((f"tl.{name}" for name, known in vars(tl).items() if known is value), "?")
    for name, known in scope.items():
        if known is value:
            return name
    try:
        return repr(value) if _evaluate(repr(value), scope) == value else "?"
    except (SignatureError, SyntaxError, TypeError, ValueError):
        return "?"


def type_of(node: Node) -> Any:
    """The node as it stands in the signature of a Triton source: "*fp16", "constexpr", or a tuple of such."""
    if isinstance(node, Items):
        return tuple(type_of(item) for item in node.items)
    if isinstance(node, Value):
        return "constexpr"
    if isinstance(node, Scalar):
        return node.type
    if isinstance(node, Pointer):
        return f"*{'k' if node.const else ''}{node.element}"
    assert isinstance(node, Descriptor)
    layout = f",{node.layout}" if node.layout else ""
    return f"tensordesc<{node.element}{list(node.block)}{layout}>"


def stand_in(node: Node, param: Any) -> Any:
    """An object that Triton's own specialization takes for what `node` says; raises SignatureError."""
    if isinstance(node, Items):
        return tuple(stand_in(item, param) for item in node.items)
    if isinstance(node, Value):
        return _constant_stand_in(node.value, param)
    if isinstance(node, Scalar):
        return _scalar_stand_in(node)
    if isinstance(node, Pointer):
        return _Buffer(_Dtype(node.element), aligned=node.hint == 16)
    assert isinstance(node, Descriptor)
    return _descriptor_stand_in(node, param)


class _Dtype(str):
    """A dtype by Triton's name of it. Its hash tells it from others, which Triton's own cache relies on."""

    __slots__ = ()

    @property
    def itemsize(self) -> int:
        from triton._utils import get_primitive_bitwidth

        return max(1, int(get_primitive_bitwidth(str(self))) // 8)

    @property
    def is_floating_point(self) -> bool:
        return self.startswith(("fp", "bf"))


class _Buffer:
    """What a launch asks of a tensor. Its range is small, as it is for every tensor below 2 GiB."""

    def __init__(self, dtype: _Dtype, *, aligned: bool) -> None:
        # Triton has no names for pointers to pointers: any element does, the signature says what was written.
        self.dtype = _Dtype("i64") if dtype.startswith("*") else dtype
        self.aligned = aligned

    def data_ptr(self) -> int:
        return 4096 if self.aligned else 4104

    def ptr_range(self) -> int:
        return 0

    def element_size(self) -> int:
        return self.dtype.itemsize


class _TensorMap:
    def tma_desc_cpu_ptr(self) -> int:
        return 4096


def _constant_stand_in(value: Any, param: Any) -> Any:
    import triton.language as tl
    from triton.runtime.jit import JITFunction

    if param.is_constexpr or value is None or isinstance(value, JITFunction):
        return value
    return tl.constexpr(value)


def _scalar_stand_in(node: Scalar) -> Any:
    if node.type == "nvTmaDesc":
        return _TensorMap()
    if node.type in ("i1", "u1"):
        return True
    if node.type.startswith(("fp", "bf")):
        return 0.5
    large = {"i64": 2**40, "u64": 2**63}.get(node.type, 32)
    return large if node.hint == 16 else large + 1


def _descriptor_stand_in(node: Descriptor, param: Any) -> Any:
    from triton.tools.tensor_descriptor import TensorDescriptor

    sizes = [1024] * len(node.block)
    strides = [1024 ** (len(sizes) - 1 - axis) for axis in range(len(sizes))]
    try:
        return TensorDescriptor(_Buffer(_Dtype(node.element), aligned=True), sizes, strides, list(node.block))
    except (AssertionError, TypeError, ValueError) as error:
        raise SignatureError(f"{format_argument(node)} for {param.name} is no tensor descriptor: {error}.") from error


def _from_run_time_object(value: Any, param: Any, scope: Mapping[str, Any]) -> Node:
    if isinstance(value, bool):
        return Scalar("u1")
    if isinstance(value, int):
        if value == 1 and not param.do_not_specialize:
            return Value(1, "1")
        wide = "i32" if -(2**31) <= value < 2**31 else "u64" if value >= 2**63 else "i64"
        return Scalar(wide, 16 if value % 16 == 0 else None)
    if isinstance(value, float):
        return Scalar("fp32")
    if isinstance(value, tuple):
        return Items(tuple(_from_run_time_object(item, param, scope) for item in value))
    return Value(value, spell(value, scope))


def _constant(argument: Argument, name: str, scope: Mapping[str, Any]) -> Any:
    if isinstance(argument, Constant):
        return argument.value
    if isinstance(argument, TupleOf):
        return tuple(_constant(item, name, scope) for item in argument.items)
    if isinstance(argument, Scalar) and argument.hint == 1:
        return 1
    if isinstance(argument, Scalar) and argument.hint is None:
        return _dtype_of(argument.type)
    if isinstance(argument, Expression):
        return _evaluate(argument.text, scope)
    raise SignatureError(
        f"{name} is a constexpr: give a value such as 128 or tl.float16, not {format_argument(argument)}."
    )


def _dtype_of(text: str) -> Any:
    import triton.language as tl

    return {known.name: known for known in vars(tl).values() if isinstance(known, tl.dtype)}[_language_name(text)]


def _language_name(text: str) -> str:
    """The name of the language's dtype, such as "uint8", where a signature says "u8"."""
    return (
        {"i": "int", "u": "uint"}[text[0]] + text[1:]
        if text[0] in "iu" and text != "u1"
        else text.replace("u1", "int1")
    )


def _evaluate(text: str, scope: Mapping[str, Any]) -> Any:
    """The value of a dotted name, or of a call of a class of Triton's languages on literals and such names.

    Nothing else is run: a signature may come out of someone else's capture.
    """
    return _Evaluator(text, scope).visit(ast.parse(text, mode="eval").body)


class _Evaluator(ast.NodeVisitor):
    def __init__(self, text: str, scope: Mapping[str, Any]) -> None:
        self.text = text
        self.scope = scope

    def generic_visit(self, node: ast.AST) -> Any:
        raise SignatureError(
            f"{self.text} is more than a name or a call of one of Triton's layouts; name it in the file."
        )

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return -node.operand.value  # type: ignore[operator]
        return self.generic_visit(node)

    def visit_List(self, node: ast.List) -> Any:
        return [self.visit(item) for item in node.elts]

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.visit(item) for item in node.elts)

    def visit_Name(self, node: ast.Name) -> Any:
        for scope in (self.scope, *_fallbacks()):
            if node.id in scope:
                return scope[node.id]
        raise SignatureError(f"{node.id} in {self.text!r} is neither a type nor a name that the kernel's file knows.")

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        try:
            return getattr(owner, node.attr)
        except AttributeError:
            raise SignatureError(f"{ast.unparse(node.value)} in {self.text!r} has no {node.attr}.") from None

    def visit_Call(self, node: ast.Call) -> Any:
        called = self.visit(node.func)
        if not isinstance(called, type) or not called.__module__.startswith(_LANGUAGES):
            return self.generic_visit(node)
        named = {keyword.arg: self.visit(keyword.value) for keyword in node.keywords if keyword.arg}
        try:
            return called(*[self.visit(arg) for arg in node.args], **named)
        except (AssertionError, TypeError, ValueError) as error:
            raise SignatureError(f"{self.text} cannot be made: {error}.") from error


def _fallbacks() -> Iterator[Mapping[str, Any]]:
    import triton
    import triton.language as tl
    from triton.experimental.gluon import language as gl

    yield {"triton": triton, "tl": tl, "gl": gl}
    yield vars(tl)
    yield vars(gl)


def parse_annotation(text: str) -> Argument:
    """The argument that a parameter's annotation, in Triton's canonical spelling, stands for."""
    return parse_signature(text).positional[0]
