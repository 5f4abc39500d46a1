"""What each parameter of a kernel gets, from all that is known: flags, signature, autotune config, heuristics, spec.

Runs in the child. The order of precedence, first wins, for each parameter:

    --set, --signature, the autotune configuration, a heuristic, the spec's signature, an option of the same name,
    the annotation, the default

and for each option: the flag, a heuristic, the configuration, the spec. What is left is asked for.
"""

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tritonscope.engine.arguments import (
    Items,
    Node,
    Value,
    from_object,
    is_unknown,
    parse_annotation,
    settle,
)
from tritonscope.engine.kernelfile import LoadedKernel
from tritonscope.errors import SignatureError, UsageError
from tritonscope.kernel_uses import uses_of
from tritonscope.model import Request
from tritonscope.signature import (
    Argument,
    Constant,
    Signature,
    TupleOf,
    Unknown,
    format_argument,
    parse_signature,
    parse_value,
)

__all__ = ["NotTold", "Resolved", "resolve", "signature_text"]


class NotTold(SignatureError):
    """Nothing says what the parameters called `names` are."""

    def __init__(self, sentence: str, names: Sequence[str] = ()) -> None:
        super().__init__(sentence)
        self.names = tuple(names)


@dataclass(frozen=True)
class Resolved:
    """A node for each parameter, in the kernel's order, the options that were asked for, and what to tell of them."""

    nodes: Mapping[str, Node]
    options: Mapping[str, Any]
    notes: tuple[str, ...]


def resolve(loaded: LoadedKernel, request: Request, known_options: Iterable[str]) -> Resolved:
    """Put together what `request` and the kernel's file say.

    Raises SignatureError, with a line ready to edit where something is still unknown, and UsageError for an option that
    is none of `known_options` or a configuration that is not there.
    """
    params = {param.name: param for param in loaded.fn.params}
    scope = loaded.fn.get_capture_scope()
    config = _config(loaded, request)
    asked = _asked_options(request.options, known_options)
    config_options = {name: value for name, value in config.items() if name in known_options}
    spec_options = {
        **loaded.spec.get("options", {}),
        **loaded.spec.get("options_for", {}).get(request.target.backend, {}),
        **loaded.spec.get("options_for", {}).get(request.target.name, {}),
    }
    options = {**spec_options, **config_options, **asked}

    explicit = {
        **_by_name(request.signature, params, "--signature"),
        **_set_values(request.constants, params, known_options),
    }
    spec = _by_name(loaded.spec.get("signature"), params, "the file's TRITONSCOPE")

    nodes: dict[str, Node] = {}
    for name, param in params.items():
        if name in explicit:
            nodes[name] = settle(explicit[name], param, scope)
        elif name in config:
            nodes[name] = from_object(config[name], param, scope)
        elif name in spec:
            nodes[name] = settle(spec[name], param, scope)
        elif name in options:
            nodes[name] = from_object(options[name], param, scope)
        else:
            nodes[name] = _own(loaded.fn, param, scope)

    notes = [
        f"{name}={value} of the autotune configuration is no option of this target's backend; it is left out."
        for name, value in config.items()
        if name not in params and name not in known_options
    ]
    fixed = explicit.keys() | config.keys()
    decided = dict(_heuristic_values(loaded, nodes, options))
    for name, value in decided.items():
        if name in params and name not in fixed:
            nodes[name] = from_object(value, params[name], scope)
        elif name in known_options and name not in asked:
            options[name] = value

    if any(is_unknown(node) for node in nodes.values()):
        raise NotTold(_question(loaded, nodes), [name for name, node in nodes.items() if is_unknown(node)])
    notes += (
        f"The heuristic for {name} needs arguments that only a launch has; {name}={_node_text(nodes[name])} stands in, "
        f"and --set {name}=VALUE changes it."
        for name, _ in loaded.heuristics
        if name in params and name not in decided and name not in fixed
    )
    # A launch gives a keyword argument that is both a parameter and an option to both.
    options |= {name: node.value for name, node in nodes.items() if name in known_options and isinstance(node, Value)}
    return Resolved(nodes, options, tuple(notes))


def signature_text(nodes: Mapping[str, Node]) -> str:
    """A full signature line with which the same nodes come out again."""
    return ", ".join(f"{name}={_node_text(node)}" for name, node in nodes.items())


def _node_text(node: Node) -> str:
    if isinstance(node, Items):
        items = [_node_text(item) for item in node.items]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    return node.text if isinstance(node, Value) else format_argument(node)


def _config(loaded: LoadedKernel, request: Request) -> Mapping[str, Any]:
    count = len(loaded.configs)
    if request.config is not None and not 0 <= request.config < count:
        there = f"it has {count}, numbered from 0" if count else "it has none"
        raise UsageError(f"{loaded.ref.name} has no autotune configuration {request.config}; {there}.")
    return loaded.configs[request.config or 0] if count else {}


def _asked_options(texts: Mapping[str, str], known: Iterable[str]) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in known:
            near = difflib.get_close_matches(name, list(known), n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(sorted(known))}."
            raise UsageError(f"{name} is no option of this target's backend; {hint}")
        asked[name] = _option_value(text)
    return asked


def _option_value(text: str) -> Any:
    """A number, boolean, None, string or tuple; anything else is a string as it stands, as in `tf32x3`."""

    def plain(argument: Argument) -> Any:
        if isinstance(argument, TupleOf):
            return tuple(plain(item) for item in argument.items)
        return argument.value if isinstance(argument, Constant) else format_argument(argument)

    try:
        return plain(parse_value(text))
    except SignatureError:
        return text


def _by_name(text: str | None, params: Mapping[str, Any], source: str) -> dict[str, Argument]:
    signature = parse_signature(text) if text is not None else Signature()
    names = list(params)
    if len(signature.positional) > len(names):
        raise SignatureError(
            f"{source} has {len(signature.positional)} arguments for {len(names)} parameters: {', '.join(names)}."
        )
    by_name = dict(zip(names, signature.positional, strict=False))
    for name, argument in signature.named:
        if name not in params:
            raise SignatureError(_no_parameter(name, names, source))
        if name in by_name:
            raise SignatureError(f"{source} gives {name} twice, by its position and by its name.")
        by_name[name] = argument
    return by_name


def _set_values(
    texts: Mapping[str, str], params: Mapping[str, Any], known_options: Iterable[str]
) -> dict[str, Argument]:
    for name in texts:
        if name not in params:
            hint = f" It is an option of the backend: pass --option {name}=VALUE." if name in known_options else ""
            raise SignatureError(_no_parameter(name, list(params), "--set") + hint)
    return {name: parse_value(text) for name, text in texts.items()}


def _no_parameter(name: str, names: list[str], source: str) -> str:
    return f"{source} names {name}, which the kernel does not take; its parameters are {', '.join(names)}."


def _own(fn: Any, param: Any, scope: Mapping[str, Any]) -> Node:
    """What the parameter says of itself."""
    default = fn.signature.parameters[param.name].default
    if default is not inspect.Parameter.empty:
        return from_object(default, param, scope)
    if fn.signature.parameters[param.name].kind is inspect.Parameter.VAR_POSITIONAL:
        return Items(())
    if param.annotation_type:
        return settle(parse_annotation(param.annotation_type), param, scope)
    return Unknown()


class _Constants(dict[str, Any]):
    def get(self, name: str, default: Any = None) -> Any:
        """As `[]`: a launch has every argument, so that the heuristic's own default would never be taken."""
        return self[name]


def _heuristic_values(
    loaded: LoadedKernel, nodes: Mapping[str, Node], options: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The heuristics that the constants alone decide, each seeing what those before it gave."""
    known = _Constants(options)
    known.update((name, node.value) for name, node in nodes.items() if isinstance(node, Value))
    for name, heuristic in loaded.heuristics:
        value = _evaluated(heuristic, known)
        if value is not Unknown:
            known[name] = value
            yield name, value


def _evaluated(heuristic: Callable[[Any], Any], known: Mapping[str, Any]) -> Any:
    try:
        return heuristic(known)
    except Exception:  # it asked for a tensor or a number that only a launch has
        return Unknown


def _question(loaded: LoadedKernel, nodes: Mapping[str, Node]) -> str:
    unknown = [name for name, node in nodes.items() if is_unknown(node)]
    guesses = _guesses(loaded.fn)
    parts = []
    for name, node in nodes.items():
        guess = guesses.get(name, "?") if isinstance(node, Unknown) else _node_text(node)
        parts.append(f"{name}={guess}")
    noun, pronoun = ("types or values", "they are") if len(unknown) > 1 else ("type or value", "it is")
    return (
        f"The {noun} of {', '.join(unknown)} cannot be told from the kernel's file; say what {pronoun} "
        f"(what stands below for {'them' if len(unknown) > 1 else 'it'} is a guess):\n"
        f'    --signature "{", ".join(parts)}"'
    )


def _guesses(fn: Any) -> dict[str, str]:
    """Likely types, by how the kernel's body uses its parameters; only ever suggested, never compiled with."""
    uses = uses_of(fn.parse())
    guesses = {}
    for param in fn.params:
        if param.is_constexpr:
            continue
        if param.name in uses.pointers or param.name.endswith("ptr"):
            guesses[param.name] = "*kfp16:16" if param.is_const else "*fp16:16"
        elif param.name in uses.integers or param.name.startswith(("stride", "n_", "num")):
            guesses[param.name] = "i32"
    return guesses
