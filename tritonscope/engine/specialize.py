"""Which kernel each of several calls would compile. Runs in the child."""

import ast
from collections.abc import Mapping
from typing import Any

from tritonscope.engine import cachekey, loader
from tritonscope.engine.events import Events
from tritonscope.engine.inference import NotTold
from tritonscope.engine.run.call import number_text
from tritonscope.errors import SignatureError
from tritonscope.model import KernelRef, Request, Target

__all__ = ["run"]


def run(message: Mapping[str, Any], events: Events) -> None:
    """For each of `message["calls"]`, lists of {name, tensor: {dtype, aligned} | value: text}, send "specialized".

    Raises SignatureError for an argument that the kernel does not have.
    """
    from triton.compiler.compiler import make_backend

    loaded = loader.load(KernelRef(**message["kernel"]))
    target = Target(**message["target"])
    for number, call in enumerate(message["calls"]):
        request = Request(
            loaded.ref,
            target,
            signature=_signature(loaded.fn, call),
            options=message["options"],
            config=0 if loaded.configs else None,
        )
        try:
            built = loader.build(loaded, request)
        except NotTold as error:
            first = error.names[0]
            raise SignatureError(
                f"call {number + 1} does not say what to pass for {', '.join(error.names)}; "
                f"add {first}=1024 for a number, {first}=fp16[1024] for a tensor"
            ) from None
        components = cachekey.components(built.src, make_backend(built.target), built.options)
        events.send("specialized", call=number, components=components, signature=built.signature)


def _signature(fn: Any, call: list[Mapping[str, Any]]) -> str:
    """The call as a signature: what a launch would see of each argument."""
    parameters = list(fn.params)
    if len(call) > len(parameters):
        raise SignatureError(f"the call has {len(call)} arguments, and the kernel {len(parameters)} parameters.")
    by_name = {parameter.name: parameter for parameter in parameters}
    texts = []
    for position, argument in enumerate(call):
        name = argument["name"] or parameters[position].name
        if name not in by_name:
            raise SignatureError(f"the kernel has no parameter {name}; it has {', '.join(by_name)}.")
        texts.append(f"{name}={_item(by_name[name], argument)}")
    return ", ".join(texts)


def _item(parameter: Any, argument: Mapping[str, Any]) -> str:
    if "tensor" in argument:
        tensor = argument["tensor"]
        return f"*{tensor['dtype']}{':16' if tensor['aligned'] else ''}"
    text: str = argument["value"]
    if parameter.is_constexpr or text.startswith("tensordesc"):
        return text
    value = ast.literal_eval(text) if _is_number(text) else None
    if value is None:
        return text
    # A launch has only the number: its type and what it is a multiple of are Triton's to say, from the number.
    try:
        return number_text(value)
    except OverflowError:
        raise SignatureError(f"{parameter.name}={text} does not fit into 64 bits, so no launch could pass it") from None


def _is_number(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text), (bool, int, float))
    except (ValueError, SyntaxError):
        return False
