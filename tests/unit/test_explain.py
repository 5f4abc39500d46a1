"""Explanations: that what occurs in dumps is explained, and that it is found however it is written."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonscope import bundled_kernels, cli
from tritonscope.explain import KINDS, close_matches, entries, explain, explain_all
from tritonscope.ir.stats import op_counts
from tritonscope.model import Capture
from tritonscope.store import reader

FOLDER = bundled_kernels.reference_dumps()
assert FOLDER is not None
CAPTURES, _ = reader.list_captures(FOLDER)

# Before an instruction of SASS stand its address and a predicate, of PTX a brace and a predicate.
_SASS = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.:]*)")
_PTX = re.compile(r"^\s+(?:\{\s*)?(?:@!?%\w+\s+)?([a-z][\w.:]*)(?=[ ;])", re.MULTILINE)
_AMDGCN = re.compile(r"^\t([a-z]\w+)", re.MULTILINE)
_INSTRUCTIONS = {"ptx": _PTX, "sass": _SASS, "amdgcn": _AMDGCN}


def kinds_of(name: str) -> set[str]:
    return {each.kind for each in explain_all(name)}


def missing(names: Iterable[str], *kinds: str) -> list[str]:
    return sorted(name for name in set(names) if not kinds_of(name) & set(kinds))


def stage_texts(*wanted: str) -> Iterable[tuple[str, str]]:
    for capture in CAPTURES:
        for stage in capture.stages:
            if stage.stage in wanted:
                yield stage.stage, reader.stage_text(capture, stage.stage)


# -- what dumps hold is explained: a failure names what is missing


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda c: f"{c.kernel}-{c.target}")
def test_every_pass_step_and_stage_of_the_reference_captures(capture: Capture) -> None:
    assert missing((each.name for each in capture.passes), "pass", "step") == []
    assert missing((each.stage for each in capture.stages), "stage") == []


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda c: f"{c.kernel}-{c.target}")
def test_every_operation_of_the_reference_captures(capture: Capture) -> None:
    found: Counter[str] = Counter()
    for record in capture.passes:
        if record.file is not None and ".mlir" in record.file:
            found += op_counts(reader.after(capture, record))
    assert found
    assert missing(found, "operation") == []


def test_every_layout_type_and_attribute_of_the_reference_captures() -> None:
    text = "\n".join(text for _, text in stage_texts("source", "ttir", "ttgir"))
    layouts = re.findall(r"[#!](?:tt|ttg|ttng|amdg)\.[\w.]+", text)
    attributes = re.findall(r"\b(?:tt|ttg|ttng|loop)\.[\w.-]+(?=\"? = )", text)
    assert layouts
    assert attributes
    assert missing(layouts, "layout") == []
    assert missing(attributes, "attribute") == []


@pytest.mark.parametrize("kind", sorted(_INSTRUCTIONS))
def test_at_least_95_percent_of_the_instructions_of_the_reference_captures(kind: str) -> None:
    found = Counter(name for _, text in stage_texts(kind) for name in _INSTRUCTIONS[kind].findall(text))
    lacking = missing(found, kind)
    assert found.total() > 500
    assert sum(found[name] for name in lacking) <= 0.05 * found.total(), lacking


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("stage", "python ast source ttir ttgir glir llir ptx cubin sass amdgcn hsaco"),
        (
            "step",
            "llvm.to_module llvm.link_extern_libs llvm.optimize_module llvm.translate_to_asm ptxas "
            "compile_amdgpu assemble_amdgcn amd.assemble_amdgcn amd.link_hsaco",
        ),
        (  # of warp specialisation, of Gluon, and of older Triton
            "pass",
            "tritongpu-automatic-warp-specialization tritongpu-partition-scheduling tritongpu-partition-loops "
            "nvws-insert-aref nvws-insert-tmem-aref nvws-lower-aref nvws-assign-stage-phase nvws-lower-warp-group "
            "nvgpu-warp-specialization doTaskPartition doTaskIdPropagate doDataPartition doCodePartition "
            "gluon-inline gluon-canonicalize gluon-resolve-auto-encodings gluon-infer-coalesced-encodings "
            "triton-nvidia-gpu-plan-cta triton-rewrite-tensor-pointer optimize-amd-lds-usage "
            "tritonamdgpu-reorder-instructions LowerLoops ExpandLoops VerifyWarpSpecializationPartitions",
        ),
        (
            "layout",
            "#ttg.blocked #ttg.nvidia_mma #ttg.amd_mfma #ttg.amd_wmma #ttg.dot_op #ttg.slice #ttg.swizzled_shared "
            "#ttg.nvmma_shared #ttg.linear #ttg.padded_shared #ttng.tensor_memory_encoding memdesc smem",
        ),
        (
            "attribute",
            "tt.divisibility tt.contiguity tt.pointer_range ttg.num-warps loop.stage loop.cluster ttg.partition "
            "tt.num_stages async_task_id sizePerThread threadsPerWarp warpsPerCTA order",
        ),
        ("sass", "LDG LDGSTS HMMA HGMMA UTMALDG SYNCS UTCHMMA LDTM STL BAR MUFU.EX2"),
        ("ptx", "ld.global wgmma.mma_async cp.async.bulk.tensor mbarrier.try_wait tcgen05.mma mma.sync"),
        ("amdgcn", "v_mfma buffer_load global_load ds_read ds_write s_waitcnt s_barrier"),
    ],
)
def test_names_that_the_reference_captures_lack(kind: str, names: str) -> None:
    assert missing(names.split(), kind) == []


# -- the texts


def test_texts_are_short_and_each_is_there_once() -> None:
    assert {entry.names[0]: len(entry.text) for entry in entries() if not 40 <= len(entry.text) <= 700} == {}
    assert [text for text, count in Counter(entry.text for entry in entries()).items() if count > 1] == []
    assert [entry.names[0] for entry in entries() if not entry.text.endswith(".")] == []


def test_no_name_is_explained_twice_as_the_same() -> None:
    names = Counter((name, entry.kind) for entry in entries() for name in entry.names)
    # What MLIR calls #mma or #shared may be any of several layouts.
    assert {name for (name, _), count in names.items() if count > 1} <= {"#mma", "#shared"}
    assert [name for name, _ in names if not name or name != name.strip()] == []


def test_what_to_see_as_well_exists() -> None:
    names = {name for entry in entries() for name in entry.names}
    assert {(entry.names[0], other) for entry in entries() for other in entry.see_also if other not in names} == set()
    assert [entry.names[0] for entry in entries() if set(entry.see_also) & set(entry.names)] == []


def test_every_name_finds_its_own_text() -> None:
    assert {entry.kind for entry in entries()} == set(KINDS)
    for entry in entries():
        for name in entry.names:
            assert any(each.text.startswith(entry.text) for each in explain_all(name)), name


# -- ways to write a name


@pytest.mark.parametrize(
    ("written", "name", "kind"),
    [
        ("tritongpu-coalesce", "tritongpu-coalesce", "pass"),
        ("TritonGPUCoalesce", "tritongpu-coalesce", "pass"),
        ("TritonGPUCoalescePass", "tritongpu-coalesce", "pass"),
        ("tritongpu_coalesce", "tritongpu-coalesce", "pass"),
        ("coalesce", "tritongpu-coalesce", "pass"),
        ("remove-layout-conversions#2", "tritongpu-remove-layout-conversions", "pass"),
        ("008-tritongpu-coalesce.mlir.zst", "tritongpu-coalesce", "pass"),
        ("000.2-canonicalize.before.mlir", "canonicalize", "pass"),
        ("tritongpu-pipeline{num-stages=3}", "tritongpu-pipeline", "pass"),
        ("TTGIR", "ttgir", "stage"),
        ("tt.load", "tt.load", "operation"),
        ("arith.subf", "arith.subf", "operation"),
        ("arith.frobnicate", "arith", "operation"),
        ("  %3 = tt.load %1, %2 : tensor<64x!tt.ptr<f16>, #blocked>", "tt.load", "operation"),
        ('%0 = "tt.reduce"(%1) <{axis = 1 : i32}> ({', "tt.reduce", "operation"),
        ("%acc:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %y) -> (f32) {", "scf.for", "operation"),
        ("%5 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %4)", "nvvm.shfl.sync", "operation"),
        ("%5 = tail call i32 @llvm.amdgcn.readfirstlane.i32(i32 %4)", "rocdl.readfirstlane", "operation"),
        ("%9 = add i32 %1, %2", "llvm.add", "operation"),
        ("store i32 %1, ptr addrspace(3) %2", "llvm.store", "operation"),
        ("#ttg.blocked", "#ttg.blocked", "layout"),
        ("#blocked3", "#ttg.blocked", "layout"),
        ("#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1]}>", "#ttg.amd_mfma", "layout"),
        ("!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>", "!ttg.memdesc", "layout"),
        ("tt.divisibility = 16 : i32", "tt.divisibility", "attribute"),
        ('"ttg.num-warps" = 8 : i32', "ttg.num-warps", "attribute"),
        ("{loop.stage = 1 : i32}", "loop.stage", "attribute"),
        ("HGMMA.64x256x16.F32", "HGMMA", "sass"),
        ("hgmma", "HGMMA", "sass"),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT", "SYNCS.PHASECHK", "sass"),
        ("        /*0040*/                   @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;", "LDG", "sass"),
        ("ld.global.v4.b32", "ld.global", "ptx"),
        ("@%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];", "ld.global", "ptx"),
        ("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes", "cp.async.bulk.tensor", "ptx"),
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]", "v_mfma", "amdgcn"),
        ("ds_read2st64_b64", "ds_read", "amdgcn"),
        ("s_waitcnt vmcnt(0)", "s_waitcnt", "amdgcn"),
        ("s_lshl_b64", "s_*", "amdgcn"),
    ],
)
def test_ways_to_write_it(written: str, name: str, kind: str) -> None:
    found = explain(written)
    assert found is not None
    assert (found.name, found.kind) == (name, kind)


def test_all_that_a_name_means() -> None:
    assert [(each.name, each.kind) for each in explain_all("add")] == [("add", "ptx"), ("llvm.add", "operation")]
    assert {each.name for each in explain_all("#mma")} == {"#ttg.nvidia_mma", "#ttg.amd_mfma", "#ttg.amd_wmma"}
    assert [each.kind for each in explain_all("MOV")] == ["sass"]
    assert [each.kind for each in explain_all("cp.async.commit_group")] == ["ptx"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("HGMMA.64x256x16.F32", ".64x256x16 is a tile with M = 64, N = 256, K = 16"),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "M = 64, N = 128, K = 16"),
        ("LDG.E.128", ".E 64-bit address; .128 16 bytes per thread"),
        ("ldg.e.128", ".E 64-bit address; .128 16 bytes per thread"),
        ("ld.global.v4.b32", ".v4 four elements per thread"),
        ("buffer_load_dwordx4", "dwordx4 16 bytes per lane"),
        (
            "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1]}>",
            "each thread holds 8 neighbouring elements, a warp covers 2 x 128 and the CTA 16 x 128",
        ),
    ],
)
def test_what_is_said_of_a_name_as_written(written: str, said: str) -> None:
    found = explain(written)
    assert found is not None
    assert said in found.text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("tt.laod", "tt.load"),
        ("tritongpu-coalesc", "tritongpu-coalesce"),
        ("s_waitcn", "s_waitcnt"),
        ("  %1 = ttg.convert_layuot %0", "ttg.convert_layout"),
        ("HGMM", "HGMMA"),
    ],
)
def test_misspellings(written: str, meant: str) -> None:
    assert explain_all(written) == []
    assert meant in close_matches(written)


@pytest.mark.parametrize(
    "written", ["", " ", "\n", "\0", "#", "<", "{}", "%", "%x = ", "no such thing", "\x1b[31m", "."]
)
def test_what_means_nothing(written: str) -> None:
    assert explain(written) is None


PARTS = st.lists(st.sampled_from(["%0 = ", "tt.load", "#", "<", "LDG", ".", "\x1b[", "{", "v_", "@P0 "]), max_size=12)


@given(st.text(max_size=200) | PARTS.map("".join))
def test_any_text_is_survived_and_nothing_of_it_is_repeated_raw(text: str) -> None:
    for each in explain_all(text):
        assert each.text.isprintable()
        assert each.name.isprintable()
    assert all(near.isprintable() for near in close_matches(text))


def test_a_long_text_takes_no_time() -> None:
    for text in ("%" * 100_000, "@P0 " * 50_000, "a." * 100_000, "v_" * 100_000, "{" * 100_000, "%a = " * 50_000):
        explain_all(text)
        close_matches(text)


# -- the command


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "tritongpu-coalesce#2", "add"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert [line for line in said.out.splitlines() if line and line[0] != " "] == [
        "tritongpu-coalesce  pass",
        "add  ptx",
        "llvm.add  operation",
    ]
    assert "see also: #ttg.blocked" in said.out


def test_the_command_says_the_same_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "tt.load", "TT.LOAD"]) == 0
    assert capsys.readouterr().out.count("tt.load  operation") == 1


def test_the_command_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "--json", "LDG.E.128"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert list(row) == ["asked", "name", "kind", "text", "see_also"]
    assert (row["asked"], row["name"], row["kind"]) == ("LDG.E.128", "LDG", "sass")


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line[0] != " "] == list(KINDS)
    assert cli.main(["explain", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [tuple(row["names"]) for row in rows] == [entry.names for entry in entries()]


@pytest.mark.parametrize("name", ["tt.laod", "\x1b[31mtt.laod\x1b[0m", "\u202ett.laod", "\x9b31m", "x" * 5000])
def test_an_unknown_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "tt.load", name]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.removesuffix("\n").isprintable()
    assert len(said.err) < 400


def test_control_characters_beside_a_known_name(capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--json"]):
        assert cli.main(["explain", *options, "tt.load \x1b[31m \x9b31m \u202e"]) == 0
        out = capsys.readouterr().out
        assert "tt.load" in out
        assert all(line.isprintable() for line in out.splitlines())


def test_help_reads_no_tables() -> None:
    code = (
        "import sys; from tritonscope import cli; cli.main(['--help']); "
        "sys.exit(any(name.startswith('tritonscope.explain') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
