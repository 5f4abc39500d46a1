"""Folders that Triton fills: its cache, TRITON_DUMP_DIR, and the caches that PyTorch keeps of either.

A cache entry is a folder with a file for each stage and Triton's metadata, one of a dump the same without metadata:

    <hash>/matmul.ttir  matmul.ttgir  matmul.llir  matmul.ptx  matmul.cubin  matmul.json  __grp__matmul.json
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tritonscope.errors import UsageError
from tritonscope.foreign import facts, folders
from tritonscope.foreign.found import STAGES, UNKNOWN_TARGET, Artefact, Found
from tritonscope.foreign.reading import load_object, read_regular

__all__ = ["artefacts_of", "compilations", "described", "how_many"]

CACHE = "Triton's cache"
DUMP = "TRITON_DUMP_DIR"

_LARGEST = 256 << 20
_LARGEST_METADATA = 16 << 20
_LOOKED_AT = 20_000
_BINARY = ("cubin", "hsaco")
_ELF = b"\x7fELF"

#: What a text of each stage is bound to have in it.
_LOOKS: Mapping[str, re.Pattern[bytes]] = {
    **dict.fromkeys(("source", "glir", "ttir", "ttgir"), re.compile(rb"\bmodule\b|\btt\.func\b")),
    "llir": re.compile(rb"^(?:define|declare|target|source_filename|; ModuleID)", re.MULTILINE),
    "ptx": re.compile(rb"^\.version", re.MULTILINE),
    "amdgcn": re.compile(rb"^\s*\.amd", re.MULTILINE),
}


def how_many(root: Path, most: int) -> int:
    """How many compilations `root` and folders below it look to hold; counted to `most`, and as far as is soon done."""
    count = 0
    with suppress(UsageError):
        for found in folders.walk(root, _LOOKED_AT):
            count += 0 if isinstance(found, UsageError) else len(_stages_by_name(found[1]))
            if count >= most:
                break
    return count


def compilations(folder: Path, names: Sequence[str]) -> Iterator[Found | UsageError]:
    """The compilations in `folder`, which has files of `names`; in the place of one that cannot be read, the reason."""
    for stem, stages in _stages_by_name(names).items():
        try:
            yield _compilation(folder, stem, stages)
        except UsageError as problem:
            yield problem


def artefacts_of(texts: Mapping[str, bytes], where: str) -> tuple[Artefact, ...]:
    """The stages among `texts`, in order; raises UsageError for contents that a stage cannot have."""
    for stage, data in texts.items():
        if stage in _BINARY:
            if not data.startswith(_ELF):
                raise UsageError(f"{where}: {stage} is no ELF file; this is nothing that Triton wrote")
        elif b"\0" in data:
            raise UsageError(f"{where}: {stage} is binary, which Triton's is not; this is nothing that Triton wrote")
        elif stage in _LOOKS and not _LOOKS[stage].search(data):
            raise UsageError(f"{where}: {stage} does not look like it; this is nothing that Triton wrote")
    return tuple(Artefact(stage, texts[stage]) for stage in STAGES if stage in texts)


def _stages_by_name(names: Sequence[str]) -> dict[str, list[str]]:
    """Which stages there are of each name among a folder's files."""
    groups: dict[str, list[str]] = {}
    for name in names:
        stem, dot, suffix = name.rpartition(".")
        if dot and stem and suffix in STAGES[1:]:
            groups.setdefault(stem, []).append(suffix)
    return groups


def _compilation(folder: Path, stem: str, stages: list[str]) -> Found:
    if not stem.isprintable():
        raise UsageError(f"{folder} has a file name that does not print; this is nothing that Triton wrote")
    texts = {stage: read_regular(folder / f"{stem}.{stage}", _LARGEST) for stage in stages}
    artefacts = artefacts_of(texts, f"{folder}/{stem}")
    metadata = _metadata(folder / f"{stem}.json")
    return described(stem, artefacts, metadata, CACHE if metadata else DUMP, str(folder))


def described(
    kernel: str,
    artefacts: tuple[Artefact, ...],
    metadata: Mapping[str, Any],
    tool: str,
    place: str,
    constants: Mapping[str, str] | None = None,
    names: list[str] | None = None,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Found:
    """A compilation of which there is no more than its artefacts and, perhaps, its metadata."""
    decoded = {each.stage: each.data.decode("utf-8", "replace") for each in artefacts if each.stage not in _BINARY}
    said = (facts.target_of(decoded[stage]) for stage in ("ttgir", "ptx", "amdgcn", "llir") if stage in decoded)
    target = facts.target_of_metadata(metadata) or next((each for each in said if each), UNKNOWN_TARGET)
    version = metadata.get("triton_version")
    version = version if isinstance(version, str) and version.isprintable() else None
    # The first is nearest to how the kernel was called.
    ttir = next((decoded[stage] for stage in ("source", "ttir", "ttgir") if stage in decoded), "")
    key = metadata.get("hash")
    if {"ptx", "amdgcn"} <= decoded.keys():
        notes = (*notes, "There is assembly of two backends: compilations of the same kernel wrote over one another.")
    digest = hashlib.sha256(repr(sorted(metadata.items())).encode("utf-8", "replace"))
    for each in artefacts:
        digest.update(each.stage.encode() + b"\0" + hashlib.sha256(each.data).digest())
    return Found(
        kernel=kernel,
        target=target,
        tool=tool,
        place=place,
        identity=digest.hexdigest(),
        artefacts=artefacts,
        key=key if isinstance(key, str) and key.isprintable() else "",
        source=source or facts.source_file(ttir),
        metadata=metadata,
        components=facts.components(kernel, target, metadata, ttir, version, constants, names),
        versions={} if version is None else {"triton": version},
        notes=notes,
    )


def _metadata(path: Path) -> dict[str, Any]:
    """Triton's metadata, {} where there is none."""
    if not os.path.lexists(path):
        return {}
    return load_object(read_regular(path, _LARGEST_METADATA), str(path))
