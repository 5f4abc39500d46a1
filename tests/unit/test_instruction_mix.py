"""Instructions read, classified and measured: snippets checked by hand, and the reference captures' own sizes."""

import re

import pytest

from tritonscope import bundled_kernels
from tritonscope.ir.instruction_classes import CLASSES, class_of, width_of
from tritonscope.ir.instruction_mix import bytes_moved, mix
from tritonscope.ir.instructions import read_code
from tritonscope.model import Capture
from tritonscope.store import reader

FOLDER = bundled_kernels.reference_dumps()
assert FOLDER is not None
CAPTURES, _ = reader.list_captures(FOLDER)
NVIDIA = [capture for capture in CAPTURES if capture.target.startswith("sm_")]
by_name = pytest.mark.parametrize("capture", NVIDIA, ids=lambda c: f"{c.kernel}-{c.target}")

SASS = [
    ("HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0", "tensor_core", None),
    ("HMMA.16816.F32 R4, R8, R12, R4", "tensor_core", None),
    ("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], !UPT", "tensor_core", None),
    ("@P1 UTMALDG.2D [UR8], [UR6], desc[UR4]", "tma", None),
    ("LDGSTS.E.BYPASS.LTC128B.128 [R5], [R2.64], P0", "async_copy", 16),
    ("LDGSTS.E [R5], [R2.64]", "async_copy", 4),
    ("LDG.E.128 R4, desc[UR4][R2.64]", "global_load", 16),
    ("@!P0 LDG.E.U16.CONSTANT R4, [R2.64]", "global_load", 2),
    ("LDG.E.ENL2.256 R4, R8, desc[UR4][R2.64]", "global_load", 32),
    ("STG.E.64 desc[UR4][R2.64], R4", "global_store", 8),
    ("LDSM.16.MT88.4 R4, [R2+UR4]", "shared_load", 16),
    ("LDSM.16.M88.2 R4, [R2]", "shared_load", 8),
    ("STSM.16.M88 [R2], R4", "shared_store", 4),
    ("STS.U8 [UR4], R2", "shared_store", 1),
    ("LDL.LU R4, [R1+0x8]", "local_load", 4),
    ("STL.64 [R1], R4", "local_store", 8),
    ("LDTM.x32 R4, tmem[UR4]", "tensor_memory", None),
    ("LDC.64 R2, c[0x0][0x210]", "constant_load", None),
    ("ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R5", "atomic", None),
    ("CGAERRBAR", "barrier", None),
    ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR13+0x2c000], R16", "barrier", None),
    ("BAR.SYNC.DEFER_BLOCKING 0x0", "barrier", None),
    ("F2FP.F16.F32.PACK_AB R4, R5, R4", "conversion", None),
    ("MUFU.EX2 R4, R5", "special", None),
    ("FFMA R4, R5, R6, R7", "float", None),
    ("IMAD R4, R5, R6, R7", "integer", None),
    ("IMAD.MOV.U32 R4, RZ, RZ, R5", "move", None),
    ("IMAD.U32 R11, RZ, RZ, UR25", "move", None),
    ("HFMA2 R4, -RZ, RZ, 0, 0", "move", None),
    ("HFMA2 R4, R5, R6, R7", "float", None),
    ("@!P0 BRA `(.L_x_0)", "control", None),
    ("NEVERSEEN R1", "other", None),
]

PTX = [
    (
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%r1,%r2}, %rd7, %rd8, %p35, 1, 1, 0, 1",
        "tensor_core",
        None,
    ),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %r1 }, { %r2 }, { %r3 }, { %r4 }", "tensor_core", None),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, %p1", "tensor_core", None),
    (
        "@%p6 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r53], [%rd5, {%r1}], [%r51]",
        "tma",
        None,
    ),
    ("cp.async.bulk.commit_group", "barrier", None),
    ("cp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r5", "async_copy", 16),
    ("cp.async.ca.shared.global [%r1], [%rd1], 4", "async_copy", 4),
    ("cp.async.wait_group 2", "barrier", None),
    ("@%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ]", "global_load", 16),
    ("ld.global.L1::evict_last.b16 { %rs1 }, [ %rd1 + 0 ]", "global_load", 2),
    ("st.global.v2.b64 [%rd1], {%rd2, %rd3}", "global_store", 16),
    ("ld.shared.v2.b32 {%r1, %r2}, [%r3]", "shared_load", 8),
    ("st.shared::cta.b32 [%r1], %r2", "shared_store", 4),
    ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1,%r2,%r3,%r4}, [%r5]", "shared_load", 16),
    ("st.local.v2.b32 [%rd1], {%r1, %r2}", "local_store", 8),
    ("tcgen05.ld.sync.aligned.32x32b.x32.b32 {%r1}, [%r2]", "tensor_memory", None),
    ("tcgen05.wait::ld.sync.aligned", "barrier", None),
    ("ld.param.b64 %rd1, [kernel_param_0]", "constant_load", None),
    ("atom.global.gpu.acq_rel.add.f32 %r1, [%rd1], %r2", "atomic", None),
    ("shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1", "shuffle", None),
    ("cvt.rn.f16x2.f32 %r1, %r2, %r3", "conversion", None),
    ("ex2.approx.ftz.f32 %r1, %r2", "special", None),
    ("fma.rn.f32 %r1, %r2, %r3, %r4", "float", None),
    ("setp.lt.f32 %p1, %r1, %r2", "float", None),
    ("setp.lt.s32 %p1, %r1, %r2", "integer", None),
    ("mad.lo.s32 %r1, %r2, %r3, %r4", "integer", None),
    ("mov.b32 %r1, %r2", "move", None),
    ("bra.uni $L__BB0_1", "control", None),
]

AMDGCN = [
    ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "tensor_core", None),
    ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "tensor_core", None),
    ("global_load_dwordx4 v[0:3], v[4:5], off", "global_load", 16),
    ("buffer_load_dwordx2 v[0:1], v2, s[4:7], 0 offen", "global_load", 8),
    ("buffer_load_dword v1, s[4:7], 0 offen lds", "async_copy", 4),
    ("global_load_ushort v0, v[2:3], off", "global_load", 2),
    ("global_load_b128 v[0:3], v[4:5], off", "global_load", 16),
    ("buffer_store_short v0, v1, s[4:7], 0 offen", "global_store", 2),
    ("ds_read_b128 v[0:3], v4", "shared_load", 16),
    ("ds_read2_b64 v[0:3], v4 offset1:1", "shared_load", 16),
    ("ds_read2st64_b64 v[0:3], v4 offset1:1", "shared_load", 16),
    ("ds_read_u16 v0, v1", "shared_load", 2),
    ("ds_write_b64 v0, v[2:3]", "shared_store", 8),
    ("ds_bpermute_b32 v0, v1, v2", "shuffle", None),
    ("scratch_load_dwordx4 v[0:3], off, s32", "local_load", 16),
    ("scratch_store_dword off, v0, s32", "local_store", 4),
    ("s_load_dwordx8 s[4:11], s[0:1], 0x8", "constant_load", None),
    ("global_atomic_add_f32 v[0:1], v2, off", "atomic", None),
    ("s_waitcnt lgkmcnt(0)", "barrier", None),
    ("s_barrier", "barrier", None),
    ("v_cvt_f16_f32_e32 v0, v1", "conversion", None),
    ("v_exp_f32_e32 v0, v1", "special", None),
    ("v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "float", None),
    ("v_cmp_gt_f32_e32 vcc, v0, v1", "float", None),
    ("v_cmp_gt_i32_e32 vcc, v0, v1", "integer", None),
    ("v_add_lshl_u32 v0, v1, v2, 3", "integer", None),
    ("v_accvgpr_read_b32 v0, a0", "move", None),
    ("s_cbranch_scc1 .LBB0_2", "control", None),
]


def as_text(instruction: str, kind: str) -> str:
    if kind == "sass":
        guard, _, rest = instruction.rpartition("@")[2].partition(" ") if "@" in instruction else ("", "", instruction)
        before = f"@{guard} " if guard else ""
        return f"        /*0010*/                   {before}{rest} ;"
    return f"{{\n\t{instruction};\n}}" if kind == "ptx" else f"\t{instruction}"


@pytest.mark.parametrize(
    ("instruction", "class_", "width", "kind"),
    [(*row, kind) for kind, rows in (("sass", SASS), ("ptx", PTX), ("amdgcn", AMDGCN)) for row in rows],
)
def test_classes_and_widths(instruction: str, class_: str, width: int | None, kind: str) -> None:
    (read,) = read_code(as_text(instruction, kind), kind).instructions
    assert class_of(read, kind) == class_
    assert width_of(read, kind) == width
    assert class_ in CLASSES


@by_name
def test_every_instruction_of_the_binary_is_read(capture: Capture) -> None:
    instructions = read_code(reader.stage_text(capture, "sass"), "sass").instructions
    assert len(instructions) * 16 == capture.resources["code_bytes"]  # since sm_70 each takes 16 bytes
    total = mix(instructions, "sass").total
    assert total == len(instructions) - sum(i.opcode == "NOP" for i in instructions)


@by_name
def test_hardly_an_instruction_is_in_no_class(capture: Capture) -> None:
    found = mix(read_code(reader.stage_text(capture, "sass"), "sass").instructions, "sass")
    assert found.classes.get("other", 0) <= 1


def test_ptx_and_sass_agree_on_what_cannot_be_split_or_merged() -> None:
    for capture in NVIDIA:
        mixes = {
            stage: mix(read_code(reader.stage_text(capture, stage), stage).instructions, stage)
            for stage in ("ptx", "sass")
        }
        for class_ in ("tensor_core", "tma", "global_store"):
            assert mixes["ptx"].classes.get(class_) == mixes["sass"].classes.get(class_)


def test_amdgcn_is_counted_as_a_search_counts_it() -> None:
    (capture,) = [capture for capture in CAPTURES if capture.target == "gfx942"]
    text = reader.stage_text(capture, "amdgcn")
    found = mix(read_code(text, "amdgcn").instructions, "amdgcn")
    assert found.classes["tensor_core"] == len(re.findall(r"^\tv_mfma_", text, re.MULTILINE))
    assert found.classes["global_load"] == len(re.findall(r"^\tbuffer_load_", text, re.MULTILINE))
    assert found.widths["global_load"] == {16: found.classes["global_load"]}


def test_bytes_moved_are_those_of_global_memory() -> None:
    lines = ["LDG.E.128 R4, [R2.64]", "LDGSTS.E.64 [R5], [R2.64]", "STG.E R4, [R2.64]", "LDS.128 R4, [R5]"]
    code = read_code("\n".join(as_text(line, "sass") for line in lines), "sass")
    assert bytes_moved(code.instructions, "sass") == (24, 4)


def test_several_instructions_in_one_line_of_inline_assembly() -> None:
    text = (
        "{\n\t{ .reg .b16 a; cvt.f16.f32 a, %r1; mov.b32 %r2, {a, a}; }\n\tret;\n}\n\t.section .debug_info\n{\n.b8 1\n}"
    )
    assert [i.opcode for i in read_code(text, "ptx").instructions] == ["cvt.f16.f32", "mov.b32", "ret"]


def test_calls_over_several_lines_count_once() -> None:
    text = "{\n\tcall.uni (retval0), \n\t__nv_expf, \n\t(\n\tparam0\n\t);\n\tret;\n}"
    assert [i.opcode for i in read_code(text, "ptx").instructions] == ["call.uni", "ret"]
