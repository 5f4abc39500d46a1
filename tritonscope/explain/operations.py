"""What operations of MLIR dialects and LLVM IR do; the format is that of `tables.read`."""

__all__ = ["OPERATIONS"]

OPERATIONS = """
tt > ttir tt.load
The Triton dialect: programs on whole tensors, independent of the target. Its operations say what is computed for one
program instance (tile), not which thread does it.

tt.func | tt.return > tt.call tt.divisibility
A Triton function; the public one is the kernel. Its arguments carry what specialisation knows, such as
tt.divisibility = 16, on which vector width later depends. tt.return ends it.

tt.call > inline
A call of another jitted function. Normally none is left after the inline pass; one that is costs a real call on the
device.

tt.get_program_id | tt.get_num_programs > nvvm.read.ptx.sreg.ctaid.x
Which tile this program instance is (blockIdx), or how many there are along an axis. Every address and mask derives
from it; how it maps to tiles decides L2 reuse.

tt.make_range > tt.splat tt.expand_dims
The integers start to end - 1 as a 1D tensor: what tl.arange is. In TTGIR it becomes arithmetic on the thread number,
so it costs registers but no memory.

tt.splat > tt.broadcast
A scalar copied to every element of a tensor. Free in registers of a thread; useful to see whether a value was
uniform.

tt.broadcast > tt.expand_dims tt.splat
Stretches dimensions of size 1 to a larger size. No data moves if the layout is right, yet arithmetic after it is done
on the large tensor.

tt.expand_dims > tt.broadcast #ttg.slice
Adds a dimension of size 1. Its operand has a #ttg.slice layout of its result's, so nothing moves.

tt.reshape | tt.trans | tt.join | tt.split | tt.cat > ttg.convert_layout
Reshapes, permutes, joins along a new last dimension, or takes apart. Where the layout can express it this only
renames registers; otherwise a layout conversion follows, so look whether a ttg.convert_layout stands next to it.

tt.unsplat > tt.splat
Takes the one element of a tensor of size 1 as a scalar. It takes no data from other threads if all hold the value
already.

tt.addptr > tt.load tritonamdgpu-canonicalize-pointers
Pointer plus offset, in elements, for a scalar or every element of a tensor. Address tensors of 64-bit values take two
registers an element; a loop that adds to one carries it all along.

tt.advance | tt.make_tensor_ptr > triton-rewrite-tensor-pointer tt.make_tensor_descriptor
Block pointers: base, shape, strides and offset of a tile, and moving it. Older than descriptors, and lowered to
tensors of pointers.

tt.load > tritongpu-coalesce LDG cp.async tt.store
Reads a tensor through a tensor of pointers, with an optional mask and a value for what is masked off. Its layout and
the contiguity of the pointers fix how many bytes each thread reads at once. In a pipelined loop it should have become
ttg.async_copy_global_to_local; one that is left is waited for where it is used.

tt.store > tritongpu-coalesce STG tt.load
Writes a tensor through pointers, under an optional mask. Accumulator layouts store in small pieces, so a
ttg.convert_layout to a blocked layout often stands before it: coalesced stores at the price of a trip through shared
memory.

tt.atomic_rmw | tt.atomic_cas > RED ATOMG
Atomic read-modify-write or compare-and-swap on global memory. If the result is unused it becomes a reduction (red),
which needs no reply. Contention on one address serialises.

tt.make_tensor_descriptor > tt.descriptor_load ttng.tensormap_create
A tensor descriptor made in the kernel: base, shape, strides and block shape. For TMA it must be written to global
memory as a tensormap and fenced, so making one per tile costs; descriptors from the host cost nothing.

tt.descriptor_load | tt.descriptor_gather > ttng.async_tma_copy_global_to_local tt.make_tensor_descriptor
Reads a whole block by descriptor; bounds are checked by hardware and what lies outside is zero. Becomes one TMA copy
issued by one thread, so addresses and masks cost nothing.

tt.descriptor_store | tt.descriptor_scatter | tt.descriptor_reduce > ttng.async_tma_copy_local_to_global
Writes (or adds into memory) a whole block by descriptor: registers to shared memory, a fence, then one TMA copy.
Waiting for that copy at the next tile rather than at once lets it overlap.

tt.dot > tritongpu-accelerate-matmul #ttg.dot_op ttng.warp_group_dot ttng.tc_gen5_mma
Matrix product plus accumulator. The layouts tell how it runs: #ttg.nvidia_mma or mfma with #ttg.dot_op operands means
tensor cores, #blocked means FMA. inputPrecision says whether fp32 operands are cut to tf32.

tt.dot_scaled > tt.dot
Matrix product of block-scaled low precision operands (mxfp8, mxfp4) with their scales. Blackwell and gfx950 do it in
hardware; elsewhere operands are widened first.

tt.reduce | tt.reduce.return > tritongpu-optimize-thread-locality SHFL
Reduction along an axis by the operation in its region. First in each thread, then by shuffles within a warp, then
through shared memory if the axis spans warps; a layout with the axis inside a warp avoids that last step and its
barrier.

tt.scan | tt.scan.return > tt.reduce
Prefix scan along an axis, such as a running sum. Done per thread, by shuffles in the warp, and through shared memory
over warps.

tt.gather | tt.histogram > SHFL
Gather along an axis by indices, or a histogram of small integers. Through shared memory, unless the layout lets warp
shuffles do.

tt.map_elementwise | tt.elementwise_inline_asm | tt.extern_elementwise > llvm.inline_asm
An element-wise function given as a region, as inline assembly, or by a name in a bitcode library. The optimiser
cannot see into assembly; pack says how many elements one execution takes.

tt.bitcast | tt.int_to_ptr | tt.ptr_to_int | tt.fp_to_fp > arith.truncf
Reinterprets bits, or converts pointers or floating-point formats (fp8 ones with rounding). Conversions without
hardware support expand to many integer instructions: look at fp8 on older chips.

tt.clampf | tt.mulhiui | tt.precise_sqrt | tt.precise_divf > MUFU.RCP
Element-wise functions: clamping, the high half of a product, or correctly rounded square root and division, which
cost several instructions more than the approximate ones.

tt.print | tt.assert > tt.load
Prints values or checks a condition on the device. Either costs registers and branches even when nothing is printed:
take them out before measuring.

ttg > ttgir #ttg.blocked
The Triton GPU dialect: layouts, shared memory, asynchronous copies, warp specialisation; what GPUs of both vendors
have in common.

ttg.convert_layout > tritongpu-remove-layout-conversions #ttg.blocked STS
Moves a tensor's elements to the threads that another layout says. If only registers of a thread permute it is free,
within a warp shuffles do, otherwise it is a write to shared memory, a barrier and a read. The first thing to count in
a slow loop.

ttg.local_alloc > !ttg.memdesc allocate-shared-memory-nv ttg.local_load
A buffer in shared memory, with or without a first value. A leading dimension of 2, 3, ... is the ring of buffers of a
pipeline; its bytes times that depth is what limits occupancy.

ttg.local_dealloc > ttg.local_alloc
End of a shared memory buffer's life, after which its bytes may be reused. Its place decides what can overlap in
allocation.

ttg.local_load > ldmatrix LDSM ttg.local_alloc #ttg.dot_op
Reads a shared memory buffer into registers in some layout; to a #ttg.dot_op layout it becomes ldmatrix (or ds_read
with a transpose). Bank conflicts depend on the buffer's swizzle.

ttg.local_store > ttg.local_alloc STS
Writes registers to a shared memory buffer. A barrier is needed before other warps read it, and a proxy fence before
wgmma or TMA does.

ttg.local_gather | ttg.local_scatter | ttg.local_atomic_scatter_rmw > ttg.local_load
Reads or writes a shared memory buffer at indices given per element. Expect bank conflicts unless the indices are
regular.

ttg.memdesc_index > !ttg.memdesc ttg.local_alloc
Picks one buffer out of a ring by a run-time index: the pipeline's current slot. Address arithmetic only.

ttg.memdesc_subslice | ttg.memdesc_trans | ttg.memdesc_reshape | ttg.memdesc_reinterpret | ttg.memdesc_subview
> !ttg.memdesc
Another view of a buffer in shared or tensor memory: a part, transposed, reshaped, or with another type. No data
moves; the view's layout changes with it.

ttg.async_copy_global_to_local > cp.async LDGSTS ttg.async_commit_group ttg.async_wait
Copies from global to shared memory without passing through registers, each thread giving addresses (cp.async). It is
what a pipelined tt.load becomes on sm_80 and, for pointers, later chips. 16 bytes a thread is best; under 4 is
impossible.

ttg.async_commit_group > ttg.async_wait LDGDEPBAR
Closes the current group of asynchronous copies, so that it can be waited for. One per pipeline stage.

ttg.async_wait > ttg.async_commit_group DEPBAR
Waits until at most num groups of asynchronous copies are outstanding. num = 0 in a loop means that nothing is in
flight during the computation: no overlap.

ttg.barrier | ttg.local_barrier > bar.sync triton-nvidia-gpu-membar s_barrier
All warps of the CTA (or partition) wait for each other, with memory of the named address spaces visible afterwards.
Those inside the main loop are worth counting.

ttg.warp_specialize | ttg.warp_yield | ttg.warp_return | ttg.warp_specialize.partitions
> tritongpu-automatic-warp-specialization ttg.partition setmaxnreg
Runs its regions at the same time on different warps: default on the kernel's own, partition0 and so on on extra ones.
They share data only through memory and barriers. num_warps(...) and requestedRegisters tell who does the heavy work;
warp_yield and warp_return end the regions.

ttg.warp_id > nvg.warp_id
The number of the warp in its CTA, uniform within the warp, used to choose a role or a slice of work. Branches on it
do not diverge.

ttg.global_scratch_alloc > tritongpu-global-scratch-memory-allocation
A small buffer in global memory owned by this program instance, mostly to build a tensormap in. Its size adds up over
all programs, as each has its own.

ttg.mask | ttg.mask.return | ttg.predicate_stage > tritongpu-pipeline
Predicates a region or a pipeline stage, for the iterations at a loop's start and end where part of the body must not
run. Long predicated tails show that the prologue and epilogue of a pipeline are not peeled.

ttg.fp4_to_fp > tt.dot_scaled
Unpacks two fp4 values of each byte to a wider floating-point type. It costs arithmetic on every element where the
matrix instruction does not take fp4.

ttng > ttng.tc_gen5_mma ttng.async_tma_copy_global_to_local
The NVIDIA part of TTGIR: TMA, mbarriers, wgmma, tensor memory and tcgen05. It appears from sm_90 on.

ttng.warp_group_dot > wgmma.mma_async HGMMA ttng.warp_group_dot_wait
Hopper's warp group matrix product: four warps together, B (and maybe A) read from shared memory, accumulator in
registers. isAsync lets it run on while the warp goes ahead; without it a wait follows at once.

ttng.warp_group_dot_wait > wgmma.wait_group ttng.warp_group_dot
Waits until at most pendings asynchronous warp group products are unfinished. pendings = 0 right after the dot
serialises; 1 keeps the tensor cores busy over iterations.

ttng.tc_gen5_mma | ttng.tc_gen5_mma_scaled > tcgen05.mma UTCHMMA ttng.tmem_alloc
Blackwell's matrix product, issued by a single thread: operands from shared (A also from tensor) memory, accumulator
in tensor memory. Asynchronous; barriers given as last operands are signalled when it is done. The useD operand tells
whether the old accumulator counts.

ttng.tc_gen5_commit > tcgen05.commit mbarrier.arrive
Makes an mbarrier track all Blackwell matrix operations issued so far by this thread: it is signalled when they are
done. That frees operand buffers and publishes accumulators.

ttng.tmem_alloc > triton-tensor-memory-allocation #ttng.tensor_memory_encoding
A block of tensor memory, the 256 KiB per SM in which Blackwell keeps accumulators. Allocation goes by columns, 512 in
all; using more than half keeps a second CTA off the SM.

ttng.tmem_load > tcgen05.ld LDTM ttng.tmem_wait
Reads tensor memory to registers; each warp reaches only its own quarter of the 128 lanes. Needed before any
arithmetic on an accumulator, so in attention it stands in the main loop.

ttng.tmem_store | ttng.tmem_copy > tcgen05.st STTM
Writes registers (or copies shared memory) to tensor memory: first values, operands computed on the fly, scales.

ttng.tmem_subslice > ttng.tmem_alloc
A view of some columns of a tensor memory block, for reading an accumulator in pieces. No data moves; small slices
keep few registers in use.

ttng.tmem_wait > tcgen05.wait triton-nvidia-gpu-tmem-wait-insertion
Waits for this warp's tensor memory loads or stores, which are asynchronous. Place it as late as possible: right after
the load, its whole latency is exposed.

ttng.init_barrier > mbarrier.init ttng.wait_barrier
Sets an mbarrier in shared memory up with the number of arrivals that complete a phase. One full and one empty barrier
per pipeline buffer is the usual pattern.

ttng.inval_barrier > mbarrier.inval
Ends an mbarrier's life, so its bytes can hold something else. It belongs at the end of the kernel, not in the loop.

ttng.barrier_expect > mbarrier.arrive.expect_tx ttng.async_tma_copy_global_to_local
Arrives at an mbarrier and announces how many bytes TMA copies will bring. The phase completes when they all have
landed.

ttng.arrive_barrier > mbarrier.arrive ttng.wait_barrier
Counts one (or more) arrivals at an mbarrier. Between partitions this is how a consumer says that a buffer is free.

ttng.wait_barrier > mbarrier.try_wait SYNCS.PHASECHK ttng.init_barrier
Waits until an mbarrier's phase with the given parity is complete: data has arrived, or a buffer is free. Time lost in
a pipelined kernel shows up as stalls at these waits.

ttng.async_tma_copy_global_to_local | ttng.async_tma_gather > cp.async.bulk.tensor UTMALDG ttng.barrier_expect
Starts a TMA copy of a block into shared memory; one thread issues it, hardware makes addresses, checks bounds, writes
the swizzle and signals an mbarrier. Hardly any registers or instructions per byte.

ttng.async_tma_copy_local_to_global | ttng.async_tma_scatter | ttng.async_tma_reduce
> cp.async.bulk.tensor UTMASTG ttng.async_tma_store_wait
Starts a TMA copy (or reduction) of a block from shared to global memory. The buffer must not be rewritten before
ttng.async_tma_store_wait says it has been read.

ttng.async_tma_store_wait > cp.async.bulk.wait_group
Waits until at most pendings TMA stores still have to read shared memory. With pendings = 0 right after the store
nothing overlaps it; before the next store is better.

ttng.fence_async_shared > fence.proxy.async triton-nvidia-gpu-fence-insertion
Makes ordinary writes to shared memory visible to the asynchronous proxy, that is to TMA, wgmma and tcgen05. Cheap,
but needed after every register write of an operand.

ttng.tensormap_create > tensormap ttng.tensormap_fenceproxy_acquire
Fills in the 128-byte tensormap that TMA reads: address, sizes, strides, box and swizzle.

ttng.tensormap_fenceproxy_acquire | ttng.reinterpret_tensor_descriptor > tensormap ttng.tensormap_create
Makes a tensormap just written visible to TMA, and the typed view of its pointer. The fence is slow (hundreds of
cycles), so it should stand outside the loop.

ttng.clc_try_cancel | ttng.clc_load_result | ttng.clc_is_canceled | ttng.clc_get_program_id
> triton-nvidia-gpu-lower-clc
Cluster launch control: asks the hardware scheduler for a tile that is not launched yet, and reads the answer. A
persistent kernel gets dynamic scheduling with it.

ttng.cluster_arrive | ttng.cluster_wait | ttng.cluster_barrier | ttng.map_to_remote_buffer > ttg.num-ctas
Synchronises the CTAs of a cluster, or addresses another CTA's shared memory. Waiting for another CTA costs more than
a barrier within one.

nvws | nvws.aref.create | nvws.aref.put.enter | nvws.aref.put.exit | nvws.aref.get.enter | nvws.aref.get.exit |
nvws.aref.buffer
> nvws-insert-aref nvws-lower-aref
Asynchronous references: a buffer with ownership that passes from a producer partition (put) to consumers (get). enter
waits for the right to use it, exit hands it over. They exist only within warp specialisation and become mbarriers.

nvws.warp_group | nvws.warp_group.return | nvws.warp_group.yield > nvws-lower-warp-group ttg.warp_specialize
Intermediate form of warp specialisation: one region per partition, with the warps each has.

nvws.create_token | nvws.producer_acquire | nvws.producer_commit | nvws.consumer_wait | nvws.consumer_release |
nvws.descriptor_load
> doCodePartition ttng.wait_barrier
Tokens of sm_90 warp specialisation: a producer acquires an empty buffer, fills and commits it; a consumer waits for
and releases it. Each becomes a wait on or an arrival at an mbarrier.

amdg | amdgpu > amdg.buffer_load
The AMD part of TTGIR: buffer operations, in-register transposes, copies by the tensor data mover.

amdg.buffer_load > buffer_load tritonamdgpu-convert-buffer-ops
A load with a scalar base pointer and a tensor of 32-bit offsets. Out-of-range offsets read zero, so masks need no
branch, and addresses take half the registers of 64-bit pointers.

amdg.buffer_store | amdg.buffer_atomic_rmw | amdg.buffer_atomic_cas > buffer_store tritonamdgpu-convert-buffer-ops
The store or atomic counterpart of a buffer load: masked lanes get an offset beyond the range and are dropped by
hardware.

amdg.buffer_load_to_local > tritonamdgpu-coalesce-async-copy ttg.async_wait
Copies from global memory straight to LDS without VGPRs (gfx950, in 4-byte pieces gfx942). Waited for by counts of
outstanding instructions.

amdg.in_thread_transpose > tritonamdgpu-in-thread-transpose v_perm
Transposes the small block that each thread holds, in registers, so that LDS accesses are wide. Costs some v_perm
instructions.

amdg.async_tdm_copy_global_to_local | amdg.async_tdm_copy_local_to_global | amdg.async_tdm_wait |
amdg.async_tdm_intrinsic_wait | amdg.update_tensor_descriptor
> tensor_load_to_lds tritonamdgpu-convert-tensor-ops
Copies of whole blocks by the tensor data mover of gfx1250, AMD's counterpart of TMA, with the waits for them and
updates of a descriptor's offsets. Addresses and bounds are hardware's work, so they cost no VGPRs.

amdg.extract_slice | amdg.concat | amdg.upcast_mxfp | amdg.scaled_upcast_fp4 | amdg.scaled_upcast_fp8
> tritonamdgpu-pipeline
Slices or joins tensors in registers without moving data between threads, or widens scaled low-precision values.
Pipelines use slices to spread one tile's reads over several steps.

amdg.cond_barrier | amdg.instruction_sched_hint > tritonamdgpu-block-pingpong
Scheduling aids: a barrier that only some warps meet, to put them out of step, and hints on how instructions should be
interleaved.

arith > ttir
MLIR's arithmetic dialect, on scalars and element-wise on tensors. On a tensor each operation is done once per element
that a thread holds.

arith.constant > tt.splat
A constant, scalar or dense tensor. A dense tensor costs registers only where it is used; the zero accumulator is the
typical one.

arith.addi | arith.subi | arith.muli | arith.ceildivsi | arith.divsi | arith.divui | arith.remsi | arith.remui |
arith.floordivsi | arith.ceildivui
> IMAD IADD3
Integer arithmetic, mostly addresses and tile numbers. Division and remainder by a value not known at compile time
cost dozens of instructions: as constexpr or outside the loop they vanish.

arith.andi | arith.ori | arith.xori | arith.shli | arith.shrsi | arith.shrui > LOP3
Bitwise operations and shifts. On i1 tensors they combine masks.

arith.cmpi | arith.cmpf > ISETP arith.select
Comparisons that give i1, mostly bounds for masks. cmpf has ordered (o..) and unordered (u..) forms, which differ for
NaN.

arith.select > FSEL scf.if
Chooses between two values per element without a branch. Both are computed.

arith.addf | arith.subf | arith.negf > FADD
Floating-point addition, subtraction, negation. A multiplication whose only use is an addition becomes one FMA later.

arith.mulf > FFMA FMUL
Floating-point multiplication. If an addition follows, ptxas or LLVM contracts both to an FMA when fusion is allowed.

arith.divf | arith.remf > MUFU.RCP v_div_scale
Floating-point division: a reciprocal and multiplications, full range handling adding more. Multiplying by one
reciprocal of a row is much cheaper than dividing every element.

arith.maxnumf | arith.minnumf | arith.maximumf | arith.minimumf | arith.maxsi | arith.minsi | arith.maxui |
arith.minui
> FMNMX
Minimum and maximum. The num forms ignore a NaN, maximumf and minimumf propagate it, which costs more on some chips.

arith.extf | arith.truncf > F2FP
Widens or narrows floating-point values, such as the accumulator to fp16 before a store or before the second dot of
attention. Conversions go two at a time.

arith.extsi | arith.extui | arith.trunci | arith.index_cast | arith.bitcast > IMAD.WIDE
Widens, narrows or reinterprets integers. Many extsi to i64 on tensors mean 64-bit offsets, two registers each;
offsets that stay 32-bit are cheaper.

arith.sitofp | arith.uitofp | arith.fptosi | arith.fptoui > I2F F2I
Converts between integers and floating point, at a lower rate than arithmetic. In the main loop they are worth
avoiding.

math | math.exp | math.exp2 | math.log | math.log2 | math.sqrt | math.rsqrt | math.sin | math.cos | math.tanh |
math.erf | math.fma | math.absf | math.absi | math.floor | math.ceil
> MUFU.EX2 v_exp_f32
Elementary functions. exp2, log2, rsqrt, sin and cos map to one special function instruction; exp is exp2 after a
multiplication, so scaling by log2(e) once, outside, saves it. The rest expand to more.

scf > scf.for convert-scf-to-cf
Structured control flow: loops and branches as regions, which passes can still reason about.

scf.for > tritongpu-pipeline tt.num_stages
A counted loop; iter_args are the values carried from one iteration to the next. Accumulators, pointers and buffer
indices among them live in registers throughout, so read that list when registers are short.

scf.if > arith.select cf.cond_br
A branch with regions that may yield values. If the condition is the same for the whole warp it is a jump, otherwise
both sides run under masks.

scf.while | scf.condition > scf.for
A loop with a condition in its first region. Less is done with it than with scf.for: it is neither pipelined nor
unrolled.

scf.yield | scf.reduce | scf.execute_region > scf.for
Ends a region and gives its values: those of the next iteration in a loop, the results in a branch. Which value is
yielded in which place is how data flows round a loop.

cf | cf.br | cf.cond_br | cf.switch | cf.assert > convert-scf-to-cf
Jumps between basic blocks, with values passed as block arguments. What scf becomes before LLVM.

gpu | gpu.barrier | gpu.thread_id | gpu.block_id > bar.sync
The vendor-neutral GPU dialect; Triton uses hardly more than its barrier for the whole CTA.

ub.poison > tritongpu-pipeline
A value that must not matter, such as a loop-carried value before its first iteration. Costs nothing.

builtin.module | module > ttg.num-warps
The container of the whole program. Its attributes hold what concerns all of it: target, warps, CTAs, shared and
tensor memory sizes.

builtin.unrealized_conversion_cast > reconcile-unrealized-casts
A placeholder between a type and what it is being converted to, while lowering is under way. None may be left at the
end.

func.func | func.return | func.call > tt.func
MLIR's standard functions, returns and calls; Triton has its own in tt.

llvm > llir
MLIR's LLVM dialect mirrors LLVM IR operation by operation: the code of one thread, with one scalar or small vector
per value.

llvm.func | llvm.return | llvm.mlir.global | llvm.mlir.addressof | llvm.comdat > nvvm.kernel
Functions, globals and their addresses. global_smem, the dynamic shared memory, is a global of size zero in address
space 3; the kernel is the function with nvvm.kernel or amdgpu_kernel.

llvm.mlir.constant | llvm.mlir.undef | llvm.mlir.zero | llvm.mlir.poison > canonicalize-llvm-ir
Constants and undefined values. An undef starts every struct that is then filled by insertvalue.

llvm.insertvalue | llvm.extractvalue > convert-triton-gpu-to-llvm
Put a register into, or take one out of, the struct that stands for a thread's part of a tensor. Bookkeeping that
vanishes; its number shows how many elements a thread holds.

llvm.alloca | llvm.atomicrmw | llvm.cmpxchg > STL ATOMG
Stack memory, which is local memory if it survives optimisation, and atomic operations on global or shared memory. An
alloca that is left in LLVM IR is nearly always a loss.

llvm.insertelement | llvm.extractelement | llvm.shufflevector > LDG
Build or take apart a small vector, for vectorised loads and stores or packed types. No instructions of their own,
mostly.

llvm.getelementptr > LEA
Address arithmetic: base plus scaled index. Constant offsets end up in the instruction's immediate field.

llvm.load > LDG LDS
A load; the pointer's address space says where from: 1 global, 3 shared, 4 constant, 5 local. Predicated global loads
are inline assembly on NVIDIA instead.

llvm.store > STG STS
A store; the pointer's address space says where to: 1 global, 3 shared, 5 local.

llvm.inline_asm > convert-nv-gpu-to-llvm
PTX written out within LLVM IR, used where no intrinsic exists: predicated and cached loads, wgmma, mma, TMA. LLVM
moves it as a whole and cannot look into it. The string's constraints name operand registers.

llvm.call | llvm.call_intrinsic > llvm.link_extern_libs
A call of a function or an LLVM intrinsic. Intrinsics (@llvm.nvvm..., @llvm.amdgcn...) become single instructions; any
other call should have been inlined.

llvm.add | llvm.sub | llvm.mul | llvm.sdiv | llvm.udiv | llvm.srem | llvm.urem > IMAD
Integer arithmetic of one thread; division by what is no power of two or constant is expensive.

llvm.and | llvm.or | llvm.xor | llvm.shl | llvm.lshr | llvm.ashr > LOP3
Bitwise operations and shifts, most of them layouts at work: bits of the thread number put together to an address, the
xor being the swizzle of shared memory.

llvm.fadd | llvm.fsub | llvm.fmul | llvm.fdiv | llvm.fneg > FFMA
Floating-point arithmetic of one thread. Flags such as contract allow fusing to FMA.

llvm.icmp | llvm.fcmp > ISETP
Comparisons, giving i1: bounds checks that become predicates.

llvm.select > FSEL
Chooses one of two values without a branch. Both values are computed, so it suits cheap ones.

llvm.bitcast | llvm.zext | llvm.sext | llvm.trunc | llvm.fptrunc | llvm.fpext | llvm.ptrtoint | llvm.inttoptr |
llvm.addrspacecast | llvm.freeze | llvm.sitofp | llvm.uitofp | llvm.fptosi | bitcast | zext | sext | trunc | fptrunc |
fpext
> F2FP
Conversions. Those between integers, pointers and bit patterns are mostly free; between floating-point formats they
are instructions.

llvm.br | llvm.cond_br | llvm.switch | llvm.unreachable | llvm.fence | llvm.phi | llvm.ret > BRA
Control flow between basic blocks and memory fences. In LLVM IR proper, phi joins the values that come from different
blocks, a loop's carried values among them.

llvm.intr | llvm.intr.maxnum | llvm.intr.minnum | llvm.intr.smax | llvm.intr.smin | llvm.intr.log | llvm.intr.exp2 |
llvm.intr.fma | llvm.fma | llvm.fmuladd | llvm.maxnum | llvm.minnum | llvm.intr.assume | llvm.intr.umax |
llvm.intr.umin | llvm.intr.fabs | llvm.intr.sqrt
> FMNMX FFMA
LLVM's target-independent intrinsics: minimum, maximum, fused multiply-add, elementary functions. Each becomes an
instruction or a short sequence.

nvvm > llir ptx
Operations that are NVIDIA intrinsics of LLVM: special registers, barriers, shuffles, asynchronous copies. Each maps
to a PTX instruction of nearly the same name.

nvvm.barrier | nvvm.barrier0 | nvvm.barrier.cta.sync | nvvm.bar.warp.sync > bar.sync BAR
Waits for all threads of the CTA, for number_of_threads at one of 16 named barriers, or (bar.warp) of the warp. Named
ones belong to warp-specialized partitions.

nvvm.cp.async.commit.group | nvvm.cp.async.wait.group | nvvm.cp.async.shared.global |
nvvm.cp.async.bulk.commit.group | nvvm.cp.async.bulk.wait_group
> cp.async cp.async.bulk.tensor
Groups of asynchronous copies: closing one, and waiting until at most so many are open. The bulk forms are of TMA
stores.

nvvm.elect.sync > elect.sync
Elects one thread of the warp, to issue what must be issued once: TMA copies, tcgen05, barrier arrivals.

nvvm.fence.proxy | nvvm.fence.mbarrier.init > fence.proxy.async
Orders generic against asynchronous accesses of memory, or publishes the initialisation of barriers. It belongs
between writing an operand and the TMA or matrix instruction that reads it.

nvvm.ldmatrix | nvvm.stmatrix > ldmatrix stmatrix
Loads or stores 8x8 blocks of 16-bit elements between shared memory and the registers of a warp, in the arrangement of
mma. One of them replaces several ordinary shared memory accesses and shuffles.

nvvm.read.ptx.sreg.tid.x | nvvm.read.ptx.sreg.ctaid.x | nvvm.read.ptx.sreg.ctaid.y | nvvm.read.ptx.sreg.ctaid.z |
nvvm.read.ptx.sreg.nctaid.x | nvvm.read.ptx.sreg.nctaid.y | nvvm.read.ptx.sreg | nvvm.read
> S2R
Reads a special register: thread number, block number, grid size.

nvvm.setmaxregister > setmaxnreg USETMAXREG
Changes how many registers each thread of this warp group may use, taking from or giving to a pool. It appears once at
the start of each warp-specialized partition.

nvvm.shfl.sync > shfl.sync SHFL
Exchanges registers between lanes of a warp; reductions and small layout conversions use it.

nvvm.mma.sync | nvvm.wgmma | nvvm.wgmma.fence.aligned | nvvm.wgmma.commit.group.sync.aligned | nvvm.wgmma.mma_async |
nvvm.wgmma.wait.group.sync.aligned
> wgmma.mma_async mma.sync
Tensor core instructions of a warp or warp group, and what fences, groups and awaits the asynchronous ones. Those of a
main loop should outnumber everything that is not hidden behind them.

nvvm.tcgen05 | nvvm.tcgen05.wait | nvvm.tcgen05.ld | nvvm.tcgen05.st | nvvm.tcgen05.alloc > tcgen05.mma tcgen05.ld
Blackwell's tensor core family: matrix products with accumulators in tensor memory, its loads, stores, allocation and
waits.

nvvm.ex2.approx | nvvm.lg2.approx | nvvm.rcp.approx | nvvm.div.full | nvvm.mapa | nvvm.vote | nvvm.redux.sync |
nvvm.match
> MUFU.EX2
Further intrinsics that map to one PTX instruction each: approximate functions, division, votes and reductions over a
warp.

nvg | nvg.wgmma | nvg.wgmma_wait_group | nvg.warp_id | nvg.cluster_id | nvg.tensor_memory_base | nvg.cluster_arrive |
nvg.cluster_wait | nvg.tensor_memory_alloc
> convert-nv-gpu-to-llvm wgmma.mma_async
Triton's last NVIDIA dialect before inline PTX: wgmma with its shapes and layouts, warp and cluster numbers, the
tensor memory base. It lives for a few passes only.

rocdl > llir amdgcn
Operations that are AMD intrinsics of LLVM; each maps to one machine instruction, or few, of nearly the same name.

rocdl.workitem.id.x | rocdl.workgroup.id.x | rocdl.workgroup.id.y | rocdl.workgroup.id.z | rocdl.grid.dim.x |
rocdl.wave.id
> s_load
Thread, workgroup and wave numbers and the grid's size: what is in VGPRs or SGPRs when a kernel starts.

rocdl.make.buffer.rsrc | rocdl.raw.ptr.buffer.load | rocdl.raw.ptr.buffer.store |
rocdl.raw.ptr.buffer.load.async.lds | rocdl.raw.ptr.buffer.load.lds
> buffer_load amdg.buffer_load
Buffer accesses through a four-register descriptor of base, size and flags, with bounds checked by hardware. The lds
forms write to LDS without VGPRs.

rocdl.mfma | rocdl.wmma > v_mfma v_wmma
One matrix core instruction; the name holds result type and shape, such as 32x32x8 of fp16.

rocdl.s.barrier | rocdl.barrier | rocdl.s.waitcnt | rocdl.s.wait.tensorcnt | rocdl.s.wait.asynccnt | rocdl.asyncmark |
rocdl.wait.asyncmark | rocdl.s.wait.dscnt
> s_barrier s_waitcnt
Workgroup barriers and waits on counters of outstanding memory operations. Count them in the main loop.

rocdl.s.setprio | rocdl.sched.barrier | rocdl.sched.group.barrier | rocdl.iglp.opt
> tritonamdgpu-block-pingpong s_setprio
Steers scheduling: a wave's priority on its SIMD, or fences that LLVM's scheduler must not move instructions across.

rocdl.readfirstlane | rocdl.readlane | rocdl.ballot | rocdl.ds_bpermute | rocdl.ds_swizzle | rocdl.permlanex16 |
rocdl.permlane32.swap | rocdl.permlane16.swap | rocdl.update.dpp
> v_readfirstlane ds_bpermute
Moves values between lanes or to scalar registers. DPP and permlane work within registers; bpermute goes through the
LDS unit and is slower.

rocdl.ds.read.tr16.b64 | rocdl.ds.read.tr | rocdl.ds.load.tr > ds_read
Reads LDS transposed (gfx950 and later), so an operand stored the other way round needs no shuffling. Where it is
missing, transposed operands are read two bytes at a time.

rocdl.exp2 | rocdl.log | rocdl.rcp | rocdl.rsq | rocdl.cvt > v_exp_f32
Approximate functions and conversions of the transcendental unit, at a quarter of the arithmetic rate. In softmax they
compete with matrix products for time.
"""
