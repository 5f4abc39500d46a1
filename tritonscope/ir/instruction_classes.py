"""What class an instruction of SASS, PTX or AMDGCN is in, and how many bytes it moves. Standard library only."""

import re
from collections.abc import Mapping

from tritonscope.ir.instructions import Instruction

__all__ = ["CLASSES", "MOVED", "PADDING", "Class", "class_of", "width_of"]

Class = str

#: The classes, in the order in which they are shown, each with its name in a sentence.
CLASSES: Mapping[Class, str] = {
    "tensor_core": "tensor core",
    "tma": "bulk copy (TMA)",
    "async_copy": "asynchronous copy",
    "global_load": "global load",
    "global_store": "global store",
    "atomic": "atomic",
    "shared_load": "shared load",
    "shared_store": "shared store",
    "tensor_memory": "tensor memory",
    "local_load": "local load",
    "local_store": "local store",
    "constant_load": "constant load",
    "shuffle": "across the warp",
    "barrier": "barrier or wait",
    "conversion": "conversion",
    "special": "special function",
    "float": "floating point",
    "integer": "integer and logic",
    "move": "move or select",
    "control": "control",
    "other": "other",
}

#: Classes whose instructions move data between memory and a thread, with a width.
MOVED = ("async_copy", "global_load", "global_store", "shared_load", "shared_store", "local_load", "local_store")


#: Opcodes that do nothing, which no count includes.
PADDING = ("NOP", "s_nop", "s_code_end")


def class_of(instruction: Instruction, kind: str) -> Class:
    """The class of an instruction, a key of CLASSES; "other" where it is in none of the tables."""
    if kind == "sass":
        return _sass_class(instruction)
    table = _PTX_CLASSES if kind == "ptx" else _GCN_CLASSES
    match = table.match(instruction.opcode)
    found = match.lastgroup if match and match.lastgroup else "other"
    if kind == "amdgcn" and found == "global_load" and re.search(r"\blds\b", instruction.operands):
        return "async_copy"  # straight from global memory to LDS
    return found


def width_of(instruction: Instruction, kind: str) -> int | None:
    """Bytes that the instruction moves for each thread, None for one that moves none or does not say."""
    which = class_of(instruction, kind)
    if which not in MOVED:
        return None
    if kind == "sass":
        return _sass_width(instruction.opcode)
    return _ptx_width(instruction) if kind == "ptx" else _gcn_width(instruction.opcode)


# By the opcode up to its first dot, without the U of uniform registers.
_SASS_CLASSES: Mapping[Class, str] = {
    "tensor_core": "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCMMA",
    "tma": "UTMALDG UTMASTG UTMAREDG UTMAPF UBLKCP UBLKRED UBLKPF TMALDG",
    "async_copy": "LDGSTS",
    "global_load": "LDG LD",
    "global_store": "STG ST",
    "atomic": "ATOM ATOMG ATOMS RED REDG REDAS UTCATOMSWS",
    "shared_load": "LDS LDSM",
    "shared_store": "STS STSM",
    "tensor_memory": "LDTM STTM UTCCP UTCSHIFT",
    "local_load": "LDL",
    "local_store": "STL",
    "constant_load": "LDC ULDC LDCU",
    "shuffle": "SHFL REDUX CREDUX VOTE VOTEU MATCH ELECT",
    "barrier": "BAR SYNCS MEMBAR FENCE DEPBAR LDGDEPBAR LDTMDEPBAR WARPSYNC WARPGROUP WARPGROUPSET ERRBAR CCTL CCTLL "
    "CGAERRBAR UTMACCTL UTMACMDFLUSH UTCBAR ARRIVES NANOSLEEP UCGABAR_ARV UCGABAR_WAIT ACQBULK USETMAXREG B2R R2B",
    "conversion": "F2F F2FP F2I F2IP I2F I2FP I2I I2IP FRND UF2F UF2FP UF2I UI2F UI2FP",
    "special": "MUFU",
    "float": "FADD FADD2 FADD32I FFMA FFMA2 FFMA32I FMUL FMUL2 FMUL32I FMNMX FMNMX3 FSETP FSET FCHK FSWZADD HADD2 "
    "HFMA2 HMUL2 HMNMX2 HSETP2 HSET2 DADD DFMA DMUL DMNMX DSETP UFADD UFMUL UFFMA UFSETP UFMNMX UFSET",
    "integer": "IADD IADD2 IADD3 IADD32I VIADD VIADDMNMX VIMNMX VIMNMX3 IMAD IMUL IDP IDP4A IABS IMNMX ISETP LEA LOP "
    "LOP3 LOP32I PLOP3 SHF SHL SHR SGXT BFE BFI BMSK BREV FLO POPC PSETP P2R R2P VABSDIFF VABSDIFF4 UIADD3 UIMAD UIABS "
    "ULEA ULOP ULOP3 UPLOP3 USHF USHL USHR USGXT UISETP UBMSK UBREV UFLO UPOPC UVIADD UVIMNMX UIMNMX UP2UR UR2UP "
    "UPSETP",
    "move": "MOV MOV32I UMOV SEL FSEL USEL UFSEL PRMT UPRMT R2UR UR2R CS2R CS2UR S2R S2UR MOVM",
    "control": "BRA BRX BRXU JMP JMX EXIT CALL RET BSSY BSYNC BREAK BPT KILL YIELD PREEXIT",
}
_SASS_CLASS_OF = {name: which for which, names in _SASS_CLASSES.items() for name in names.split()}

# A float or integer unit that only moves a value: IMAD.MOV, IMAD with two zeroes, HFMA2 of a constant.
_IMAD_MOVE = re.compile(r"U?R\w+, U?RZ, U?RZ,")
_HFMA2_MOVE = re.compile(r"R\w+, -?RZ, -?RZ, ")


def _sass_class(instruction: Instruction) -> Class:
    opcode = instruction.opcode
    base = opcode.partition(".")[0]
    if base in ("IMAD", "UIMAD") and (".MOV" in opcode or _IMAD_MOVE.match(instruction.operands)):
        return "move"
    if base == "HFMA2" and _HFMA2_MOVE.match(instruction.operands):
        return "move"
    return _SASS_CLASS_OF.get(base, "other")


def _sass_width(opcode: str) -> int:
    parts = opcode.split(".")
    if parts[0] in ("LDSM", "STSM"):  # one 8x8 matrix of 16 bits is a register of each thread
        return 4 * (int(parts[-1]) if parts[-1] in ("2", "4") else 1)
    widths = {"256": 32, "128": 16, "96": 12, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}
    return next((widths[part] for part in parts if part in widths), 4)


_PTX_CLASSES = re.compile(
    r"""(?:
      (?P<tensor_core> (?:mma|wmma|wgmma\.mma_async|tcgen05\.mma)\b )
    | (?P<tma> cp\.(?:reduce\.)?async\.bulk\.(?!commit|wait) )
    | (?P<async_copy> cp\.async\.(?:ca|cg)\b )
    | (?P<tensor_memory> tcgen05\.(?:ld|st|cp|shift|alloc|dealloc|relinquish_alloc_permit)\b )
    | (?P<barrier> (?:bar|barrier|mbarrier|membar|fence|cp|wgmma|tcgen05|setmaxnreg|griddepcontrol|nanosleep
        |tensormap\.cp_fenceproxy)\. )
    | (?P<atomic> (?:atom|red|multimem)\. )
    | (?P<constant_load> ld\.(?:param|const)\b )
    | (?P<shared_load> ld(?:\.\w+)*?\.shared | ldmatrix\. )
    | (?P<shared_store> st(?:\.\w+)*?\.shared | stmatrix\. )
    | (?P<local_load> ld\.local )
    | (?P<local_store> st\.local )
    | (?P<global_load> ld\. )
    | (?P<global_store> st\.(?!param) )
    | (?P<shuffle> (?:shfl|redux|vote|match|elect|activemask)\b )
    | (?P<conversion> cvt\b )
    | (?P<special> (?:ex2|lg2|rcp|rsqrt|sqrt|sin|cos|tanh)\b )
    | (?P<control> (?:bra|brx|call|ret|exit|trap|brkpt)\b )
    | (?P<move> (?:mov|selp|slct|prmt|cvta|isspacep|movmatrix)\b )
    | (?P<float> (?:add|sub|mul|fma|mad|div|min|max|neg|abs|set|setp|copysign|testp)
        \.(?:\w+\.)*(?:b?f16|b?f16x2|f32|f32x2|f64|tf32)\b )
    | (?P<integer> (?:add|addc|sub|subc|mul|mul24|mad|mad24|sad|div|rem|abs|neg|min|max|popc|clz|bfind|fns
        |brev|bfe|bfi|szext|bmsk|dp4a|dp2a
        |and|or|xor|not|cnot|lop3|shl|shr|shf|set|setp)\b )
    )""",
    re.VERBOSE,
)
_PTX_WIDTH = re.compile(r"(?:\.v(\d))?\.[a-z]+(\d+)$")
_PTX_COPIED = re.compile(r"\],\s*(?:\[[^\]]*\],\s*)?(0x[0-9a-f]+|\d+)", re.IGNORECASE)


def _ptx_width(instruction: Instruction) -> int | None:
    opcode = instruction.opcode
    if opcode.startswith(("ldmatrix", "stmatrix")):
        found = re.search(r"\.x([124])\b", opcode)
        return 4 * int(found[1]) if found else None
    if opcode.startswith("cp.async"):
        copied = _PTX_COPIED.search(instruction.operands)
        return int(copied[1], 0) if copied else None
    match = _PTX_WIDTH.search(opcode)
    return int(match[1] or 1) * int(match[2]) // 8 if match else None


_GCN_CLASSES = re.compile(
    r"""(?:
      (?P<tensor_core> v_(?:mfma|smfmac|wmma|swmmac)_ )
    | (?P<tma> tensor_(?:load|store) )
    | (?P<async_copy> global_load_lds | global_load_async_to_lds | buffer_load_\w+_lds )
    | (?P<atomic> (?:global|buffer|flat|ds)_(?:atomic|add|sub|min|max|and|or|xor|cmpst|wrxchg|pk_add)\w* )
    | (?P<global_load> (?:global|buffer|flat)_load )
    | (?P<global_store> (?:global|buffer|flat)_store )
    | (?P<shuffle> ds_(?:b?permute|swizzle) | v_(?:readlane|writelane|readfirstlane|permlane)\w* | v_\w+_dpp\b )
    | (?P<shared_load> ds_(?:read|load) )
    | (?P<shared_store> ds_(?:write|store) )
    | (?P<local_load> scratch_load )
    | (?P<local_store> scratch_store )
    | (?P<constant_load> s_(?:buffer_)?load )
    | (?P<barrier> s_(?:barrier|waitcnt|wait_|sched_barrier|sleep|sethalt)\w*
        | buffer_(?:wbl2|inv|gl\d_inv)\w* | s_dcache\w* | global_(?:wb|inv)\w* )
    | (?P<conversion> v_cvt )
    | (?P<special> v_(?:exp|log|rcp|rsq|sqrt|sin|cos)_ )
    | (?P<control> s_(?:c?branch|endpgm|setpc|swappc|call|getpc|trap|clause|delay_alu
        |setprio|set_gpr|setreg|code_end)\w* )
    | (?P<move> v_(?:dual_)?(?:mov|cndmask|perm|accvgpr|swap|pack)\w* | s_(?:mov|cmov|cselect|pack)\w* )
    | (?P<float> v_(?:dual_)?(?:pk_)?(?:cmpx?_\w+_)?\w*f(?:16|32|64)\b
        | v_(?:pk_)?(?:cmpx?_)?\w*b?f(?:16|32|64)(?:_\w+)? )
    | (?P<integer> [vs]_ )
    )""",
    re.VERBOSE,
)
_GCN_UNITS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "short": 2, "byte": 1}
_GCN_PART = re.compile(r"_(?:(dwordx?\d?)|[us]?(short|byte))")
_GCN_BITS = re.compile(r"_[bui](\d+)")


def _gcn_width(opcode: str) -> int | None:
    if unit := _GCN_PART.search(opcode):
        return _GCN_UNITS.get(unit[1] or unit[2])
    bits = _GCN_BITS.search(opcode)
    if not bits:
        return None
    pairs = 2 if re.match(r"ds_(?:read|write|load|store)_?2", opcode) else 1
    return pairs * int(bits[1]) // 8
