"""What SASS instructions do; the format is that of `tables.read`."""

__all__ = ["MODIFIERS", "SASS"]

SASS = """
LDG > ld.global tt.load STG
Load from global memory to registers. .E means a 64-bit address, .128 or .64 that each thread gets 16 or 8 bytes, .U16
two bytes; no size is 4 bytes. The first use of its register stalls until data is there, some 500 cycles after a miss
in L2, so count what stands between.

STG > st.global tt.store
Store from registers to global memory, .128 being 16 bytes per thread. A run of STG.E.U16 means an output that was not
vectorised.

LDGSTS > cp.async LDGDEPBAR DEPBAR
Asynchronous copy from global to shared memory (cp.async). .BYPASS skips L1, .128 copies 16 bytes, .LTC128B prefetches
the 128-byte line into L2. Its mask is a predicate or a zero size.

LDGDEPBAR > cp.async.commit_group DEPBAR
Ties the LDGSTS issued so far to a scoreboard: the end of a cp.async group.

DEPBAR > cp.async.wait_group LDGDEPBAR
Waits until a scoreboard has at most so many entries outstanding; DEPBAR.LE SB0, 0x1 is cp.async.wait_group 1. Also
waits for TMA stores.

LDS > ld.shared LDSM
Load from shared memory, .128 being 16 bytes per thread. Bank conflicts multiply its time; they show in a profiler,
not here.

STS > st.shared ttg.convert_layout
Store to shared memory. Groups of STS, BAR and LDS inside a loop are layout conversions or reductions over warps.

LDSM > ldmatrix HMMA
Loads 8x8 matrices from shared memory for tensor cores: .M88.4 is four of them, .MT88 transposed. Should be spread
between HMMA rather than stand in front of them.

STSM > stmatrix
Stores matrix fragments to shared memory, .M88.4 being four 8x8 matrices at once. Fewer instructions and bank
conflicts than a series of STS.

LDL > STL ld.local
Load from local memory, thread-private but in L1 or beyond: spilled registers coming back, or an array indexed at run
time. In the main loop it is a performance bug. .LU marks the last use.

STL > LDL st.local
Store to local memory: a register is spilled. Fewer elements per thread, more warps, smaller tiles or less unrolling
get rid of it.

LDC | ULDC | LDCU > ld.param
Reads the constant bank, c[0x0][...] being kernel arguments and launch parameters; U forms load to a uniform register.
.64 and .128 are widths.

HMMA > mma.sync LDSM
Tensor core product of a warp on fp16, bf16 or tf32: .16816 is m16n8k16, .1688 half that depth, .F32 the accumulator.
Back-to-back HMMA keep tensor cores busy; other instructions between them are hidden only if they are independent.

HGMMA > wgmma.mma_async WARPGROUP.DEPBAR
Hopper's warp group product: .64x256x16 is M x N x K of one instruction, .F32 the accumulator, gdesc[UR] the shared
memory descriptor. gsb0 ties it to the group barrier. Small N means many instructions and less reuse.

QGMMA | IGMMA | QMMA | IMMA | DMMA | OMMA > HGMMA HMMA
Tensor core products of other types: Q of fp8, I of int8, D of fp64, O of fp4, for a warp (MMA) or a warp group
(GMMA).

UTCHMMA | UTCQMMA | UTCOMMA | UTCIMMA > tcgen05.mma UTCBAR
Blackwell's matrix product, issued once from the uniform datapath: H for 16-bit, Q for 8-bit, O for 4-bit types.
Operands are shared memory descriptors, the accumulator is in tensor memory.

UTCBAR > tcgen05.commit
Signals an mbarrier when the matrix products issued before are done (tcgen05.commit). One per pipeline buffer is
usual.

UTCATOMSWS | UVIRTCOUNT | UTCCP > tcgen05.alloc
Management of tensor memory: finding and reserving free columns, freeing them, giving up the permit; UTCCP copies from
shared memory.

LDTM > tcgen05.ld ttng.tmem_load
Loads from tensor memory to registers: .x64 columns at a time, .16dp32bit and the like the shape over lanes. A large
.x is efficient but takes as many registers.

STTM > tcgen05.st ttng.tmem_store
Stores registers to tensor memory, .x32 being 32 columns. FENCE or a wait must follow before a matrix product reads
it.

UTMALDG > cp.async.bulk.tensor SYNCS
TMA load of a box to shared memory, .2D or .3D; issued by one thread from uniform registers that hold descriptor,
coordinates, buffer and barrier. Hardly costs issue slots.

UTMASTG | UTMAREDG > cp.async.bulk.tensor UTMACMDFLUSH
TMA store (or reduction) of a box from shared to global memory. Wait for it as late as you can, with DEPBAR, before
the buffer is reused.

UTMACMDFLUSH > cp.async.bulk.commit_group
Sends the TMA stores issued so far on their way: the commit of a bulk group.

UTMACCTL | UTMAPF > fence.proxy.async tensormap
Controls TMA's caches: .IV invalidates the cached descriptor after it was rewritten, .PF prefetches.

UBLKCP | UBLKRED | UBLKPF > cp.async.bulk
Bulk copy, reduction or prefetch of contiguous bytes by the TMA unit. It needs no tensormap, so it suits 1D data.

SYNCS > mbarrier.try_wait mbarrier.arrive
Operation on an mbarrier in shared memory: .EXCH initialises, .ARRIVE arrives, .PHASECHK asks for the phase, .CCTL.IV
invalidates.

SYNCS.PHASECHK > mbarrier.try_wait ttng.wait_barrier
Tests whether an mbarrier's phase is over (try_wait), in a loop with a branch back. Samples piling up here mean that
data, or a free buffer, was late.

SYNCS.ARRIVE > mbarrier.arrive mbarrier.arrive.expect_tx
Arrives at an mbarrier. .TRANS64 carries a transaction count, .A1T0 is one arrival and no bytes, .ART0 takes the count
from a register.

SYNCS.EXCH | SYNCS.CCTL > mbarrier.init mbarrier.inval
Writes an mbarrier's initial state, or invalidates it. Both belong outside the main loop.

WARPGROUP.ARRIVE | WARPGROUP > wgmma.fence
Orders register writes of the warp group before the HGMMA that follow (wgmma.fence). Cheap by itself.

WARPGROUP.DEPBAR > wgmma.wait_group HGMMA
Waits until at most N groups of HGMMA are unfinished: .LE gsb0, 0x0 waits for all.

WARPSYNC | WARPSYNC.ALL > bar.warp.sync
Makes the named threads of a warp meet again. Cheap unless the warp had diverged.

BAR > bar.sync ttg.barrier
Barrier for all threads of the CTA, or for a number of them at a named one. .DEFER_BLOCKING lets the warp block only
when needed. Those between the loop's label and its branch cost most.

FENCE > fence.proxy.async
Orders accesses between views of memory: .VIEW.ASYNC.S makes shared memory writes visible to TMA and tensor cores, .T
concerns tensor memory.

MEMBAR | ERRBAR | CGAERRBAR | CCTL > fence
Memory fence of a scope (.CTA, .GPU, .SYS), and cache control that goes with it. .GPU ones are slow.

USETMAXREG > setmaxnreg
Changes the warp group's register count: .DEALLOC gives registers to the CTA's pool, .TRY_ALLOC takes some and is
retried until it succeeds.

ELECT | UELECT > elect.sync
Chooses one active thread of the warp and sets a predicate there, for what must be issued once: TMA, matrix products,
arrivals.

VOTE | VOTEU | R2UR | UR2UP | REDUX | CREDUX > vote.sync
From many lanes to one value: votes, the move of a register (equal in all lanes) to a uniform one, reductions.

SHFL > shfl.sync tt.reduce
Exchanges registers between lanes: .BFLY by xor mask, as in reductions, .IDX from one lane, .UP and .DOWN by distance.

FFMA | FFMA2 > fma
fp32 fused multiply-add; FFMA2 (sm_100) does two in a register pair. In a matrix kernel many of them mean that tensor
cores are not used.

FMUL | FMUL2 > mul
fp32 multiplication; FMUL2 does two. In attention: the rescaling of scores and accumulators.

FADD | FADD2 > add
fp32 addition; FADD2 does two at a time (sm_100).

FMNMX | FMNMX3 | VIMNMX | IMNMX | HMNMX2 | VIMNMX3 > max tt.reduce
Minimum or maximum, chosen by a predicate: F of floats, I of integers, a final 3 of three operands at once (sm_100).

MUFU | MUFU.SIN | MUFU.COS | MUFU.TANH > ex2
Special function unit: approximate functions at 16 lanes per SM and cycle, a quarter (sm_80) to an eighth of the FMA
rate.

MUFU.EX2 > ex2 math
Two to the power of x, the exponential of softmax. At 16 results per SM and cycle it can bound attention on fast
tensor cores, which is why some are computed by polynomials.

MUFU.RCP | MUFU.RSQ | MUFU.SQRT | MUFU.LG2 > div
Reciprocal, reciprocal square root or logarithm to base 2, approximate. Division is a reciprocal and corrections: one
per row is cheap, one per element is not.

F2FP > cvt arith.truncf
Narrows two fp32 to packed fp16, bf16 or fp8 in one register (.PACK_AB). Appears between the two products of attention
and before stores.

F2F | F2I | I2F | I2FP | F2IP | FRND > cvt
Conversions between number formats, or rounding. I2F and F2I go through a slow unit; integer division uses them.

HFMA2 | HADD2 | HMUL2 > fma
Packed fp16 or bf16 arithmetic, two elements per instruction. HFMA2.MMA with zeros is only a way to load a constant.

IMAD | IMAD.HI | IMAD.U32 > mad
Integer multiply-add, used also to move and shift, as its pipe is less busy than the ALU's. Mostly addresses.

IMAD.WIDE > mad.wide
32 x 32 bit product plus a 64-bit value: base plus index times size, an address.

IMAD.MOV | IMAD.IADD | IMAD.SHL | IMAD.X > MOV
A move, addition, shift or carry done by the multiply-add pipe, to balance the load between pipes. Not a
multiplication.

IADD3 | IADD | VIADD | IADD3.X | IABS | INEG > add
Integer addition of up to three operands, .X with carry in for the upper half of 64 bits. Many inside the main loop
are addresses that could have been hoisted.

LEA > mul.wide
Shift and add: base plus index times a power of two. LEA.HI.X is the upper half of a 64-bit address.

LOP3 | PLOP3 | LOP > lop3
Any function of three bits, given by an 8-bit table (.LUT): 0xc0 is and, 0xfc or, 0x3c xor of the first two. Swizzled
addresses and masks. PLOP3 works on predicates.

SHF | SGXT | BMSK | POPC | FLO | BREV > shf
Shifts over a register pair, sign extension, bit masks and counts. SHF.R.S32.HI by 0x1f spreads a sign, as signed
division by powers of two needs.

PRMT > prmt
Picks four bytes of two registers: packing and unpacking small types.

SEL | FSEL | USEL > selp
Chooses one of two values by a predicate. Cheap; many of them come from masks with other values.

ISETP | FSETP | UISETP | HSETP2 | FCHK | DSETP > setp
Compares and sets predicates, combining with another (.AND). .U32 is unsigned, .EX takes in the lower half's result
for 64 bits.

MOV | CS2R | UMOV | MOV.SPILL | UP2UR > mov
Moves. CS2R R4, SRZ zeroes two registers at once, as for accumulators before a loop. MOV between loop iterations is a
failure to allocate registers in place.

P2R | R2P > ISETP
Packs predicates into a register or unpacks them, when more conditions are alive than the seven predicate registers
hold. In a main loop it hints at too many masks.

S2R | S2UR > nvvm.read.ptx.sreg.tid.x
Reads a special register: SR_TID.X the thread, SR_CTAID.X the block, SR_CgaCtaId the CTA in its cluster. Takes some 20
cycles or more.

UIADD3 | UIMAD | ULEA | USHF | ULOP3 | USGXT | UPLOP3 | UFLO | UPOPC | UVIMNMX | UIMNMX | UF2I | UI2F | UFMUL |
UFADD | UFFMA | UFSETP | UFMNMX | UPRMT | UIABS | UBMSK | UBREV | UF2F | UF2FP | UIADD | UVIADD | UI2FP | UFSEL |
UFRND
> R2UR
Arithmetic on uniform registers (UR), done once per warp instead of per thread: loop counters, buffer indices,
descriptors. The more of it is uniform, the more issue slots and registers are left for the rest.

BRA | BRX | BRA.U | JMP > bra
Jump; the backward one closes a loop. A predicate before it (@!P0) makes it conditional, .U says that it is uniform.

BSSY | BSYNC | BREAK | BMOV | YIELD | WARPSYNC.COLLECTIVE > bra
Reconvergence: BSSY names where the threads of a warp meet again after a branch, BSYNC waits there, BREAK takes
threads out. Many of them mean divergent code.

EXIT | RET | CALL | LEPC | RPCMOV > ret
Ends the thread, or calls and returns. CALL in a kernel is usually the slow path of a division.

NOP > BRA
No operation: padding at the end of the code, for the instruction prefetcher or alignment.

NANOSLEEP | BPT | KILL | ACQBULK | PREEXIT | ENDCOLLECTIVE | UCGABAR_ARV | UCGABAR_WAIT | ACQSHMINIT > nanosleep
Rarer control: back off while spinning, trap on a failed assertion, barriers over a cluster, programmatic dependent
launch.

ATOMG | ATOM | ATOMS | RED | REDG | REDS | ATOMS.CAS > atom
Atomic operation on global (ATOMG, RED) or shared memory (ATOMS); RED returns no value. .STRONG.GPU is its scope.

LD | ST > LDG
Load or store through a generic pointer, whose space is found out at run time; slower than LDG, LDS or their stores.

DADD | DMUL | DFMA > fma
fp64 arithmetic. Slow outside data centre chips; by accident it comes from a Python float that was kept in double
precision.

CCTLL | PREFETCH | CCTLT > LDG
Cache control and prefetch for single lines. They come from cache hints or from fences.
"""

#: What a part of a dotted name means.
MODIFIERS = {
    "E": "64-bit address",
    "128": "16 bytes per thread",
    "64": "8 bytes, or a register pair",
    "U16": "16 bits, zero-extended",
    "U8": "8 bits, zero-extended",
    "S16": "16 bits, sign-extended",
    "BYPASS": "past L1",
    "LTC128B": "128-byte line brought into L2",
    "CONSTANT": "read-only data",
    "STRONG": "ordered access of the scope that follows",
    "GPU": "scope: the GPU",
    "SYS": "scope: the system",
    "CTA": "scope: the CTA",
    "F32": "fp32 accumulator or operand",
    "F16": "fp16",
    "BF16": "bf16",
    "16816": "m16n8k16",
    "1688": "m16n8k8",
    "M88": "8x8 matrices",
    "MT88": "8x8 matrices, transposed",
    "FTZ": "denormals flushed to zero",
    "WIDE": "64-bit result",
    "HI": "upper half",
    "X": "with carry in",
    "EX": "with the lower half's result",
    "U32": "unsigned",
    "LU": "last use",
    "BFLY": "from the lane whose number differs by the mask",
    "IDX": "from the lane given",
    "PACK_AB": "two results packed in one register",
    "2D": "a 2D box",
    "3D": "a 3D box",
    "4D": "a 4D box",
    "2CTA": "by a pair of CTAs",
    "TRYWAIT": "may suspend the warp for a while",
    "TRANS64": "with a transaction count",
    "IV": "invalidate",
    "LUT": "function given by a truth table",
    "LE": "until at most so many are left",
    "MOV": "used as a move",
    "SHL": "used as a shift",
    "IADD": "used as an addition",
    "NOINC": "call without keeping the return address",
    "DEALLOC": "gives registers back",
    "TRY_ALLOC": "takes registers if there are some",
    "SHARED::CTA": "shared memory of this CTA",
}
