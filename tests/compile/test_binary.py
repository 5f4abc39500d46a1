"""SASS and resources: what the tools say themselves, and what becomes of it where a tool is missing."""

import subprocess
from types import SimpleNamespace

import pytest

from tritonscope.engine import binary
from tritonscope.errors import Missing

NVIDIA = SimpleNamespace(backend="cuda", warp_size=32)
AMD = SimpleNamespace(backend="hip", warp_size=64)
METADATA = {"name": "matmul", "shared": 98304, "num_warps": 8, "tmem_size": 0}


@pytest.fixture(scope="module")
def cubin(plain):
    return (plain("matmul", "sm_90") / "cubin").read_bytes()


def ptxas(arch: int = 90) -> str:
    """The ptxas that Triton takes for an architecture."""
    from triton.backends.nvidia.compiler import get_ptxas

    return get_ptxas(arch).path


def by_hand(tool: str, *arguments: str) -> str:
    return subprocess.run([binary.find_tool(tool), *arguments], check=True, capture_output=True, text=True).stdout


def test_sass_is_what_nvdisasm_prints(cubin, plain):
    text = binary.disassemble(cubin)
    assert text == by_hand("nvdisasm", "-c", "-gp", str(plain("matmul", "sm_90") / "cubin"))
    assert text == binary.disassemble(cubin)
    assert '//## File ".nv_debug_ptx_txt", line' in text
    assert "tmp" not in text


def test_resources_are_what_cuobjdump_and_ptxas_say(cubin, plain):
    folder = plain("matmul", "sm_90")
    log = binary.ptxas_log(
        (folder / "ptx").read_text(),
        [ptxas(), "-lineinfo", "-v", "--gpu-name=sm_90a", "gone.ptx", "-o", "gone.o"],
    )
    assert "Compiling entry function 'matmul'" in log
    (_, sass), (_, fields) = binary.inspect({"cubin": cubin}, log, NVIDIA, METADATA)
    usage = by_hand("cuobjdump", "-res-usage", str(folder / "cubin"))
    found = fields["resources"]
    assert tuple(found) == binary.RESOURCES
    assert f"REG:{found['registers']} STACK:{found['stack']} SHARED:{found['static_shared']} " in usage
    assert f"CONSTANT[0]:{found['constant']} " in usage
    assert f"{found['spill_stores']} bytes spill stores, {found['spill_loads']} bytes spill loads" in log
    assert (found["shared"], found["threads"], found["tmem"], found["spill_unit"]) == (98304, 256, 0, "bytes")
    # Each instruction takes 16 bytes, and nvdisasm prints each with its address.
    assert found["code_bytes"] == 16 * sum(line.lstrip().startswith("/*") for line in sass["text"].splitlines())


def test_spills_are_counted(plain):
    ptx = (plain("matmul", "sm_80") / "ptx").read_text()
    assert ".reqntid" in ptx
    log = binary.ptxas_log(ptx.replace(".reqntid", ".maxnreg 64\n.reqntid"), [ptxas(80), "--gpu-name=sm_80"])
    found = binary.resources({}, log, "", NVIDIA, {})
    assert found["registers"] == 64
    assert found["spills"] == found["spill_stores"] + found["spill_loads"] > 0


def test_sections(cubin, plain):
    names = dict(binary.sections(cubin))
    assert names[".text.matmul"] > 0
    assert ".nv_debug_ptx_txt" in names
    assert ".text" in dict(binary.sections((plain("matmul", "gfx942") / "hsaco").read_bytes()))


def test_amd(plain):
    text = (plain("matmul_grouped", "gfx942") / "amdgcn").read_text()
    ((event, fields),) = binary.inspect({"amdgcn": text, "hsaco": b""}, "", AMD, METADATA)
    found = fields["resources"]
    assert event == "resources"
    assert f".vgpr_count:     {found['registers']}\n" in text
    assert f".sgpr_count:     {found['sgprs']}\n" in text
    assert f"; Occupancy: {found['occupancy']}\n" in text
    assert (found["threads"], found["spills"], found["spill_unit"]) == (512, 0, "registers")


def test_a_tool_that_refuses_becomes_a_note():
    events = list(binary.inspect({"cubin": b"no cubin"}, "", NVIDIA))
    assert [event for event, _ in events] == ["note", "note", "resources"]
    assert events[0][1]["text"].startswith("nvdisasm failed with exit code ")
    assert "/" not in events[0][1]["text"].replace("kernel.cubin", "")
    assert set(events[2][1]["resources"].values()) == {None}


def test_a_tool_that_is_not_there_becomes_a_note(cubin, monkeypatch):
    monkeypatch.setenv("TRITON_NVDISASM_PATH", "/no/such/nvdisasm")
    events = dict(binary.inspect({"cubin": cubin}, "", NVIDIA))
    assert events["note"]["text"] == "nvdisasm could not be run: No such file or directory"
    assert events["resources"]["resources"]["registers"] > 0


def test_an_nvdisasm_that_does_not_know_gp(cubin, tmp_path):
    old = tmp_path / "nvdisasm"
    old.write_text('#!/bin/sh\ncase "$*" in *-gp*) exit 1;; esac\necho "plain $1"\n')
    old.chmod(0o755)
    assert binary.disassemble(cubin, str(old)) == "plain -c\n"


def test_ptx_that_ptxas_refuses():
    with pytest.raises(Missing, match=r"ptxas failed with exit code .*kernel\.ptx, line 1"):
        binary.ptxas_log("nonsense", [binary.find_tool("ptxas"), "--gpu-name=sm_90"])
