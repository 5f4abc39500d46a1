"""What passes, steps and stages are; the format is that of `tables.read`."""

__all__ = ["LLVM_PASSES", "PASSES", "STAGES", "STEPS"]

STAGES = """
python > ast source
The kernel's file as it was when it was compiled. Nothing has been specialised yet: constexpr arguments, autotune
configurations and heuristics are still names. Lines of every later stage point back into this text.

ast > python source
Python's syntax trees of the kernel and of every function it calls, which is what Triton's code generator walks.
Branches on constexpr values are still all there, so comparing it with the next stage shows what specialisation
removed.

source > ttir inline
TTIR straight from the code generator, before any pass ran. Calls to other jitted functions are still tt.call, loops
have their Python shape, and every constexpr is a constant. Look here to tell what you wrote from what the optimiser
made of it.

ttir > source ttgir tt.load tt.dot
Triton IR: tensors with shapes and element types but no layouts, the same for every target. Passes here inline,
simplify and hoist; nothing is said of threads, warps or shared memory. If redundant work survives to the end of this
stage, hardly anything later removes it.

ttgir > ttir llir #ttg.blocked ttg.convert_layout
Triton GPU IR: every tensor type has a layout that says which thread holds which element. Coalescing, tensor core
selection, software pipelining and warp specialisation all happen here, so most of a kernel's speed is decided in this
stage. Look at layouts of loads, at the number of ttg.convert_layout, and at what is left inside the loop.

glir > ttgir
Gluon's IR as written: layouts, shared memory and barriers are the author's rather than the compiler's. Few passes run
on it, as layouts left automatic are resolved and functions inlined; what you read is close to what you asked for.

llir > ttgir ptx amdgcn llvm.optimize_module
First MLIR's LLVM dialect, then LLVM IR proper, of one thread: tensors have become structs of registers, layouts have
become address arithmetic. Look for vector widths of loads and stores, inline assembly, and the number of barriers.

ptx > llir cubin ptxas
NVIDIA's virtual assembly, with unlimited typed registers, written by LLVM's NVPTX backend. Instruction selection is
visible (mma, wgmma, cp.async, tcgen05), scheduling and register allocation are not: ptxas does both afterwards. Do
not judge register pressure or order by it.

cubin > ptx sass ptxas
The ELF file that the driver loads: machine code, constants, and per-kernel counts of registers, shared memory and
stack. Its numbers decide occupancy, and a stack beyond zero usually means spills to local memory.

sass > ptx cubin STL
The machine code in the cubin, disassembled: real registers, real order, scoreboard waits. This is what runs, so
settle questions of spills (LDL, STL), vector widths and overlap of loads with matrix instructions here rather than in
PTX.

amdgcn > llir hsaco s_waitcnt
AMD machine code as assembly text, after LLVM's own scheduling and register allocation, so it is final, unlike PTX.
The comments at its end give VGPR, SGPR, scratch and LDS use and the occupancy that follows.

hsaco > amdgcn amd.link_hsaco
The ELF code object that the HIP runtime loads, assembled from the AMD assembly and linked by lld. Its metadata note
records registers, spills, LDS size and the layout of kernel arguments.
"""

STEPS = """
llvm.to_module > llir llvm.optimize_module
Translates the LLVM dialect of MLIR to an in-memory LLVM module: a change of container, not of meaning. Names,
attributes and debug locations are carried over; the line count may change because each format prints constants
differently.

llvm.link_extern_libs > llvm.to_module
Links bitcode libraries of device functions (libdevice for NVIDIA; ocml and ockl for AMD) and the symbols they need.
The module may grow a lot here and shrink again at once, as what is unused is dropped. A call to __nv_ or __ocml_
functions in the kernel is what makes it matter.

llvm.optimize_module > llvm.to_module InstCombinePass SLPVectorizerPass
LLVM's standard optimisation pipeline at O3 on one thread's code, in one step; --llvm-passes records each pass inside.
It simplifies address arithmetic, hoists invariant code and merges blocks. It moves no data between threads, so
layouts chosen before are final.

llvm.translate_to_asm > ptx amdgcn
LLVM's code generator: instruction selection, and the printed assembly. For NVIDIA the result is PTX with virtual
registers; for AMD it is final machine code, scheduled and register-allocated.

compile_amdgpu | amd.compile_amdgpu > amdgcn llvm.translate_to_asm
Runs LLVM's AMDGPU backend on the optimised module: instruction selection, machine scheduling, register allocation,
insertion of waits. What it prints is final machine code as text. Read spills and occupancy from the comments at its
end.

assemble_amdgcn | amd.assemble_amdgcn > amdgcn hsaco
Assembles the text of AMD machine code into a relocatable ELF object, by LLVM's integrated assembler. Nothing is
optimised here.

amd.link_hsaco | link_hsaco > hsaco
Links the assembled object with lld to the shared object (hsaco) that the HIP runtime loads. The code itself does not
change.

ptxas > ptx cubin sass STL
NVIDIA's closed assembler and real optimiser: PTX in, cubin out. It schedules, allocates registers, forms
uniform-datapath code and decides spills, under the limit set by maxnreg and the number of warps. Its report of
registers and spills is the first thing to read; -O level and version change speed noticeably.

sass.disassemble | cuobjdump | nvdisasm > sass cubin
Reads the machine code back from the cubin as text. It changes nothing; what is shown is what the GPU executes.
"""

PASSES = """
inline | inliner > tt.call gluon-inline
Replaces every call to another jitted function by its body. Afterwards the module has one kernel and optimisations see
through what were function borders; helper functions of the standard library (tl.cdiv, tl.sum) vanish here. A function
marked noinline stays, and costs a real call with its arguments in memory.

canonicalize > cse sccp
Applies each operation's own simplifications until none fits: constants folded, x+0 removed, dead code erased,
branches on known conditions taken. It runs after many passes as housekeeping, so small changes here are normal. It is
a clean-up, never a decision about performance.

cse > canonicalize triton-loop-aware-cse
Common subexpression elimination: two operations without side effects and with equal operands become one. It shrinks
address arithmetic that unrolled or inlined code computes twice; merged values live longer, which may cost registers.

sccp > canonicalize
Sparse conditional constant propagation: finds values that are constant on every path that can actually run, through
branches and loop arguments, and replaces them. Dead branches become visible to the canonicalizer afterwards.

symbol-dce > inline
Deletes private functions that nothing refers to, mostly those that inlining left without callers. The kernel itself
does not change.

triton-combine > canonicalize tt.dot
Peephole rules on Triton operations: a dot whose result is added becomes a dot with an accumulator, chained pointer
additions become one, select on a load's mask becomes the load's other operand. Small, but the accumulator form is
what tensor cores want.

triton-reorder-broadcast > tt.broadcast tt.splat
Moves broadcasts and splats below element-wise operations, so that arithmetic is done once on the small tensor rather
than on each copy. Look for arith operations whose types got smaller.

triton-licm > triton-loop-aware-cse scf.for
Hoists what does not change between iterations out of loops, loads too where nothing in the loop may write and the
loop is known to run (or the load gets a guarding mask). Fewer instructions in the loop, more registers alive across
it.

triton-loop-unroll > scf.for tt.loop_unroll_factor
Unrolls loops that ask for it with tl.range(loop_unroll_factor=...): the body is repeated and a remainder loop may
follow. Without that attribute nothing changes. It cuts loop overhead and exposes parallelism, at the price of code
size and registers.

triton-loop-aware-cse > cse scf.for
CSE that also sees that two loop-carried values start equal and are updated equally, and keeps one. Typical prey: two
pointers or counters advanced in step, which leave the loop with fewer iter_args and so fewer registers.

triton-rewrite-tensor-pointer > tt.make_tensor_ptr tt.load
Replaces block pointers (make_block_ptr, tt.advance) by plain tensors of pointers with masks made from the bounds.
From here on such loads look like any others. Only in older Triton.

triton-rewrite-tensor-descriptor-to-pointer > tt.make_tensor_descriptor tt.descriptor_load
On targets without a tensor memory engine, turns descriptor loads and stores into ordinary masked loads and stores on
tensors of pointers. If you expected TMA and see this change the kernel, the target has none.

convert-triton-to-tritongpu > ttgir #ttg.blocked tritongpu-coalesce
Gives every tensor type a first layout, a plain blocked one for the number of warps asked for, and so turns TTIR into
TTGIR. These layouts are placeholders: coalescing and tensor core passes replace them. It also fixes num-warps,
threads-per-warp and target on the module.

tritongpu-coalesce > #ttg.blocked tt.load tt.store tritongpu-remove-layout-conversions tt.contiguity
Chooses, for each load and store, a blocked layout in which neighbouring threads touch neighbouring addresses and each
thread moves up to 16 bytes. It uses contiguity and divisibility of the pointers; unknown strides or alignment mean
narrow accesses. Layout conversions are put around each access, most of which the next passes remove. Look at
sizePerThread and order of the new layouts.

tritongpu-coalesce-async-copy > ttg.async_copy_global_to_local tritongpu-coalesce
Narrows the layout of an asynchronous copy's source to what the shared memory layout can take in one vector, so that
cp.async copies whole 4, 8 or 16 byte chunks. Without it the copy would be split into more, smaller instructions.

tritongpu-F32DotTC > tt.dot
Rewrites fp32 dots that ask for tf32x3 (or bf16x3, bf16x6) precision as several dots of shorter operands plus
corrections, which tensor cores can do. Nearly fp32 accuracy at some three or six times the cost of one dot; plain
tf32 or ieee dots stay.

tritongpu-remove-layout-conversions > ttg.convert_layout tritongpu-coalesce
Gets rid of layout conversions: it propagates layouts of loads, stores and dots through the code, recomputes cheap
values in the layout wanted, and hoists the conversions that must stay. Each one that remains goes through shared
memory or shuffles, so count ttg.convert_layout after it, above all inside loops.

tritongpu-optimize-thread-locality > tt.reduce
Reworks reductions in loops so that each thread accumulates its own partial result and threads talk once, after the
loop. Also picks layouts for tt.gather that stay in a warp. It pays where a loop's accumulator is fed by a reduction
each iteration.

tritongpu-accelerate-matmul > #ttg.nvidia_mma ttng.warp_group_dot ttng.tc_gen5_mma tt.dot
Decides how each tt.dot uses tensor cores: mma layouts (sm_80, sm_120), warp_group_dot reading shared memory (sm_90),
or tc_gen5_mma with the accumulator in tensor memory (sm_100). A dot left in a blocked layout afterwards runs on plain
FMA units, many times slower. Check instrShape and warpsPerCTA.

tritongpu-optimize-dot-operands > #ttg.dot_op ttg.memdesc_trans ldmatrix
Rearranges what feeds dots: folds transposes into shared memory views, moves conversions to operand layouts ahead of
element-wise work, and lets operands stay in shared memory where the instruction reads it there. The gain is ldmatrix
or wgmma descriptors instead of shuffles.

tritongpu-fuse-nested-loops > scf.for tritongpu-pipeline
Flattens a nest of loops marked for it (tl.range(flatten=True)) into one loop with the inner and outer bodies under
conditions. Persistent kernels gain, since the pipeline of the inner loop is then not drained between tiles.

tritongpu-assign-latencies > tt.latency tritongpu-schedule-loops tritongpu-pipeline
First part of software pipelining: decides, from num_stages, how many stages ahead each load (or asynchronous matrix
operation) of a loop should be issued, and notes it as tt.latency. A load without that attribute will not be
pipelined; too narrow accesses (under 4 bytes) are a usual reason.

tritongpu-schedule-loops > loop.stage loop.cluster tritongpu-assign-latencies tritongpu-pipeline
Second part of software pipelining: gives every operation of the loop a stage (which iteration ahead) and a cluster
(order in the body), from the latencies and the dependences. The result is in loop.stage and loop.cluster;
tt.scheduled_max_stage on the loop is the depth.

tritongpu-pipeline > tritongpu-schedule-loops ttg.async_copy_global_to_local ttg.local_alloc LowerLoops ExpandLoops
Software pipelining: loads become asynchronous copies into a ring of shared memory buffers, issued some iterations
ahead of their use, with a prologue before the loop. Look for ttg.local_alloc with a leading buffer dimension, the
waits, and which loads were left synchronous. It hides memory latency and costs num_stages times the shared memory.

LowerLoops > tritongpu-pipeline ExpandLoops ttg.local_alloc
Part of tritongpu-pipeline: replaces scheduled loads by asynchronous copies, TMA copies or buffer rings with their
barriers and waits, still in one iteration's order. Multi-buffered allocations and index arithmetic appear here.

ExpandLoops > tritongpu-pipeline LowerLoops
Part of tritongpu-pipeline: moves operations between iterations by their stage, making the prologue ahead of the loop
and predicated or peeled tail iterations. Values that cross stages become loop-carried, which is where registers go.

tritongpu-combine-tensor-select-and-if > scf.if arith.select
Folds an arith.select into a nearby scf.if on the same condition, so the choice becomes a value that the branch
yields. It saves keeping both values alive across the branch.

tritongpu-optimize-accumulator-init > tt.dot ttng.tc_gen5_mma
Where an accumulator is reset to zero in a loop, uses the matrix instruction's flag that ignores the old accumulator
instead of writing zeros. Persistent kernels save a pass over the accumulator for each tile.

tritongpu-hoist-tmem-alloc > ttng.tmem_alloc triton-tensor-memory-allocation
Moves tensor memory allocations out of loops and branches, so that the accumulator stays in tensor memory across
iterations instead of being loaded and stored. Runs again after pipelining. A tmem_load and tmem_store pair left in
the loop is the cost to look for.

tritongpu-promote-lhs-to-tmem > ttng.tmem_alloc ttng.tc_gen5_mma
Puts the left operand of a Blackwell matrix operation into tensor memory where it was computed in registers, such as
the softmax weights of attention. That spares the round trip through shared memory and the bandwidth of reading it
there.

tritongpu-automatic-warp-specialization
> ttg.warp_specialize ttg.partition tritongpu-partition-scheduling nvws-insert-aref
Splits a loop marked with warp_specialize=True into partitions run by different warps: one loads, one issues matrix
operations, others compute. It is a pipeline of its own, whose inner passes are listed below it. Without
ttg.warp_specialize in its output, the loop was not found suitable.

tritongpu-normalize-ws-while-loops > tritongpu-automatic-warp-specialization scf.while
Brings scf.while loops that are to be warp-specialized into the form that partitioning understands. Changes nothing
where loops are scf.for.

tritongpu-partition-scheduling > ttg.partition tritongpu-automatic-warp-specialization
Assigns each operation of a warp-specialized loop to one or more partitions, written as ttg.partition. Loads, matrix
operations and the rest fall into different groups; the balance it finds decides how well they overlap.

VerifyWarpSpecializationPartitions > tritongpu-automatic-warp-specialization
Checks between the steps of warp specialisation that the partition attributes still fit together. It changes nothing,
and only matters when it fails.

tritongpu-partition-loops > ttg.warp_specialize ttg.partition nvws-lower-warp-group
Takes the loop apart: each partition gets a copy of the loop with its own operations only, inside a warp group. Values
no longer flow between partitions in registers, only through shared or tensor memory with barriers.

tritongpu-optimize-partition-warps > ttg.warp_specialize ttg.maxnreg setmaxnreg
Chooses how many warps each partition of a ttg.warp_specialize needs and how many registers they may ask for. A
partition that only issues copies shrinks to one warp with few registers, and the computing ones get the rest.

tritongpu-allocate-warp-groups > ttg.warp_specialize ttg.total-num-warps setmaxnreg
Numbers the warps of every partition, pads to whole warp groups of four, and settles how registers are split between
them. See warpGroupStartIds, actualRegisters, and ttg.total-num-warps, which is what is really launched.

tritongpu-prefetch > tt.dot ttg.local_load tritongpu-pipeline
For mma-style targets, reads the next slice of dot operands from shared memory to registers while the current slice is
multiplied, splitting a dot along K. It hides ldmatrix latency within a warp, for more registers.

tritongpu-reduce-data-duplication > #ttg.dot_op ttg.convert_layout
Turns a conversion to a dot operand layout that would replicate data in registers into a store to and load from shared
memory, where equal copies can be shared. More shared memory, fewer registers.

tritongpu-reorder-instructions | tritonamdgpu-reorder-instructions > ttg.local_load
Moves operations without changing them: conversions and shared memory reads down towards their first use to keep
registers free, loads up to start early. The operation counts stay; only the order tells.

tritongpu-global-scratch-memory-allocation > ttg.global_scratch_alloc ttg.global_scratch_memory_size
Gives each ttg.global_scratch_alloc an offset in a per-program buffer of global memory that the launcher provides, and
writes the total size on the module. Tensor descriptors made inside the kernel are the usual customer.

triton-nvidia-check-matmul-two-cta > ttng.two-ctas
Checks that all Blackwell matrix operations of the kernel agree on whether a pair of CTAs works together, and records
that as ttng.two-ctas on the module. The attribute is all it changes.

triton-nvidia-gpu-plan-cta > ttg.num-ctas
Decides how the CTAs of a cluster share a tile: each gets part of the dot's or reduction's result. Does nothing for
num_ctas = 1. Newer Triton has triton-nvidia-gpu-assign-cga-layouts in its place.

triton-nvidia-gpu-assign-cga-layouts > ttg.num-ctas triton-nvidia-gpu-optimize-cta-locality
Adds to layouts how a tensor is divided among the CTAs of a cluster. With num_ctas = 1 there is nothing to divide and
the text stays the same.

triton-nvidia-gpu-optimize-cta-locality > triton-nvidia-gpu-assign-cga-layouts ttg.num-ctas
Rearranges how tensors are split over a cluster so that less data crosses between CTAs, since distributed shared
memory is slower than one's own. Only for num_ctas above 1.

triton-nvidia-optimize-descriptor-encoding > tt.make_tensor_descriptor #ttg.nvmma_shared
Chooses the shared memory layout that each tensor descriptor will copy to, from how the data is used, so that TMA
writes the swizzle which the matrix instruction reads. A mismatch would need a copy through registers.

triton-nvidia-optimize-tmem-layouts > ttng.tmem_load #ttng.tensor_memory_encoding
Picks register layouts for loads and stores of tensor memory that suit what follows, such as row reductions, or
splitting a tile into halves for the epilogue. Fewer shuffles and conversions result.

triton-nvidia-tmem-load-reduce > ttng.tmem_load tt.reduce
Fuses a tensor memory load and the row minimum or maximum of what was loaded into one operation, on chips whose
tcgen05.ld can do both. Saves instructions in softmax.

triton-nvidia-tma-lowering > tt.descriptor_load ttng.async_tma_copy_global_to_local
Turns the descriptor loads and stores that are left (those that were not pipelined) into TMA copies with their own
barrier and wait. A load lowered here is issued and waited for at once, so nothing overlaps it.

triton-nvidia-mma-lowering > ttng.tc_gen5_mma ttng.tc_gen5_commit
Finishes Blackwell matrix operations for conversion: folds the commit that signals completion into the operation as
its barrier, and inserts copies of scales to tensor memory. Look for the barrier operand at the end of
ttng.tc_gen5_mma.

triton-nvidia-interleave-tmem > ttng.tmem_load ttng.tmem_store
Sinks tensor memory loads to their uses and hoists stores, interleaving them where safe, so that not a whole
accumulator sits in registers at once. It is about register pressure: a 128x256 fp32 tile does not fit otherwise.

triton-nvidia-gpu-remove-tmem-tokens > !ttg.async.token ttng.tmem_alloc
Drops the tokens that ordered tensor memory operations in SSA form, once the passes that reasoned with them are
through. Operations keep their order; the text gets shorter.

triton-nvidia-gpu-fence-insertion > ttng.fence_async_shared fence.proxy.async
Puts ttng.fence_async_shared between ordinary writes to shared memory and asynchronous readers of it (wgmma, tcgen05,
TMA), which go through another proxy. Without the fence they might read old data; in a loop it costs a little each
time.

triton-nvidia-gpu-proxy-fence-insertion > ttng.fence_async_shared triton-nvidia-gpu-fence-insertion
A second round of proxy fences, once shared memory has addresses: where two allocations share storage, a fence may be
needed between the generic and the asynchronous proxy that was not before.

triton-nvidia-gpu-hoist-mbarrier-lifecycle > ttng.init_barrier ttng.inval_barrier
Moves initialisation and invalidation of barriers that several CTAs use to the kernel's beginning and end, so that no
CTA signals a barrier which another has not set up or has already destroyed. Without clusters there is nothing to
move.

triton-nvidia-gpu-cluster-barrier-mbar-allocator > ttng.init_barrier initialize-ws-cluster-barriers
Reserves the mbarriers with which warp-specialized partitions synchronise over a cluster. Without clusters it does
nothing.

initialize-ws-cluster-barriers > triton-nvidia-gpu-cluster-barrier-mbar-allocator mbarrier.init
Emits the initialisation of the mbarriers that warp-specialized cluster barriers use, at the kernel's start. Without
clusters it does nothing.

triton-nvidia-gpu-lower-clc > ttng.clc_try_cancel
Lowers cluster launch control, Blackwell's way for a running CTA to take over the work of one not yet launched.
Persistent kernels balance load with it without a counter in memory; others do not change.

triton-tensor-memory-allocation > ttng.tmem_alloc ttg.tensor_memory_size
Assigns columns and rows of the 128 x 512 word tensor memory to each ttng.tmem_alloc and records the size on the
module. Over 512 columns the kernel fails to compile; half or less lets two CTAs share an SM.

triton-nvidia-gpu-tmem-barrier-insertion > ttng.tmem_alloc ttg.barrier
Inserts CTA barriers where one tensor memory allocation reuses the columns of another, or warps read what others
wrote. Each ttg.barrier stops all warps, so look for those in the main loop.

triton-nvidia-gpu-tmem-wait-insertion > ttng.tmem_wait ttng.tmem_load
Inserts waits for tensor memory loads and stores, which are asynchronous, before the registers or columns are used.
The later a wait stands, the more of the load's latency is hidden.

triton-nvidia-gpu-membar | triton-amdgpu-membar > ttg.barrier bar.sync s_barrier
Inserts ttg.barrier wherever one warp may read or overwrite shared memory that another still writes or reads, from the
addresses that allocation gave. Barriers in the main loop are the ones that cost; swizzled or separate buffers may
avoid them.

nvgpu-warp-specialization > ttg.warp_specialize doTaskPartition doCodePartition async_task_id
Warp specialisation for sm_90: producer warps load, consumer warps multiply. Its parts (doTaskPartition,
doTaskIdPropagate, doDataPartition, doCodePartition) are listed under it. A loop without warp_specialize=True passes
through unchanged.

doTaskPartition > nvgpu-warp-specialization async_task_id
First part of sm_90 warp specialisation: loads go to a producer task, dots and what depends on them to consumer tasks,
marked by async_task_id.

doTaskIdPropagate > nvgpu-warp-specialization async_task_id
Spreads task numbers from the marked operations to everything that feeds them, constants and addresses included. An
operation with several numbers will be computed by each of those tasks.

doDataPartition > nvgpu-warp-specialization async_task_id
Splits the consumer's tile, usually along M, over two consumer warp groups, so types shrink to half (128x... becomes
64x...). Each group then has its own accumulator and registers suffice for larger tiles.

doCodePartition > nvgpu-warp-specialization ttg.warp_specialize ttng.wait_barrier
Builds the regions: each task gets its own code, values between tasks go through shared memory buffers, and full and
empty barriers guard each buffer. After it ttg.warp_specialize holds a partition per task.

nvws-insert-aref > nvws.aref.create nvws-lower-aref
Makes every value that crosses partitions explicit: it is put into an asynchronous reference (aref) by its producer
and got from it by consumers. This is the abstract form of full and empty barriers around a buffer.

nvws-insert-tmem-aref > nvws.aref.create ttng.tmem_alloc
The same for accumulators in tensor memory: ownership of the columns passes between the partition that multiplies and
the one that reads the result. Two buffers here let an epilogue overlap the next tile.

nvws-lower-aref > nvws.aref.create ttng.wait_barrier ttng.arrive_barrier nvws-assign-stage-phase
Turns arefs into rings of buffers with an mbarrier pair (full, empty) each: enter becomes a wait, exit an arrive or a
commit. The depth of the ring is num_stages. Operation counts jump, as barriers must be created and initialised.

nvws-assign-stage-phase > nvws-lower-aref ttng.wait_barrier
Adds the loop-carried counters that say which buffer of a ring is next (stage) and the parity its barrier is waited on
with (phase). Most of the scalar arithmetic in specialised loops comes from here, and it runs on the uniform datapath.

nvws-lower-warp-group > ttg.warp_specialize nvws.warp_group
Replaces the intermediate nvws.warp_group by ttg.warp_specialize, the form that lowering to LLVM knows: a default
region for the kernel's own warps and numbered partitions for extra ones.

nvws-hoist-tmem-store > ttng.tmem_store
Hoists the store that sets an accumulator's first value out of a loop, if possible, so the partition that multiplies
need not wait for another to write zeros. One synchronisation per tile goes away.

gluon-inline > inline
The inliner for Gluon kernels and for helper functions that lowering itself made. Where no calls are left it still
tidies control flow a little, merging blocks that only branch.

gluon-canonicalize > canonicalize
A canonicalizer that keeps to simplifications which respect the layouts a Gluon author wrote; layout conversions are
not rearranged.

gluon-infer-coalesced-encodings > tritongpu-coalesce gluon-resolve-auto-encodings
Finds coalesced layouts for the loads and stores whose layout the Gluon author left to be inferred as such. Layouts
written out stay as they are.

gluon-resolve-auto-encodings > gluon-infer-coalesced-encodings
Replaces automatic layouts by those of neighbouring operations; fails with an error where two demands conflict.
Afterwards no layout is left open.

gluon-simplify-control-flow > gluon-canonicalize
Simplifies branches and loops of Gluon code whose conditions are known, without touching layouts. Expect it to matter
after specialisation on constexpr values.

tritonamdgpu-accelerate-matmul > #ttg.amd_mfma #ttg.amd_wmma v_mfma tt.dot
Chooses the matrix core instruction for each dot: mfma on CDNA (gfx9), wmma on RDNA and gfx12, with its shape and the
operands' kWidth. A dot that keeps a blocked layout runs on vector FMA. Look at instrShape: 32x32 reuses operands
more, 16x16 has shorter latency.

tritonamdgpu-optimize-epilogue > tt.store ttg.convert_layout
Stores accumulators straight from the matrix layout instead of converting to a coalesced one through LDS first. Saves
LDS and barriers; the stores get narrower, so it is a trade.

tritonamdgpu-optimize-dot-operands > #ttg.dot_op ttg.local_load
Arranges dot operands so that LDS buffers can be shared between dots and layouts match what the matrix core reads.
Less LDS and fewer barriers are the gain.

tritonamdgpu-hoist-layout-conversions > ttg.convert_layout #ttg.dot_op
Hoists conversions to dot operand layouts out of the loop when their source does not change in it, as Q in attention.
Trades registers, of which AMD has many, for LDS traffic in every iteration.

tritonamdgpu-sink-layout-conversions > ttg.convert_layout
Moves layout conversions below the last deallocation of LDS and ahead of their first use, so that their scratch space
can reuse what the loop's buffers had. It lowers the peak of LDS and so may raise occupancy.

tritonamdgpu-schedule-loops > loop.stage tritonamdgpu-pipeline
Plans software pipelining for AMD: stages for global loads, LDS writes and reads, and matrix operations. Results are
in loop.stage and loop.cluster.

tritonamdgpu-pipeline > tritonamdgpu-schedule-loops ttg.local_alloc amdg.buffer_load_to_local
Carries the pipeline plan out: allocates LDS buffers, moves global loads ahead by an iteration or more, and where the
chip can, copies straight to LDS. On gfx942 data waits in registers between load and LDS write, which takes VGPRs.

tritonamdgpu-block-pingpong > rocdl.s.barrier rocdl.s.setprio
Reorders the loop so that of two warps on one SIMD one uses the matrix core while the other does memory work, held in
step by barriers and priorities. Only for tile sizes, warps and types on its list: see whether it changed anything.

tritonamdgpu-warp-pipeline | convert-warp-pipeline > tritonamdgpu-block-pingpong rocdl.s.barrier
Pipelines regions of a loop over warps, as the author of a kernel marked them: warps run the stages offset against
each other, and conditional barriers keep the offset. Without marked regions it changes nothing.

tritonamdgpu-canonicalize-pointers > tt.addptr amdg.buffer_load tt.pointer_range
Splits each tensor of pointers into a scalar base, kept in SGPRs, and a tensor of offsets, 32-bit where they fit. That
form is what buffer instructions need and halves the registers that addresses take.

tritonamdgpu-convert-buffer-ops > amdg.buffer_load buffer_load tt.pointer_range
Turns loads, stores and atomics with a scalar base and non-negative 32-bit offsets under 2 GiB into buffer operations.
Masks then cost no branch, as out-of-bounds lanes get an offset that the hardware drops. If tt.load stays, check
tt.pointer_range and the sign analysis of offsets.

tritonamdgpu-optimize-buffer-op-ptr > amdg.buffer_load
Moves the part of a buffer operation's offset that is the same for all lanes into its scalar base, so in a loop one
scalar addition replaces a vector of them. Look for fewer arith.addi on tensors inside the loop.

tritonamdgpu-move-up-prologue-loads > tritonamdgpu-pipeline
Moves global loads ahead of the loop further up, so that they are under way while the rest of the prologue computes.
Starts sooner; holds registers longer.

tritonamdgpu-in-thread-transpose > amdg.in_thread_transpose #ttg.amd_rotating_shared
For operands that lie in memory the wrong way round for the matrix core, lets each thread load a small 2D block and
transpose it in registers, so both LDS writes and reads are wide. Without it reads from LDS go element by element
(ds_read_u16).

tritonamdgpu-coalesce-async-copy > ttg.async_copy_global_to_local amdg.buffer_load_to_local
Narrows layouts of copies straight to LDS to what the hardware can write: a warp must fill consecutive LDS addresses,
in 4 or 16 byte pieces.

tritonamdgpu-update-async-wait-count > ttg.async_wait s_waitcnt
Recounts, for each wait, how many memory instructions may still be outstanding, so that prefetches of later iterations
need not finish. Off by one here would be a stall or a race.

tritonamdgpu-fold-true-cmpi > arith.cmpi
Uses range analysis to replace comparisons that are always true by a constant, which takes masks off loads and stores.
An access without a mask needs neither select nor branch.

tritonamdgpu-prepare-if-combining > scf.if
Moves operations from between two scf.if on the same condition, so that the canonicalizer can merge them into one
branch. One branch instead of two, with less code between.

tritonamdgpu-optimize-descriptor-encoding > tt.make_tensor_descriptor #ttg.padded_shared
Chooses the LDS layout of each tensor descriptor from how its data is used, so that hardware copies write what the
matrix core reads. A poor choice shows as bank conflicts in ds_load.

tritonamdgpu-convert-tensor-ops > tt.descriptor_load amdg.async_tdm_copy_global_to_local
Turns descriptor loads and stores into copies by the tensor data mover (gfx1250) into and out of LDS. On chips without
it nothing is left to convert.

allocate-shared-memory-nv | allocate-amdgpu-shared-memory | allocate-shared-memory
> ttg.local_alloc allocation.offset ttg.shared
Gives each shared memory buffer, and the scratch of each layout conversion and reduction, an offset, reusing space of
buffers that are dead. The total stands in ttg.shared on the module and limits how many CTAs fit on an SM; beyond the
hardware's limit the launch fails.

optimize-amd-lds-usage > allocate-shared-memory-nv ttg.convert_layout
If LDS would overflow, splits large layout conversions into two smaller ones by way of an intermediate layout. Leaves
kernels that fit alone.

convert-scf-to-cf > scf.for cf.br
Turns structured loops and branches into basic blocks with jumps, for LLVM has nothing else. Loop-carried values
become block arguments. From here on loops are harder to recognise.

convert-index-to-llvm > convert-arith-to-llvm
Converts what is left of MLIR's index type and operations to LLVM integers. Usually nothing of it is left and the text
stays the same.

convert-triton-gpu-to-llvm | convert-triton-amdgpu-to-llvm > llir llvm.inline_asm
The great lowering: every tensor becomes a struct of the registers that one thread holds, layouts become arithmetic on
thread numbers, and loads, dots and barriers become intrinsics or inline assembly. Operation counts explode by the
elements per thread; very large growth hints at a layout with too many registers.

convert-warp-specialize-to-llvm | triton-amdgpu-convert-warp-specialize-to-llvm
> ttg.warp_specialize setmaxnreg barrier
Lowers ttg.warp_specialize to code: extra warps enter a loop in which they wait at a barrier for the number of a
partition to run, and the default warps tell them. Register hand-over (setmaxnreg) is emitted here.

convert-nv-gpu-to-llvm > nvg.wgmma llvm.inline_asm
Replaces the small nvg dialect (wgmma, warp id, cluster id, tensor memory base) by inline PTX or intrinsics.
Afterwards only LLVM operations remain, and what cannot be an intrinsic stands in llvm.inline_asm.

convert-nvvm-to-llvm > llvm.inline_asm
Writes those nvvm operations that have no LLVM intrinsic as inline PTX, such as proxy fences. Each is a single
instruction, so the count stays.

convert-arith-to-llvm > llir
Turns scalar arith operations into their LLVM counterparts, one for one. Nothing is optimised; look elsewhere for
speed.

convert-cf-to-llvm > cf.br llvm.br
Turns branches of the cf dialect into LLVM branches, one for one. The blocks stay as they are.

convert-builtin-func-to-llvm > llvm.call
AMD: replaces calls to placeholder functions that lowering left behind (predicated loads and stores, fast math) by
real LLVM code, once control flow may be split.

canonicalize-llvm-ir > canonicalize
Simplifies the LLVM dialect: chains of insert and extract on structs cancel, casts between what a tensor was and what
it became vanish, unused layout aliases go. Usually the largest reduction of operations in the lowering.

reconcile-unrealized-casts > builtin.unrealized_conversion_cast
Removes pairs of placeholder casts that cancel. It fails if one is left over, which means that some operation was not
converted.

enable-line-info > llir
Adds debug locations with a function scope to the LLVM dialect, so that PTX and SASS name lines of the kernel. No
effect on the code; TRITON_DISABLE_LINE_INFO leaves it out.
"""

LLVM_PASSES = """
InstCombinePass | instcombine > llvm.optimize_module
LLVM's peephole simplifier: folds constants, strength-reduces multiplications and divisions, merges casts and address
arithmetic. It runs many times; most of the lines that change in LLVM IR change here.

EarlyCSEPass | early-cse > GVNPass
A fast common subexpression elimination within dominating blocks, loads included where no store lies between. Clears
what struct unpacking and address arithmetic duplicated.

GVNPass | gvn > EarlyCSEPass
Global value numbering: finds equal values over the whole function, and loads whose value is already known. Longer
live ranges are its price in registers.

SROAPass | sroa > llvm.optimize_module
Splits stack objects and aggregates into scalars that can live in registers. An alloca that survives it ends up in
local memory, which is slow.

SimplifyCFGPass | simplifycfg > llvm.optimize_module
Merges and removes basic blocks, turns small branches into selects. Predication instead of branching keeps a warp
together.

LICMPass | licm > triton-licm
Hoists loop-invariant instructions, here mostly address parts, out of loops. Helpful for time, harmful for registers
when too much is kept alive.

LoopUnrollPass | LoopFullUnrollPass > triton-loop-unroll
Repeats loop bodies whose trip count is known and small, or by a factor. Triton usually keeps LLVM from unrolling its
pipelined main loop.

SLPVectorizerPass | slp-vectorizer > llvm.optimize_module
Packs neighbouring scalar operations into vectors; on GPUs that yields packed half or float2 arithmetic. Triton turns
it off where it hurts register use.

LoopVectorizePass > SLPVectorizerPass
LLVM's loop vectoriser; GPU code is already one thread of many, so it hardly ever finds something to do here.

InferAddressSpacesPass | infer-address-spaces > LDG
Finds out that a generic pointer is global or shared, so that ld.global or ld.shared replaces the slower generic ld. A
generic LD in SASS means that it could not.

SeparateConstOffsetFromGEPPass | separate-const-offset-from-gep > LDG
Splits constant offsets off addresses, so that several accesses share one base register and use the immediate field of
the instruction. It saves an addition and two registers for each further address.

nvptx-isel | amdgpu-isel | NVPTXDAGToDAGISel > llvm.translate_to_asm
Instruction selection: LLVM IR becomes target instructions on virtual registers. Vector width and fused multiply-adds
are settled here.

machine-scheduler | postmisched > llvm.translate_to_asm amdgcn
Orders machine instructions within blocks, weighing latency against registers in use. For AMD this is the final order;
for PTX ptxas reorders again.

greedy | virtregrewriter > scratch_load amdgcn
LLVM's register allocator and the rewrite after it (AMD only). Where it runs out, spill code to scratch memory or
other registers appears.

si-insert-waitcnts > s_waitcnt
AMD: inserts s_waitcnt before the first use of each outstanding load's result. How early a wait comes is how much
latency stays exposed.

loop-reduce > llvm.optimize_module
Loop strength reduction: replaces multiplications by loop counters with running additions, choosing which addresses to
keep as induction variables.

load-store-vectorizer > LDG global_load
Joins adjacent scalar loads or stores to wider ones where alignment allows. Fewer, wider accesses are the goal.
"""
