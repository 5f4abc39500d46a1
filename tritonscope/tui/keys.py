"""The keys of a screen, as its bindings say: what the help and the palette are made from."""

from collections.abc import Iterator

from textual.binding import Binding

__all__ = ["keys_of"]

_SHOWN = {
    "right_curly_bracket": "}", "left_curly_bracket": "{", "right_square_bracket": "]", "left_square_bracket": "[",
    "slash": "/", "asterisk": "*", "colon": ":", "plus": "+", "question_mark": "?", "escape": "esc", "pagedown": "pgdn",
    "pageup": "pgup",
}  # fmt: skip


def keys_of(owner: object) -> list[tuple[str, Binding]]:
    """Every action with its keys, in the order in which they are bound: first those of the owner's own class."""
    keys: dict[tuple[str, str], list[str]] = {}
    bindings: dict[tuple[str, str], Binding] = {}
    for key, bound in _own(owner):
        identity = (bound.action, bound.description)
        keys.setdefault(identity, []).append(_SHOWN.get(key, key))
        bindings.setdefault(identity, bound)
    return [(" ".join(keys[identity]), binding) for identity, binding in bindings.items()]


def _own(owner: object) -> Iterator[tuple[str, Binding]]:
    """What our classes bind, and not what textual's do."""
    for each in type(owner).__mro__:
        if each.__module__.startswith("tritonscope."):
            for bound in Binding.make_bindings(each.__dict__.get("BINDINGS", ())):
                if bound.description:
                    yield bound.key, bound
