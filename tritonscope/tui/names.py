"""Names in a text: which ones a line has, and where each is defined. No textual here."""

import re
from collections.abc import Sequence
from itertools import chain

from tritonscope.tui.document import words_of

__all__ = ["aliases_of", "definition_of", "names_of", "use_pattern"]

_ALIAS = re.compile(r"(?<![\w%@.])[#!][A-Za-z_]\w*(?![\w.<(])")


def names_of(line: str) -> list[str]:
    """The names of values, aliases, symbols and metadata in a line, each once, in order; of a line without any, the
    first word."""
    words = [(start, word) for start, _, word in words_of(line)]
    # The #1 of %5#1 is a number of a result, and no alias.
    named = [word for start, word in words if word[0] in "%#^@!$" and not line[max(start - 1, 0) : start].isalnum()]
    named = [word for word in named if word[0] not in "#!" or "." not in word]  # #ttg.blocked is no name for something
    return list(dict.fromkeys(named)) or [word for _, word in words[:1]]


def aliases_of(line: str) -> list[str]:
    """The aliases of layouts and types in a line of MLIR (#blocked1, !tile), each once, in order."""
    return list(dict.fromkeys(_ALIAS.findall(line)))


def use_pattern(name: str) -> "re.Pattern[str]":
    """Finds `name` as a whole."""
    return re.compile(rf"(?<![\w.$-]){re.escape(name)}(?![\w.$-])")


def definition_of(name: str, lines: Sequence[str], near: int) -> int | None:
    """The line that defines `name`: the nearest above `near`, inclusive, else the first below; None for none.

    It is where the name is assigned to, else the function of that name, else where it is an argument.
    """
    escaped = re.escape(name)
    for pattern in (
        rf"\s*(?:attributes )?(?:%[\w.$-]+, )*{escaped}(?::\d+)?(?:, %[\w.$-]+)*\s*=",
        rf".*\b(?:func|define|declare|func\.func|\.entry|\.func)\b.*{escaped}\b" if name[0] == "@" else "",
        rf"\s*{escaped}[:(]" if name[0] in "^$" else "",
        rf".*(?:[(,]|\bfor)\s*{escaped}(?::| =)" if name[0] == "%" else "",
        rf".*(?:func|define)\b.*[ (]{escaped}[,)]" if name[0] == "%" else "",
    ):
        if not pattern:
            continue
        matches = re.compile(pattern).match
        for number in chain(range(min(near, len(lines) - 1), -1, -1), range(near + 1, len(lines))):
            if name in lines[number] and matches(lines[number]):
                return number
    return None
