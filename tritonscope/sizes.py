"""The text of `--size`: "M=4096,N=1024,2048" gives N two values; "M=N=K=1024,2048" gives the three the same, together.

Standard library only.
"""

import itertools
from collections.abc import Iterable

from tritonscope.errors import UsageError
from tritonscope.variants import split

__all__ = ["parse_sizes"]

Value = int | float | str


def parse_sizes(texts: Iterable[str]) -> list[dict[str, Value]]:
    """Every size that `texts` ask for, the last name varying fastest; one empty size for no text.

    Raises UsageError for a value without a name.
    """
    choices: dict[tuple[str, ...], list[Value]] = {}
    for text in texts:
        names: tuple[str, ...] = ()
        for part in split(text):
            *given, value = (piece.strip() for piece in part.split("="))
            if given:
                names = tuple(given)
                choices[names] = []
            if not names or not value or not all(name.isidentifier() for name in names):
                raise UsageError(
                    f"--size {text!r} is not understood; write --size M=4096,N=4096 or --size M=N=1024,2048"
                )
            choices[names].append(_value(value))
    return [
        {name: value for names, value in zip(choices, values, strict=True) for name in names}
        for values in itertools.product(*choices.values())
    ]


def _value(text: str) -> Value:
    """A whole number, a number, or a word; "4k" is 4096 and "1M" 1024 times that."""
    for suffix, factor in (("k", 1 << 10), ("M", 1 << 20)):
        if text.endswith(suffix) and text[:-1].isdigit():
            return int(text[:-1]) * factor
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
