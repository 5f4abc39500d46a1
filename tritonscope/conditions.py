"""Conditions on a capture, as `--fail-if` takes them: `spills>0`, `convert_layout>10 and not /wgmma/`.

A condition compares names with numbers and looks for text. What a name stands for is the caller's to say; nothing is
ever evaluated as Python.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tritonscope.errors import UsageError

__all__ = [
    "SYNTAX",
    "Both",
    "Compares",
    "Condition",
    "Either",
    "Finds",
    "Not",
    "holds",
    "names_in",
    "parse_condition",
]

#: What `--help` says of conditions.
SYNTAX = """\
  NAME OP NUMBER   with > >= < <= == !=
  contains(TEXT)   the text is there; in quotes where it has a bracket in it
  /REGEX/          a line matches
  not, and, or and brackets put these together"""

_MOST_CHARACTERS = 2000
_DEEPEST = 50

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
}

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<contains>contains\s*\(\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^()"']+?))\s*\))
    | /(?P<regex>(?:[^/\\]|\\.)+)/
    | (?P<number>\d+(?:\.\d+)?)(?![\w.])
    | (?P<operator>[<>!=]=|[<>=])
    | (?P<bracket>[()])
    | (?P<word>[A-Za-z_][\w.:$-]*)
    )""",
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True)
class Compares:
    """`name` against a number; `operator` is a key of `_COMPARE`."""

    name: str
    operator: str
    number: float


@dataclass(frozen=True)
class Finds:
    """Whether `pattern` is found in the text."""

    pattern: "re.Pattern[str]"


@dataclass(frozen=True)
class Not:
    """The opposite of `condition`."""

    condition: "Condition"


@dataclass(frozen=True)
class Both:
    """`left and right`."""

    left: "Condition"
    right: "Condition"


@dataclass(frozen=True)
class Either:
    """`left or right`."""

    left: "Condition"
    right: "Condition"


Condition: TypeAlias = Compares | Finds | Not | Both | Either


def parse_condition(text: str) -> Condition:
    """The condition that `text` writes, see `SYNTAX`; raises UsageError, saying where it is not understood."""
    if len(text) > _MOST_CHARACTERS:
        raise UsageError(f"the condition has over {_MOST_CHARACTERS} characters; write a shorter one")
    return _Parser(text).whole()


def holds(condition: Condition, value_of: Callable[[str], float], text: str | None = None) -> bool:
    """Whether `condition` holds, where `value_of` says what a name stands for and `text` is what is searched.

    All names are asked for, so that `value_of` may raise for one that it does not know. Raises UsageError where
    a text is looked for and there is none.
    """
    if isinstance(condition, Compares):
        return _COMPARE[condition.operator](value_of(condition.name), condition.number)
    if isinstance(condition, Finds):
        if text is None:
            raise UsageError("there is no text to look into here; compare names with numbers, as in spills>0")
        return condition.pattern.search(text) is not None
    if isinstance(condition, Not):
        return not holds(condition.condition, value_of, text)
    left, right = holds(condition.left, value_of, text), holds(condition.right, value_of, text)
    return left and right if isinstance(condition, Both) else left or right


def names_in(condition: Condition) -> list[str]:
    """The names that `condition` compares, in order, each once."""
    if isinstance(condition, Compares):
        return [condition.name]
    if isinstance(condition, Finds):
        return []
    if isinstance(condition, Not):
        return names_in(condition.condition)
    return list(dict.fromkeys([*names_in(condition.left), *names_in(condition.right)]))


class _Parser:
    """Recursive descent: `or` binds loosest, then `and`, then `not`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.token: re.Match[str] | None = None
        self.next()

    def next(self) -> None:
        if not self.text[self.at :].strip():
            self.token = None
            return
        self.token = _TOKEN.match(self.text, self.at)
        if self.token is None:
            raise self.error()
        self.at = self.token.end()

    def error(self) -> UsageError:
        rest = (self.text[self.token.start() :] if self.token else self.text[self.at :]).strip()
        where = f"at {rest[:40]!r}" if rest else "at its end"
        return UsageError(
            f"the condition {self.text[:200]!r} is not understood {where}; "
            "write NAME>NUMBER, contains(TEXT) or /REGEX/, with and, or and not between them"
        )

    def took(self, group: str, *texts: str) -> bool:
        """Go on to the next token where this one is one of `texts`."""
        if self.token is None or self.token[group] not in texts:
            return False
        self.next()
        return True

    def whole(self) -> Condition:
        condition = self.either()
        if self.token is not None:
            raise self.error()
        return condition

    def either(self) -> Condition:
        condition = self.both()
        while self.took("word", "or"):
            condition = Either(condition, self.both())
        return condition

    def both(self) -> Condition:
        condition = self.single()
        while self.took("word", "and"):
            condition = Both(condition, self.single())
        return condition

    def single(self) -> Condition:
        if self.took("word", "not"):
            with self.deeper():
                return Not(self.single())
        if self.took("bracket", "("):
            with self.deeper():
                condition = self.either()
            if not self.took("bracket", ")"):
                raise self.error()
            return condition
        token = self.token
        if token is not None and token["contains"]:
            self.next()
            return Finds(re.compile(re.escape(token["double"] or token["single"] or token["bare"] or "")))
        if token is not None and token["regex"]:
            self.next()
            return Finds(_pattern(token["regex"]))
        return self.compares()

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise UsageError(f"the condition is over {_DEEPEST} brackets deep; write a shorter one")
        yield
        self.depth -= 1

    def compares(self) -> Condition:
        name = self.expect("word")
        sign = self.expect("operator")
        return Compares(name, sign, float(self.expect("number")))

    def expect(self, group: str) -> str:
        if self.token is None or self.token[group] is None or self.token[group] in ("and", "or", "not"):
            raise self.error()
        found: str = self.token[group]
        self.next()
        return found


def _pattern(text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text.replace("\\/", "/"), re.MULTILINE)
    except (re.error, OverflowError) as error:
        raise UsageError(f"/{text[:200]}/ is no regular expression ({error}); mend it, or use contains(TEXT)") from None
