"""Keys by which the lines of two texts are compared, from the finest to the coarsest.

Before anything is known, a line is told by what it computes: a hash over its template and, through its operands, over
everything that leads to it. Once values are paired, it is told by its template and the pairs its operands belong to.
Keys are hashes: equal keys are a hint for the alignment and never taken for a proof.
"""

import re
from collections.abc import Mapping, Sequence

from tritonscope.ir.dialects import hint_of
from tritonscope.ir.values import Side

__all__ = ["Levels", "coarse_keys", "deep_keys", "operation_of", "paired_keys"]

#: Keys of all lines, left and right, the finest first.
Levels = list[tuple[Sequence[int], Sequence[int]]]

_OPERATION = re.compile(r'(?:/\*\x01 )?(?:[^"=]*? = )?(?:@\S+ )?"?([\w.$]+)')


def operation_of(template: str) -> str:
    """The operation, instruction or directive that a masked line starts with; the whole line where there is none."""
    match = _OPERATION.match(template)
    return match[1] if match and match[1] != "alias" else template


def deep_keys(side: Side) -> tuple[list[int], list[int]]:
    """What each line computes, with and without the encodings of its types."""
    return _deep(side, side.strict), _deep(side, side.loose)


def _deep(side: Side, templates: list[int]) -> list[int]:
    of_value = [0] * len(side.name_of)
    keys: list[int] = []
    for at, template in enumerate(templates):
        uses = side.uses[at]
        if uses:
            key = hash((template, *[of_value[value] for value in uses]))
        elif at in side.opener:
            key = hash((template, keys[side.opener[at]]))
        else:
            key = hash((template,))
        keys.append(key)
        for i, value in enumerate(side.results[at]):
            of_value[value] = element = hash((key, i))
            for k, part in enumerate(side.several.get(value, ())):
                of_value[part] = hash((element, k))
        inner = side.inner[at]
        if inner:
            ids = side.ids[at]
            for i, index in enumerate(side.tokens[at].inner):
                first = of_value[ids[index + 1]] if index + 1 < len(ids) else 0
                hint = hint_of(side.name_of[inner[i]])
                of_value[inner[i]] = hash((hint or i, first))
    return keys


def paired_keys(left: Side, right: Side, forward: Mapping[int, int], pairs: Mapping[int, int]) -> Levels:
    """Each line's template with the pairs that its operands belong to; then with the hints of those that have none."""
    hints: dict[str, int] = {}
    backward = set(forward.values())
    exact_a = [forward.get(value, -1 - value) for value in range(len(left.name_of))]
    exact_b = list(range(len(right.name_of)))
    hinted_a = [
        forward[value] if value in forward else -1 - hints.setdefault(hint_of(name), len(hints))
        for value, name in enumerate(left.name_of)
    ]
    hinted_b = [
        value if value in backward else -1 - hints.setdefault(hint_of(name), len(hints))
        for value, name in enumerate(right.name_of)
    ]
    levels: Levels = []
    for class_a, class_b in ((exact_a, exact_b), (hinted_a, hinted_b)):
        for of_a, of_b in ((left.strict, right.strict), (left.loose, right.loose)):
            openers = {at: pairs.get(opener, -1) for at, opener in left.opener.items()}
            levels.append((_keys(left, of_a, class_a, openers), _keys(right, of_b, class_b, right.opener)))
    return levels


def _keys(side: Side, templates: list[int], classes: list[int], openers: Mapping[int, int]) -> list[int]:
    keys = [
        hash((template, *[classes[value] for value in uses])) if uses else template
        for template, uses in zip(templates, side.uses, strict=True)
    ]
    for at, opener in openers.items():
        keys[at] = hash((keys[at], opener))
    return keys


def coarse_keys(left: Side, right: Side, operations: Mapping[int, str]) -> Levels:
    """Template and hints; template; operation and hint of the first name."""
    cache: dict[str, str] = {}

    def hints(side: Side) -> list[tuple[str, ...]]:
        found = []
        for token in side.tokens:
            row = []
            for name in token.names:
                hint = cache.get(name)
                if hint is None:
                    hint = cache[name] = hint_of(name)
                row.append(hint)
            found.append(tuple(row))
        return found

    hints_a, hints_b = hints(left), hints(right)

    def level(of_a: Sequence[object], of_b: Sequence[object]) -> tuple[list[int], list[int]]:
        return [hash(key) for key in of_a], [hash(key) for key in of_b]

    return [
        level(list(zip(left.strict, hints_a, strict=True)), list(zip(right.strict, hints_b, strict=False))),
        level(list(zip(left.loose, hints_a, strict=True)), list(zip(right.loose, hints_b, strict=False))),
        (left.strict, right.strict),
        (left.loose, right.loose),
        level(
            [(operations[t], h[:1]) for t, h in zip(left.loose, hints_a, strict=True)],
            [(operations[t], h[:1]) for t, h in zip(right.loose, hints_b, strict=True)],
        ),
    ]
