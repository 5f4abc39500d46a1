"""The keys of a screen, as its bindings say: what the help and the palette are made from."""

from collections.abc import Iterable
from typing import Protocol

from textual.binding import Binding, BindingsMap

__all__ = ["keys_of"]

_SHOWN = {
    "right_curly_bracket": "}", "left_curly_bracket": "{", "right_square_bracket": "]", "left_square_bracket": "[",
    "slash": "/", "asterisk": "*", "colon": ":", "plus": "+", "question_mark": "?", "escape": "esc", "pagedown": "pgdn",
    "pageup": "pgup",
}  # fmt: skip


class _Bound(Protocol):
    _bindings: BindingsMap


def keys_of(owner: _Bound) -> list[tuple[str, Binding]]:
    """Every action with its keys, in the order in which they are bound."""
    keys: dict[tuple[str, str], list[str]] = {}
    bindings: dict[tuple[str, str], Binding] = {}
    for key, bound in _own(owner):
        identity = (bound.action, bound.description)
        keys.setdefault(identity, []).append(_SHOWN.get(key, key))
        bindings.setdefault(identity, bound)
    return [(" ".join(keys[identity]), binding) for identity, binding in bindings.items()]


def _own(owner: _Bound) -> Iterable[tuple[str, Binding]]:
    for key, bound in owner._bindings.key_to_bindings.items():
        yield from ((key, each) for each in bound if each.description)
