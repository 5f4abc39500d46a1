"""Why two compilations have different keys: the components that differ, and a sentence about the one to act on.

The components are those that `tritonscope.cachekey` describes. Standard library only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Difference", "compare", "source_of", "summarise", "unknown"]

_DIVISIBLE = "'tt.divisibility', 16"


@dataclass(frozen=True)
class Difference:
    """One component: its path, such as "attributes.M", both values, None where it is absent, and a clause about it."""

    component: str
    left: Any
    right: Any
    clause: str


def compare(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[Difference]:
    """The components that differ, in the order in which somebody would look at them: target, arguments, .., options, ..

    What either side does not know (`unknown`) is left out.
    """
    skipped = unknown(left, right)
    if "parameters" in skipped and ("parameters" in unknown(left, left)) != ("parameters" in unknown(right, right)):
        skipped = (*skipped, "signature", "attributes")  # the names are not those of the other
    told = _all(left, right)
    return [each for each in told if not any(f"{each.component}.".startswith(f"{name}.") for name in skipped)]


def unknown(left: Mapping[str, Any], right: Mapping[str, Any]) -> tuple[str, ...]:
    """The components that one of the two does not know: of a capture that was imported."""
    return tuple(_names(left.get("unknown") or [], right.get("unknown") or []))


def _all(left: Mapping[str, Any], right: Mapping[str, Any]) -> list[Difference]:
    return [
        *_kernel(left, right),
        *_target(left, right),
        *_arguments(left, right),
        *_constants(left, right),
        *_version(left, right),
        *_options(left, right),
        *_functions(left, right),
        *_environment(left, right),
        *_compiler(left, right),
        *_entries(left, right),
    ]


def summarise(differences: list[Difference], partial: bool = False) -> str:
    """The one sentence that comes first; `partial` where not all components are known, so that none is the cause."""
    if not differences and partial:
        return "What is known of both keys is the same."
    if not differences:
        return "The same key: Triton would not compile again."
    others = len(differences) - 1
    more = (
        f", and {others} other component{'s' if others > 1 else ''} differ{'' if others > 1 else 's'}" if others else ""
    )
    if partial:
        return f"Of what is known of both keys, {differences[0].clause}{more}."
    return f"Compiled again because {differences[0].clause}{more}."


def source_of(components: Mapping[str, Any], function: str) -> str | None:
    """The text of a function that went into the key, None where it is not known."""
    found = components.get("functions", {}).get(function, {})
    source = found.get("source")
    return source if isinstance(source, str) else None


def _kernel(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    a, b = left.get("kernel"), right.get("kernel")
    if "functions" in unknown(left, right):  # files call the kernel by its name alone, without its module
        a, b = str(a).rpartition(".")[2], str(b).rpartition(".")[2]
    if a != b:
        yield Difference("kernel", a, b, f"the kernel is {b} instead of {a}")


def _arguments(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """Types and specialization. A number that is 1 becomes a constant: its type says "constexpr" then."""
    names = _names(left.get("parameters", []), right.get("parameters", []))
    # IR has no constants among its arguments: where one side is no more than that, an absent one says nothing.
    partial = "constants" in unknown(left, right)
    for number, name in enumerate(names, 1):
        a, b = left.get("signature", {}).get(name), right.get("signature", {}).get(name)
        if partial and {a, b} <= {None, "constexpr"}:
            continue
        argument = f"argument {number} `{name}`"
        if a != b:
            yield Difference(f"signature.{name}", a, b, _type_clause(argument, name, left, right))
    places = _names(left.get("attributes", {}), right.get("attributes", {}))
    for place in places:
        a, b = left.get("attributes", {}).get(place), right.get("attributes", {}).get(place)
        base = place.partition("[")[0]
        constant = any(side.get("signature", {}).get(base) == "constexpr" for side in (left, right))
        if (a or "[]") == (b or "[]") or constant or (partial and None in (a, b)):
            continue
        argument = f"argument {names.index(base) + 1} `{place}`" if base in names else f"`{place}`"
        had, has = _DIVISIBLE in (a or ""), _DIVISIBLE in (b or "")
        if had and not has:
            clause = f"{argument} lost divisibility by 16"
        elif has and not had:
            clause = f"{argument} gained divisibility by 16"
        else:
            clause = f"{argument} is specialized otherwise"
        yield Difference(f"attributes.{place}", a, b, clause)


def _type_clause(argument: str, name: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    a, b = (_shown(side.get("signature", {}).get(name)) for side in (left, right))
    if b == "constexpr":
        return f"{argument} is the constant {right.get('constants', {}).get(name)} instead of {a}"
    if a == "constexpr":
        return f"{argument} is {b} instead of the constant {left.get('constants', {}).get(name)}"
    return f"{argument} is {b} instead of {a}"


def _constants(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    for name in _names(left.get("constants", {}), right.get("constants", {})):
        a, b = left.get("constants", {}).get(name), right.get("constants", {}).get(name)
        both = name in left.get("constants", {}) and name in right.get("constants", {})
        if both and a != b:
            yield Difference(f"constants.{name}", a, b, f"constant {name} is {b} instead of {a}")


def _target(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """The target decides much else: another one is the reason, and the rest follows."""
    a, b = left.get("options", {}).get("arch"), right.get("options", {}).get("arch")
    if a != b:
        yield Difference("options.arch", a, b, f"the target is {_shown(b)} instead of {_shown(a)}")
    a, b = left.get("backend", {}).get("name"), right.get("backend", {}).get("name")
    if a != b:
        yield Difference("backend.name", a, b, f"the backend is {b} instead of {a}")


def _options(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    mine, theirs = left.get("options", {}), right.get("options", {})
    names = _names(mine, theirs)
    only = [[name for name in a if name not in b] for a, b in ((mine, theirs), (theirs, mine))]
    if any(only) and unknown(left, right):
        # What an absent option would have been nobody knows: releases have others.
        gone, new = (", ".join(each) or "none" for each in only)
        clause = "the options themselves are others, as those of another Triton are"
        yield Difference("options", f"also {gone}", f"also {new}", clause)
        names = [name for name in mine if name in theirs]
    for name in names:
        a, b = mine.get(name), theirs.get(name)
        if name != "arch" and (a != b or (name in mine) != (name in theirs)):
            yield Difference(f"options.{name}", a, b, f"option {name} is {_shown(b)} instead of {_shown(a)}")


def _functions(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    mine, theirs = left.get("functions", {}), right.get("functions", {})
    for name in _names(mine, theirs):
        a, b = mine.get(name), theirs.get(name)
        short = name.rpartition(".")[2]
        if a is None or b is None:
            side = "no longer" if b is None else "now"
            yield Difference(f"functions.{name}", _hash(a), _hash(b), f"function `{short}` is {side} called")
            continue
        if a.get("source") != b.get("source"):
            yield Difference(f"functions.{name}.source", _hash(a), _hash(b), f"the source of `{short}` changed")
        if a.get("line") != b.get("line"):
            clause = f"`{short}` starts on line {b.get('line')} instead of {a.get('line')}, which is part of the key"
            yield Difference(f"functions.{name}.line", a.get("line"), b.get("line"), clause)
        yield from _globals(name, short, a, b)
        if a.get("references") != b.get("references") and a.get("source") == b.get("source"):
            clause = f"a name in `{short}` stands for something else"
            yield Difference(f"functions.{name}.references", a.get("references"), b.get("references"), clause)
        if a.get("opaque") != b.get("opaque"):
            yield Difference(f"functions.{name}", a.get("opaque"), b.get("opaque"), f"`{short}` hashes otherwise")
    if left.get("source") != right.get("source"):
        yield Difference("source", left.get("source"), right.get("source"), "the source differs")


def _globals(name: str, short: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    mine, theirs = (dict(map(tuple, side.get("globals") or [])) for side in (left, right))
    for variable in _names(mine, theirs):
        a, b = mine.get(variable), theirs.get(variable)
        if a != b:
            clause = f"global {variable}, which `{short}` reads, is {_shown(b)} instead of {_shown(a)}"
            yield Difference(f"functions.{name}.globals.{variable}", a, b, clause)


def _environment(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    mine, theirs = left.get("environment", {}), right.get("environment", {})
    for name in _names(mine, theirs):
        a, b = mine.get(name), theirs.get(name)
        if a != b:
            clause = (
                f"variable {name} is {'unset' if b is None else repr(b)} instead of {'unset' if a is None else repr(a)}"
            )
            yield Difference(f"environment.{name}", a, b, clause)
    if left.get("stages_hook") != right.get("stages_hook"):
        yield Difference("stages_hook", left.get("stages_hook"), right.get("stages_hook"), "a hook changes the stages")


def _version(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """Another release has other options and files: it comes ahead of them, as their reason."""
    a, b = left.get("triton", {}).get("version"), right.get("triton", {}).get("version")
    if a != b:
        yield Difference("triton.version", a, b, f"Triton is {_shown(b)} instead of {_shown(a)}")


def _compiler(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    mine, theirs = left.get("triton", {}), right.get("triton", {})
    files = mine.get("files", {}), theirs.get("files", {})
    differing = [name for name in _names(*files) if files[0].get(name) != files[1].get(name)]
    for name in differing:
        a, b = files[0].get(name), files[1].get(name)
        yield Difference(f"triton.files.{name}", a, b, f"Triton's own {name} differs")
    if mine.get("opaque") != theirs.get("opaque"):
        yield Difference("triton", mine.get("opaque"), theirs.get("opaque"), "Triton's own files differ")
    a, b = left.get("backend", {}).get("hash"), right.get("backend", {}).get("hash")
    if a != b:
        yield Difference("backend.hash", a, b, "the backend's tools or target differ")
    mine, theirs = left.get("libraries", {}), right.get("libraries", {})
    for name in _names(mine, theirs):
        if mine.get(name) != theirs.get(name):
            clause = f"library {name} is another file"
            yield Difference(f"libraries.{name}", mine.get(name), theirs.get(name), clause)


def _entries(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Difference]:
    """Attributes that say nothing new: of constants, and empty ones, which some releases of Triton write down."""
    if "constants" in unknown(left, right):
        return
    told = {difference.component for difference in _arguments(left, right)}
    for place in _names(left.get("attributes", {}), right.get("attributes", {})):
        a, b = left.get("attributes", {}).get(place), right.get("attributes", {}).get(place)
        if a != b and f"attributes.{place}" not in told:
            yield Difference(f"attributes.{place}", a, b, f"`{place}` has another entry among the attributes")


def _names(left: Any, right: Any) -> list[str]:
    """Left's names in their order, then those that only right has."""
    return list(dict.fromkeys([*left, *right]))


def _hash(function: Mapping[str, Any] | None) -> Any:
    return None if function is None else function.get("hash", function.get("opaque"))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("repr", value))
    return "absent" if value is None else str(value)
