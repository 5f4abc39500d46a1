"""Which words of a changed line differ from the line it is paired with."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from tritonscope.ir.dialects import Aliases, find_names

__all__ = ["Span", "Words", "compare", "split_words"]

#: Start and end of a marked stretch of a line, as indices into its text.
Span = tuple[int, int]

_MOST_COMPARED = 400


class Words:
    """The words of a line: where each stands, and what it means to the comparison."""

    __slots__ = ("meanings", "spans")

    def __init__(self, spans: list[Span], meanings: list[object]) -> None:
        self.spans = spans
        self.meanings = meanings


def word_pattern(kind: str, rename_registers: bool) -> "re.Pattern[str]":
    """The pattern whose matches are the words of a line of `kind`; names, strings and attributes are in group 1."""
    return re.compile(rf"{find_names(kind, rename_registers).pattern}|[\w.]+|\S", re.ASCII)


def split_words(
    text: str, pattern: "re.Pattern[str]", aliases: Aliases | None, values: Sequence[object], label: bool
) -> Words:
    """The words of `text`. Its names mean `values`, in order; `label` says that it starts with one without a sigil."""
    spans: list[Span] = []
    meanings: list[object] = []
    following = iter(values)
    start = 0
    if label:
        start = text.index(":")
        spans.append((0, start))
        meanings.append(next(following))
    for match in pattern.finditer(text, start):
        spans.append(match.span())
        word = match[0]
        if match.lastindex is None or word[0] == '"':
            meanings.append(word)
        elif aliases is not None and word[0] in "#!":
            meanings.append(aliases.token(word)[0] if word[0] == "#" or word in aliases.definitions else word)
        else:
            meanings.append(next(following))
    return Words(spans, meanings)


def compare(left: Words, right: Words) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans of the words that the other line does not have, on each side; neighbours are joined."""
    a, b = left.meanings, right.meanings
    start = 0
    while start < len(a) and start < len(b) and a[start] == b[start]:
        start += 1
    end_a, end_b = len(a), len(b)
    while end_a > start and end_b > start and a[end_a - 1] == b[end_b - 1]:
        end_a -= 1
        end_b -= 1
    differ_a: list[int] = []
    differ_b: list[int] = []
    if end_a == end_b:
        differ_a = [i for i in range(start, end_a) if a[i] != b[i]]
    if end_a == end_b and (end_a - start < 4 or 2 * len(differ_a) <= end_a - start):
        differ_b = differ_a
    elif end_a == start or end_b == start or max(end_a, end_b) - start > _MOST_COMPARED:
        differ_a, differ_b = list(range(start, end_a)), list(range(start, end_b))
    else:
        differ_a = []
        matcher = SequenceMatcher(None, a[start:end_a], b[start:end_b], autojunk=False)
        for tag, a0, a1, b0, b1 in matcher.get_opcodes():
            if tag != "equal":
                differ_a += range(start + a0, start + a1)
                differ_b += range(start + b0, start + b1)
    return _joined(left.spans, differ_a), _joined(right.spans, differ_b)


def _joined(spans: list[Span], words: list[int]) -> tuple[Span, ...]:
    joined: list[Span] = []
    last = -2
    for word in words:
        if word == last + 1:
            joined[-1] = (joined[-1][0], spans[word][1])
        else:
            joined.append(spans[word])
        last = word
    return tuple(joined)
