"""Highlighting of single lines, which is all that a view needs: the lexers keep no state between lines."""

from functools import cache, lru_cache
from typing import Any

from pygments.lexer import Lexer
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, Token

from tritonscope.ir.lexers import lexer_for

__all__ = ["PALETTES", "spans"]

#: Longer lines are drawn plain: nobody reads colour across ten screens, and a lexer takes its time.
_LONGEST = 4000

_CLASSES = (
    (Comment, "comment"),
    (Keyword.Type, "type"),
    (Keyword, "keyword"),
    (Name.Variable, "variable"),
    (Name.Function, "function"),
    (Name.Class, "function"),
    (Name.Builtin, "operation"),
    (Name.Label, "label"),
    (Name.Decorator, "alias"),
    (Name.Attribute, "attribute"),
    (String, "string"),
    (Number, "number"),
    (Literal, "number"),
    (Operator, "operator"),
)

#: Colours of what `spans` names, for dark and light grounds. Both are readable with 256 colours.
PALETTES: dict[str, dict[str, str]] = {
    "dark": {
        "comment": "#7f848e",
        "type": "#56b6c2",
        "keyword": "#c678dd",
        "variable": "#e5c07b",
        "function": "#61afef",
        "operation": "#82b1ff",
        "label": "#d19a66",
        "alias": "#98c379",
        "attribute": "#abb2bf",
        "string": "#98c379",
        "number": "#d19a66",
        "operator": "#abb2bf",
    },
    "light": {
        "comment": "#6a737d",
        "type": "#005f87",
        "keyword": "#8700af",
        "variable": "#875f00",
        "function": "#005faf",
        "operation": "#0000af",
        "label": "#af5f00",
        "alias": "#005f00",
        "attribute": "#444444",
        "string": "#005f00",
        "number": "#af5f00",
        "operator": "#444444",
    },
    "ansi": {
        "comment": "bright_black",
        "type": "cyan",
        "keyword": "magenta",
        "variable": "yellow",
        "function": "bright_cyan",
        "operation": "bright_blue",
        "label": "yellow",
        "alias": "green",
        "string": "green",
        "number": "yellow",
    },
}


@cache
def _lexer(kind: str) -> Lexer:
    return lexer_for(kind)


@lru_cache(maxsize=8192)
def spans(line: str, kind: str) -> tuple[tuple[int, int, str], ...]:
    """(start, end, class) of what is to be coloured in `line`, a line of a text of `kind`; in order, apart.

    A class goes on over the blanks after it, which look the same and so make no piece of their own to be sent to the
    terminal.
    """
    if len(line) > _LONGEST:
        return ()
    found: list[tuple[int, int, str]] = []
    for start, token, value in _lexer(kind).get_tokens_unprocessed(line):
        end = start + len(value)
        last = found[-1] if found else (0, 0, "")
        blank = not value.strip()
        name = last[2] if blank else _class_of(token)
        if last[1] == start and last[2] == name and name:
            found[-1] = (last[0], end, name)
        elif name and not blank:
            found.append((start, end, name))
    return tuple(found)


@cache
def _class_of(token: Any) -> str:
    return next((name for parent, name in _CLASSES if token in parent), "") if token is not Token else ""
