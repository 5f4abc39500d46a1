"""A capture as one file for a bug report: a .tar.gz that holds the folder kernel/target-id, and a README in it.

The same capture gives the same bytes: names are sorted, and times, owners and modes are fixed.
"""

import gzip
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tritonscope.errors import UsageError
from tritonscope.model import Capture
from tritonscope.store import files

__all__ = ["README", "archive"]

#: What we add to the folder; a capture's own file of that name is left out.
README = "README.txt"

_TEXT = """\
A compilation by the Triton compiler, kept by tritonscope {tritonscope}: {capture}

status    {status}
compiled  {created}, {command}
with      {versions}

To look at it, hand the archive itself to tritonscope:

    tritonscope show ARCHIVE
    tritonscope open ARCHIVE
    tritonscope import ARCHIVE    keeps it among your captures

Without tritonscope: capture.json says what there is, passes/ holds the IR after each pass that changed it, and
`zstd -d` unpacks what ends with .zst.
"""


def archive(capture: Capture) -> bytes:
    """The archive; raises UsageError for a capture that is still being made, CaptureUnreadable for a damaged one."""
    if capture.status == "running":
        raise UsageError(f"{capture.capture} is still being compiled; export it when it is done")
    packed = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, data in [(README, _readme(capture).encode("utf-8", "replace")), *_files(Path(capture.path))]:
            member = tarfile.TarInfo(f"{capture.capture}/{name}")
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The regular files of the capture as they lie there, packed or not, by name; links are no part of one."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not (Path(parent) / name).is_symlink()]
        found += [Path(parent) / name for name in names]
    for path in sorted(found):
        name = path.relative_to(folder).as_posix()
        if name != README and path.is_file() and not path.is_symlink():
            yield name, files.read_bounded(path, files.LARGEST)


def _readme(capture: Capture) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in capture.versions.items())
    return _TEXT.format(
        tritonscope=capture.versions.get("tritonscope", "?"),
        capture=capture.capture,
        status=capture.status,
        created=capture.created,
        command=" ".join(capture.command),
        versions=versions,
    )
