"""tritonparse's traces: one JSON object a line, of which "compilation" holds the stages' texts and the source.

Both the raw traces that it writes and those that it has parsed are read; line maps that it adds are left out, since
the IR holds its locations itself.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from tritonscope.errors import UsageError
from tritonscope.foreign.found import STAGES, Artefact, Found
from tritonscope.foreign.reading import lines, load_object
from tritonscope.foreign.triton_folders import artefacts_of, described
from tritonscope.foreign.tritonparse_launches import Launches

__all__ = ["compilations", "looks_like"]

TOOL = "tritonparse"

_EVENT = re.compile(rb'\A\s*\{"[^\n]{0,4000}?"event_type": ?"')
_PLACE = re.compile(r"\((\d{1,4}),\)")
_LAST_LINE = 200_000
_LARGEST_SOURCE = 4 << 20
_MICROSECONDS = 1e-6

#: Text stages alone: a trace names binaries and does not hold them.
_TEXTS = frozenset(STAGES) - {"python", "cubin", "hsaco"}

#: What tritonparse adds to Triton's metadata.
_ADDED = ("cache_hit", "env", "src_attrs", "src_cache_key", "src_constants", "warp_size")


def looks_like(head: bytes) -> bool:
    """Whether a file that begins with `head` is a trace."""
    return head.lstrip().startswith(b'{"event_type"') or bool(_EVENT.match(head))


def compilations(stream: BinaryIO, place: str, launches: Launches) -> Iterator[Found | UsageError]:
    """The compilations in a trace, each once, with its `launches`; in the place of an event that cannot be read, why.

    Holds one event at a time. Raises UsageError where a line is too long.
    """
    seen: set[str] = set()
    for number, line in enumerate(lines(stream, place), 1):
        if b'"compilation"' not in line[:4096] and b'"event_type"' in line[:4096]:
            continue  # launches, by the thousand
        if not line.strip():
            continue
        try:
            event = load_object(line, f"line {number} of {place}")
            if event.get("event_type") != "compilation":
                continue
            found = _launched(_compilation(event, f"line {number} of {place}", place), launches)
        except UsageError as problem:
            yield problem
            continue
        if found.identity not in seen:
            seen.add(found.identity)
            yield found


def _compilation(event: Mapping[str, Any], where: str, place: str) -> Found:
    payload = _object(event.get("payload"), where)
    given = _object(payload.get("metadata"), where)
    texts: dict[str, bytes] = {}
    for name, text in _object(payload.get("file_content"), where).items():
        stage = name.rpartition(".")[2]
        if stage in _TEXTS and isinstance(text, str):
            texts[stage] = text.encode("utf-8", "replace")
    source = payload.get("python_source")
    source = source if isinstance(source, Mapping) else {}
    artefacts = artefacts_of(texts, where)
    if not artefacts:
        raise UsageError(f"{where} has no stage's text")
    python, names = _python(source)
    kernel = given.get("name")
    path = source.get("file_path")
    return described(
        kernel=kernel if isinstance(kernel, str) and kernel.isprintable() and kernel else "unnamed",
        artefacts=(*python, *_timed(artefacts, payload, given)),
        metadata={key: value for key, value in given.items() if key not in _ADDED},
        tool=TOOL,
        place=place,
        constants=_constants(given.get("src_constants"), names),
        names=names,
        source=path if isinstance(path, str) and path.isprintable() else "",
        notes=("The trace holds no binary, so there is no SASS.",)
        + (("The trace holds the kernel's own lines of its Python file alone.",) if python else ()),
    )


def _launched(found: Found, launches: Launches) -> Found:
    launched = launches.of(found.metadata.get("hash"))
    constants = found.components.get("constants")
    calls = launched.without(constants if isinstance(constants, Mapping) else {})
    return replace(found, launches=calls, notes=(*found.notes, *launched.notes()))


def _python(source: Mapping[str, Any]) -> tuple[tuple[Artefact, ...], list[str] | None]:
    """The kernel's Python, at the lines that it has in its file, and the names of its parameters."""
    code, start = source.get("code"), source.get("start_line")
    if not isinstance(code, str) or len(code) > _LARGEST_SOURCE:
        return (), None
    above = start - 1 if isinstance(start, int) and 0 < start <= _LAST_LINE else 0
    artefact = Artefact("python", ("\n" * above + code).encode("utf-8", "replace"))
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (artefact,), None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1:
        return (artefact,), None
    given = functions[0].args
    return (artefact,), [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _constants(places: Any, names: list[str] | None) -> dict[str, str] | None:
    """The constants by name: the trace has them by position, "(4,)"; None where that does not fit."""
    if not isinstance(places, Mapping) or names is None:
        return None
    constants = {}
    for place, value in places.items():
        match = _PLACE.fullmatch(place)
        if not match or int(match[1]) >= len(names):
            return None
        constants[names[int(match[1])]] = str(value)
    return constants


def _timed(
    artefacts: tuple[Artefact, ...], payload: Mapping[str, Any], metadata: Mapping[str, Any]
) -> Iterator[Artefact]:
    """The artefacts with what reaching them took; of what came from the cache nothing is known."""
    times = payload.get("times")
    lowering = times.get("lowering_stages") if isinstance(times, Mapping) else None
    known = {
        pair[0]: pair[1] * _MICROSECONDS
        for pair in (lowering if isinstance(lowering, list) else [])
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) in (int, float)
    }
    for each in artefacts:
        seconds = None if metadata.get("cache_hit") else known.get(each.stage)
        yield Artefact(each.stage, each.data, seconds)


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise UsageError(f"{where} lacks what a compilation of tritonparse has")
