"""Parsers of what assemblers, disassemblers and ELF files say, without triton."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope.engine.elf import function_values, read_sections
from tritonscope.ir.resource_usage import parse_amdgcn_usage, parse_ptxas_log, parse_res_usage

PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'matmul' for 'sm_80'
ptxas info    : Function properties for matmul
    48 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads
ptxas info    : Used 188 registers, used 2 barriers, 48 bytes cumulative stack size, 1024 bytes smem, 416 bytes cmem[0]
ptxas info    : Compile time = 135.244 ms
"""

RES_USAGE = """\

Resource usage:
 Common:
  GLOBAL:11 CONSTANT[4]:8
 Function helper:
  REG:24 STACK:16 SHARED:0 LOCAL:0 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function attention:
  REG:172 STACK:32 SHARED:1024 LOCAL:0 CONSTANT[0]:1000 TEXTURE:0 SURFACE:0 SAMPLER:0
"""

AMDGCN = """\
\t.amdhsa_kernel matmul
\t\t.amdhsa_group_segment_fixed_size 0
\t.amdhsa_next_free_vgpr 300
; Kernel info:
; codeLenInByte = 4292
; TotalNumSgprs: 32
; NumVgprs: 200
; NumAgprs: 64
; TotalNumVgprs: 264
; ScratchSize: 16
; Occupancy: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
amdhsa.kernels:
  - .agpr_count:     64
    .group_segment_fixed_size: 512
    .kernarg_segment_size: 64
    .max_flat_workgroup_size: 512
    .name:           matmul
    .private_segment_fixed_size: 16
    .sgpr_count:     30
    .sgpr_spill_count: 3
    .vgpr_count:     264
    .vgpr_spill_count: 4
"""


def test_ptxas_log() -> None:
    assert parse_ptxas_log(PTXAS) == {
        "registers": 188,
        "barriers": 2,
        "stack": 48,
        "spill_stores": 41,
        "spill_loads": 46,
        "static_shared": 1024,
        "constant": 416,
    }


def test_the_last_entry_function_counts() -> None:
    log = (
        PTXAS + "ptxas-blackwell info    : Compiling entry function 'b' for 'sm_100a'\nptxas info : Used 9 registers\n"
    )
    assert parse_ptxas_log(log)["registers"] == 9
    assert parse_ptxas_log(log)["spill_stores"] is None


def test_res_usage() -> None:
    assert parse_res_usage(RES_USAGE, "attention") == {
        "registers": 172,
        "stack": 32,
        "static_shared": 1024,
        "local": 0,
        "constant": 1000,
    }
    assert parse_res_usage(RES_USAGE)["registers"] == 24
    assert parse_res_usage(RES_USAGE, "gone")["constant"] is None


def test_amdgcn_usage() -> None:
    assert parse_amdgcn_usage(AMDGCN) == {
        "registers": 264,
        "vgprs": 200,
        "agprs": 64,
        "sgprs": 30,
        "vgpr_spills": 4,
        "sgpr_spills": 3,
        "stack": 16,
        "static_shared": 512,
        "constant": 64,
        "occupancy": 1,
        "code_bytes": 4292,
        "threads": 512,
    }


def test_directives_serve_where_there_is_no_note() -> None:
    assert parse_amdgcn_usage("\t.amdhsa_next_free_vgpr 300\n")["registers"] == 300


@given(st.text(max_size=200))
def test_unknown_text_says_nothing(text: str) -> None:
    for parse in (parse_ptxas_log, parse_res_usage, parse_amdgcn_usage):
        assert all(value is None or value >= 0 for value in parse(text).values())
    assert set(parse_ptxas_log("").values()) == {None}


def elf(symbol_type: int = 2, flags: int = 4) -> bytes:
    """A file with .text, .symtab with one function "f" of value 0x40, .strtab and .shstrtab."""
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0.bss\0"
    strings = b"\0xf\0f\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 4, symbol_type, 0, 1, 0x40, 8)
    bodies = [b"\x90" * 16, symbols, strings, names]
    offsets, body = [], b""
    for part in bodies:
        offsets.append(64 + len(body))
        body += part

    def header(name: bytes, kind: int, at: int, size: int, link: int = 0, flags: int = 0) -> bytes:
        return struct.pack("<IIQQQQIIQQ", names.index(name + b"\0"), kind, flags, 0, at, size, link, 0, 0, 0)

    table = bytes(64)
    table += header(b".text", 1, offsets[0], 16, flags=flags)
    table += header(b".symtab", 2, offsets[1], 48, link=3)
    table += header(b".strtab", 3, offsets[2], len(strings))
    table += header(b".shstrtab", 3, offsets[3], len(names))
    table += header(b".bss", 8, 0, 1 << 40)
    head = bytearray(b"\x7fELF\x02\x01\x01".ljust(64, b"\0"))
    struct.pack_into("<Q", head, 0x28, 64 + len(body))
    struct.pack_into("<HHH", head, 0x3A, 64, 6, 4)
    return bytes(head) + body + table


def test_sections() -> None:
    sections = [(s.name, s.size) for s in read_sections(elf())]
    assert sections == [("", 0), (".text", 16), (".symtab", 48), (".strtab", 6), (".shstrtab", 38), (".bss", 1 << 40)]


def test_function_values() -> None:
    assert function_values(elf(), ["f", "xf", "g"]) == {"f": 0x40}


def test_what_is_no_function_in_code_is_left_out() -> None:
    assert function_values(elf(symbol_type=1), ["f"]) == {}
    assert function_values(elf(flags=2), ["f"]) == {}


@pytest.mark.parametrize("image", [b"", b"\x7fELF", b"MZ" + bytes(200), elf()[:-1], b"\x7fELF\x01" + elf()[5:]])
def test_no_elf(image: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w+"):
        read_sections(image)


@given(st.binary(max_size=300), st.integers(0, 0x3F), st.binary(max_size=8))
def test_damaged_elf_is_a_value_error_or_read(garbage: bytes, at: int, patch: bytes) -> None:
    whole = bytearray(elf())
    whole[at : at + len(patch)] = patch
    cut = whole[: len(whole) - len(garbage)]
    for image in (bytes(whole), bytes(cut), b"\x7fELF\x02\x01" + garbage):
        with contextlib.suppress(ValueError):
            function_values(image, ["f"])


@given(st.data())
def test_damaged_section_headers(data: st.DataObject) -> None:
    image = bytearray(elf())
    start = struct.unpack_from("<Q", image, 0x28)[0]
    for _ in range(data.draw(st.integers(1, 4))):
        image[data.draw(st.integers(start, len(image) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError):
        assert isinstance(read_sections(bytes(image)), list)
        function_values(bytes(image), ["f"])
