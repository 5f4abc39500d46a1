"""What PTX instructions do; the format is that of `tables.read`."""

__all__ = ["MODIFIERS", "PTX"]

PTX = """
ld.global | ld > LDG st.global tt.load
Loads from global memory to registers. .v4.b32 is 16 bytes per thread, the widest and best; .b16 without .v is 2 bytes
and wastes bandwidth. Cache hints follow the name (.L1::evict_last, .nc for read-only).

ld.shared > LDS ldmatrix
Loads from shared memory. Wide (.v4) accesses by neighbouring threads are free of bank conflicts; strided ones may
take several passes.

ld.param | ld.const > LDC
Reads a kernel argument (or constant) from the constant bank. Cheap; happens once at the start.

ld.local | st.local > LDL STL
Access to thread-private memory that really lies in L1, L2 and DRAM. In PTX it means arrays indexed at run time;
spills come only in SASS.

st.global | st > STG tt.store
Stores registers to global memory. .v4.b32 is 16 bytes per thread; scattered 2-byte stores are a sign of an
accumulator stored in its matrix layout.

st.shared > STS ttg.local_store
Stores to shared memory, often to exchange data between warps in a layout conversion. A barrier must follow before
others read it.

mov > MOV
Copies a register, a constant, or packs and unpacks ({a, b} forms). ptxas removes most of them: do not count them.

cvta | cvt.u64 | cvt.s64 | cvt > F2FP I2F
Conversion: between address spaces (cvta), integer widths, or number formats. cvt.rn.f16x2.f32 packs two fp32 to fp16
in one instruction; fp8 forms need sm_89 or later.

add | sub | neg | abs > IADD3 FADD
Addition and subtraction, integer or floating point. .f32x2 (sm_100) does two at once.

mul | mul.lo | mul.wide > IMAD FMUL
Multiplication: .lo keeps the low half, .wide doubles the width, .hi keeps the high half. 64-bit .lo takes several
machine instructions.

mad | mad.lo | mad.wide > IMAD
Integer multiply and add, mostly index arithmetic. .lo keeps 32 bits, .wide gives 64 and suits addresses.

fma > FFMA
Fused multiply-add, rounded once. .rn rounds to nearest, .ftz flushes denormals, .f32x2 does two at once on sm_100.

div | rem > MUFU.RCP
Division or remainder. div.full.f32 is approximate, a reciprocal and a multiplication with scaling; div.rn is exact
and far longer; integer division is a sequence of dozens.

and | or | xor | not | lop3 > LOP3
Bitwise logic. Most of it is layout arithmetic: bits of the thread number picked and xored to swizzled addresses.

shl | shr | bfe | bfi | shf | prmt > SHF PRMT
Shifts, bit field extraction and insertion, byte permutation; address arithmetic and packing.

setp | set > ISETP FSETP
Compares and sets a predicate register, on which later instructions depend (@%p). Bounds checks end here.

selp | slct > SEL FSEL
Chooses one of two values by a predicate, without a branch. ptxas often turns short branches into it.

min | max > FMNMX
Minimum and maximum. .NaN propagates NaN; three-input forms exist on sm_100.

ex2 | lg2 | rcp | sqrt | rsqrt | sin | cos | tanh > MUFU.EX2
Approximate functions of the special function units, at a quarter of the FMA rate or less. ex2 is the exponential of
softmax, whose throughput can bound attention.

mma.sync | mma > HMMA ldmatrix #ttg.nvidia_mma
Tensor core product of one warp: m16n8k16 gives a 16x8 tile from operands in registers, and all 32 threads take part.
The mainstay of sm_80, sm_89 and sm_120; on sm_90 and sm_100 it reaches only part of peak.

wgmma.mma_async | wgmma > HGMMA ttng.warp_group_dot wgmma.wait_group
Hopper's asynchronous tensor core product of a warp group (128 threads): m64, n up to 256, operands by descriptor from
shared memory, accumulator in registers. Issue several, then commit and wait; keep the group's accumulator untouched
meanwhile.

wgmma.fence > wgmma.mma_async WARPGROUP.ARRIVE
Orders earlier register writes (accumulator, A operand) before the wgmma that follow. Needed before the first of a
series, and again after ordinary code touched the accumulator.

wgmma.commit_group > wgmma.wait_group
Closes a group of wgmma that were issued, so that it can be waited for. One per iteration is usual.

wgmma.wait_group > wgmma.commit_group WARPGROUP.DEPBAR
Waits until at most N wgmma groups are unfinished. N = 0 inside the loop leaves tensor cores idle during what comes
next.

ldmatrix > LDSM ttg.local_load mma.sync
A warp loads up to four (.x4) 8x8 matrices of 16-bit elements from shared memory, spread over threads as mma wants
them; .trans transposes on the way. Each thread gives the address of one row: rows in the same banks conflict.

stmatrix > STSM
The reverse of ldmatrix (sm_90): stores matrix fragments to shared memory, ahead of a TMA store or coalesced stores.

cp.async > LDGSTS ttg.async_copy_global_to_local cp.async.wait_group
Copies 4, 8 or 16 bytes per thread from global to shared memory, asynchronously and without registers. .cg bypasses L1
and takes 16 bytes only, .ca goes through it. A source size operand of 0 writes zeros, which is how masks work.

cp.async.commit_group > cp.async.wait_group LDGDEPBAR
Closes the thread's current group of cp.async. An empty group counts as well, which keeps the numbers right at the
loop's end.

cp.async.wait_group | cp.async.wait_all > DEPBAR ttg.async_wait
Waits until at most N of the thread's cp.async groups are pending. A barrier must follow for other threads' copies. N
should be stages - 2 or so in a pipelined loop.

cp.async.bulk.tensor > UTMALDG UTMASTG ttng.async_tma_copy_global_to_local mbarrier.arrive.expect_tx
TMA: one thread starts the copy of a whole box between global and shared memory, described by a tensormap. Loads
signal an mbarrier with the bytes that arrived; stores (.global.shared::cta) belong to bulk groups. Bounds and swizzle
are hardware's work.

cp.async.bulk | cp.reduce.async.bulk > cp.async.bulk.tensor
Bulk copy of contiguous bytes by the TMA unit, without a tensormap, or a reduction to memory. Addresses and sizes must
be multiples of 16 bytes.

cp.async.bulk.commit_group > cp.async.bulk.wait_group UTMACMDFLUSH
Closes the thread's group of TMA stores. TMA loads have no groups: they signal an mbarrier.

cp.async.bulk.wait_group > cp.async.bulk.commit_group ttng.async_tma_store_wait
Waits until at most N groups of TMA stores are pending; .read only until they have read shared memory, so its buffer
can be reused.

mbarrier.init > SYNCS.EXCH ttng.init_barrier
Sets up an mbarrier, a 64-bit object in shared memory that counts arrivals and bytes, with the number of arrivals per
phase. Done once per kernel, by one thread, followed by a fence and a barrier.

mbarrier.inval > SYNCS.CCTL ttng.inval_barrier
Ends an mbarrier's life so that its memory can be used otherwise. Usually at the end of the kernel.

mbarrier.arrive > SYNCS.ARRIVE ttng.arrive_barrier
Counts an arrival at an mbarrier; the last one of a phase flips it and releases waiters.

mbarrier.arrive.expect_tx | mbarrier.expect_tx > cp.async.bulk.tensor ttng.barrier_expect
Arrives, and announces how many bytes asynchronous copies will deliver in this phase. The number must equal what the
copies deliver, or waiters hang.

mbarrier.try_wait | mbarrier.test_wait | mbarrier > SYNCS.PHASECHK ttng.wait_barrier
Waits a while for an mbarrier's phase of the given parity and reports whether it is over; a loop around it waits for
good. Here a consumer stalls when data is late.

tcgen05.mma > UTCHMMA ttng.tc_gen5_mma tcgen05.commit
Blackwell's matrix product, issued by one thread for the CTA (.cta_group::1) or a pair (::2): A and B by descriptor
from shared memory (A also from tensor memory), D in tensor memory. .kind:: gives the operand types. Asynchronous
until committed to an mbarrier.

tcgen05.commit > UTCBAR ttng.tc_gen5_commit
Makes an mbarrier be signalled once all earlier tcgen05 operations of this thread are done. One per buffer that
becomes free, and one when the accumulator is finished.

tcgen05.ld > LDTM ttng.tmem_load tcgen05.wait
Loads tensor memory to registers, .32x32b.x64 being 32 lanes by 64 columns per warp. A warp reaches only lanes of its
own quarter. Asynchronous: a wait must follow.

tcgen05.st | tcgen05.cp > STTM ttng.tmem_store
Stores registers, or copies shared memory, to tensor memory. Asynchronous, too: wait before a matrix product reads the
columns.

tcgen05.wait > ttng.tmem_wait tcgen05.ld
Waits for the warp's tensor memory loads (::ld) or stores (::st). The later it stands, the more latency is hidden.

tcgen05.alloc | tcgen05.dealloc | tcgen05.relinquish_alloc_permit | tcgen05.fence | tcgen05
> UTCATOMSWS ttng.tmem_alloc
Allocates tensor memory columns (a power of two, at least 32), frees them, gives up the right to allocate more; or
orders tcgen05 operations around barriers. A CTA blocks at alloc while another holds the columns.

elect.sync | elect > ELECT
Sets a predicate in one active thread of the warp. Wraps what must be issued once, such as TMA and tcgen05
instructions.

shfl.sync | shfl > SHFL tt.reduce
Exchanges a register between lanes: .bfly with lane xor mask (reductions), .idx from a given lane. About the latency
of shared memory, without a barrier.

vote.sync | vote | match | redux.sync | redux | activemask > VOTE REDUX
Votes, matches and integer reductions over the lanes of a warp. They replace a round trip through shared memory for a
bit or an integer per lane.

bar.sync | bar | barrier.sync | barrier > BAR ttg.barrier
Barrier: threads of the CTA wait for each other at barrier number a, for b threads if given, as partitions of a
warp-specialized kernel do. Each in the main loop is a point where all warps must meet.

bar.warp.sync > WARPSYNC
Makes the threads of one warp meet, after code in which they may have diverged. Cheap.

fence.proxy.async | fence.proxy > FENCE ttng.fence_async_shared
Orders ordinary accesses to memory before those of the asynchronous proxy (TMA, wgmma, tcgen05), or the reverse. The
tensormap form makes a rewritten descriptor visible and is slow.

fence | membar | fence.mbarrier_init > MEMBAR
Memory fence: earlier accesses become visible within a scope (cta, cluster, gpu, sys) before later ones.

tensormap | tensormap.replace | tensormap.cp_fenceproxy > ttng.tensormap_create UTMACCTL
Edits fields of a tensormap in shared memory, or copies it to global memory with the fence TMA needs. Kernels that
make descriptors themselves do a dozen of these; descriptors from the host none.

setmaxnreg > USETMAXREG ttg.warp_specialize
Raises (.inc) or lowers (.dec) the registers per thread of a warp group; .inc blocks until others have given theirs
back. It is how load warps leave registers to computing warps.

atom | red > ATOMG RED
Atomic operation on global or shared memory; red returns nothing and is cheaper. .relaxed and .acq_rel say how it is
ordered.

prefetch | discard | applypriority | createpolicy > LDG
Cache control: bring a line in, or say what to keep or drop.

griddepcontrol | clusterlaunchcontrol > ttng.clc_try_cancel
Programmatic launch: waits for or releases a dependent kernel, or takes over a tile that was not launched yet.

bra | brx | call | ret | exit | trap > BRA
Control flow: jump (.uni if all threads agree), indexed jump, call, return. The backward bra closes the loop; what
stands between its label and it is what matters.

nanosleep | mapa | isspacep | getctarank > NANOSLEEP
Rarer ones: back off while waiting, map an address to another CTA of the cluster, ask about an address.
"""

#: What a part of a dotted name means; the part alone, without the dot.
MODIFIERS = {
    "v2": "two elements per thread",
    "v4": "four elements per thread",
    "v8": "eight elements per thread",
    "b128": "128 bits",
    "sync": "threads of the warp execute it together",
    "aligned": "all of them must execute the same one",
    "rn": "rounded to nearest, ties to even",
    "rz": "rounded towards zero",
    "ftz": "denormals flushed to zero",
    "approx": "approximate",
    "full": "full range, a few ulp off",
    "sat": "clamped to 0..1 or the integer's range",
    "f16x2": "two fp16 in one register",
    "bf16x2": "two bf16 in one register",
    "f32x2": "two fp32 in a register pair",
    "trans": "transposed on the way",
    "x1": "one matrix or unit",
    "x2": "two matrices or units",
    "x4": "four matrices or units",
    "cg": "cached in L2 only",
    "ca": "cached in L1 and L2",
    "nc": "by way of the read-only cache",
    "parity": "phase given by its parity",
    "wide": "result twice as wide",
    "lo": "low half of the product",
    "hi": "high half of the product",
    "bfly": "from the lane whose number differs by the mask",
    "idx": "from the lane given",
    "uni": "the same for all threads of the warp",
    "read": "until the source has been read",
    "shared::cta": "shared memory of this CTA",
    "shared::cluster": "shared memory of any CTA in the cluster",
    "cta_group::1": "by one CTA",
    "cta_group::2": "by a pair of CTAs",
    "kind::f16": "fp16 or bf16 operands",
    "kind::tf32": "tf32 operands",
    "kind::f8f6f4": "8, 6 or 4 bit floating-point operands",
    "kind::i8": "8-bit integer operands",
    "mbarrier::complete_tx::bytes": "the mbarrier counts the bytes that arrive",
    "mbarrier::arrive::one": "arrives at the mbarrier once",
    "bulk_group": "waited for by bulk groups",
    "multicast::cluster": "to several CTAs of the cluster",
    "2d": "a 2D box",
    "3d": "a 3D box",
    "inc": "raises the limit",
    "dec": "lowers the limit",
}
