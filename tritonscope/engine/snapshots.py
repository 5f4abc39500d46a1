"""The `passes/` folder of a capture being written: raw text in, named and if need be compressed snapshots out."""

from pathlib import Path

import zstandard

from tritonscope.store.layout import snapshot_name

__all__ = ["SnapshotFolder"]

#: From this many bytes on a snapshot is compressed: below, being able to grep it plainly is worth more.
COMPRESS_FROM = 256 * 1024

#: The same for snapshots that come by the hundred.
MANY = 16 * 1024


class SnapshotFolder:
    """Snapshots under one capture's folder; names are relative to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compressor = zstandard.ZstdCompressor(level=3)

    def read(self, name: str) -> str:
        """The text of an uncompressed file."""
        return (self._folder / name).read_bytes().decode("utf-8", "replace")

    def take(self, name: str) -> str:
        """The text of an uncompressed file, which is removed."""
        text = self.read(name)
        (self._folder / name).unlink()
        return text

    def write(self, name: str, text: str) -> str:
        """Write `text` as it is."""
        (self._folder / name).write_bytes(text.encode("utf-8", "replace"))
        return name

    def file(self, raw: str, text: str, step: str, name: str, suffix: str) -> str:
        """Give the raw file its name, compressed if it is large; returns that name."""
        path = self._folder / raw
        final = snapshot_name(step, name, suffix)
        if path.stat().st_size < COMPRESS_FROM:
            path.rename(self._folder / final)
            return final
        final = self.add(step, name, suffix, text.encode())
        path.unlink()
        return final

    def add(self, step: str, name: str, suffix: str, data: bytes, compress_from: int = COMPRESS_FROM) -> str:
        """Write a snapshot that has no raw file, compressed if it is large; returns its name."""
        final = snapshot_name(step, name, suffix)
        if len(data) >= compress_from:
            final += ".zst"
            data = self._compressor.compress(data)
        (self._folder / final).write_bytes(data)
        return final
