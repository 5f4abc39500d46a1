"""A bounded reader of 64-bit little-endian ELF: section tables and the values of function symbols.

Cubins, HSA code objects and libtriton.so itself are such files. Standard library only.
"""

import mmap
import struct
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Section", "function_values", "read_sections"]

_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_MAX_SECTIONS = 65536
_NO_BITS = 8  # SHT_NOBITS: a size, but no bytes in the file
_SYMBOL_TABLE = 2  # SHT_SYMTAB
_FUNCTION = 2  # STT_FUNC
_EXECUTABLE = 4  # SHF_EXECINSTR


@dataclass(frozen=True)
class Section:
    """One section: `offset` and `size` in bytes, `type`, `flags` and `link` as the ELF standard numbers them."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int


def read_sections(image: bytes | mmap.mmap) -> list[Section]:
    """The sections of an ELF image, in file order, the null section included; raises ValueError on anything else."""
    if len(image) < 64 or image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    (table,) = struct.unpack_from("<Q", image, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", image, 0x3A)
    if table == 0:
        return []
    if entry_size < _SECTION_HEADER.size:
        raise ValueError(f"section headers of {entry_size} bytes are too small for ELF")
    if count == 0:  # more than the header's 16 bits hold: the null section's size field has the number
        count = _header(image, table)[5]
    if count > _MAX_SECTIONS:
        raise ValueError(f"{count} sections are more than this reader takes")
    headers = [_header(image, table + i * entry_size) for i in range(count)]
    if names_index == 0xFFFF and headers:
        names_index = headers[0][6]
    if names_index >= count:
        raise ValueError("the section of section names is not there")
    names_at, names_size = headers[names_index][4], headers[names_index][5]
    _check_inside(image, names_at, names_size)
    sections = []
    for name, kind, flags, _, offset, size, link, *_ in headers:
        if kind not in (0, _NO_BITS):
            _check_inside(image, offset, size)
        sections.append(Section(_name(image, names_at, names_size, name), kind, flags, offset, size, link))
    return sections


def function_values(image: bytes | mmap.mmap, names: Iterable[str]) -> dict[str, int]:
    """The values in .symtab of the functions among `names` that are defined in executable code.

    A name that is not there, or is no such function, is left out; raises ValueError where the image is no ELF file.
    """
    sections = read_sections(image)
    found: dict[str, int] = {}
    for table in sections:
        if table.type != _SYMBOL_TABLE or table.link >= len(sections):
            continue
        strings = sections[table.link]
        for name in names:
            at = image.find(b"\0" + name.encode() + b"\0", strings.offset, strings.offset + strings.size)
            if at >= 0 and (value := _function_value(image, table, at + 1 - strings.offset, sections)):
                found[name] = value
    return found


def _header(image: bytes | mmap.mmap, at: int) -> tuple[int, ...]:
    _check_inside(image, at, _SECTION_HEADER.size)
    return _SECTION_HEADER.unpack_from(image, at)


def _check_inside(image: bytes | mmap.mmap, offset: int, size: int) -> None:
    if offset + size > len(image):
        raise ValueError("a section lies outside the file")


def _name(image: bytes | mmap.mmap, names_at: int, names_size: int, offset: int) -> str:
    if offset >= names_size:
        raise ValueError("a section's name lies outside the section of names")
    end = image.find(b"\0", names_at + offset, names_at + names_size)
    if end < 0:
        raise ValueError("a section's name has no end")
    return image[names_at + offset : end].decode("utf-8", "replace")


def _function_value(image: bytes | mmap.mmap, table: Section, name_offset: int, sections: list[Section]) -> int | None:
    """The value of the symbol whose name starts at `name_offset` in the strings, where it is an executable function."""
    key = struct.pack("<I", name_offset)
    at = image.find(key, table.offset, table.offset + table.size)
    while at >= 0:
        if (at - table.offset) % _SYMBOL.size == 0 and at + _SYMBOL.size <= table.offset + table.size:
            _, info, _, index, value, _ = _SYMBOL.unpack_from(image, at)
            executable = index < len(sections) and sections[index].flags & _EXECUTABLE
            return value if info & 0xF == _FUNCTION and executable and value else None
        at = image.find(key, at + 1, table.offset + table.size)
    return None
