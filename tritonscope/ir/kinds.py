"""What language a file of a capture is in, told by its name."""

from pathlib import PurePath

__all__ = ["kind_of"]

_KINDS = {
    "source": "mlir",
    "mlir": "mlir",
    "glir": "mlir",
    "ttir": "mlir",
    "ttgir": "mlir",
    "llir": "llir",
    "ll": "llir",
    "mir": "mir",
    "ptx": "ptx",
    "sass": "sass",
    "amdgcn": "amdgcn",
    "py": "python",
    "json": "json",
    "cubin": "binary",
    "hsaco": "binary",
}


def kind_of(file: str) -> str:
    """The kind of `file`: "mlir", "llir", "ptx", "sass", "amdgcn", "python", "json", "binary", or else "text".

    A `.zst` at the end is looked through: "070.3-sroa.ll.zst" is "llir".
    """
    suffix = PurePath(file.removesuffix(".zst")).suffix
    return _KINDS.get(suffix.removeprefix("."), "text")
