"""What layouts, types and attributes mean; the format is that of `tables.read`."""

__all__ = ["ATTRIBUTES", "LAYOUTS"]

LAYOUTS = """
#ttg.blocked | #blocked | #triton_gpu.blocked | blocked | BlockedEncoding | BlockedLayout
> sizePerThread threadsPerWarp warpsPerCTA order tritongpu-coalesce
The plain distributed layout: each thread holds a block of sizePerThread elements, threadsPerWarp threads tile a warp,
warpsPerCTA warps tile the CTA, order names the fastest dimension first. If the tensor is larger the pattern repeats,
if smaller data is replicated. For a load, sizePerThread along order[0] times the element size should be 16 bytes.

#ttg.nvidia_mma | #mma | NvidiaMmaEncoding | nvidia_mma
> instrShape warpsPerCTA versionMajor #ttg.dot_op mma.sync wgmma.mma_async
The layout in which tensor cores leave their result. versionMajor 2 is mma.sync (sm_80, sm_120), 3 is wgmma (sm_90);
instrShape is the tile of one instruction and warpsPerCTA how warps share the whole. Each thread holds pairs of
neighbouring columns, so storing it directly is not coalesced.

#ttg.amd_mfma | #mma | #mfma | AMDMfmaEncoding
> instrShape warpsPerCTA isTransposed v_mfma tritonamdgpu-accelerate-matmul
The result layout of AMD matrix cores (CDNA): instrShape 32x32 or 16x16 per instruction, each lane of 64 holding
groups of four consecutive rows, or columns if isTransposed, which makes stores wider. version tells the generation.

#ttg.amd_wmma | #mma | #wmma > v_wmma tritonamdgpu-accelerate-matmul
The result layout of matrix instructions on RDNA and gfx12: 16x16 tiles by waves of 32 lanes.

#ttg.dot_op | DotOperandEncoding | dot_op > opIdx kWidth parent ttg.local_load ldmatrix
How an operand of a dot lies in registers: opIdx 0 for A, 1 for B, parent the result's layout, kWidth how many
consecutive elements along K a thread holds. Data comes into it best from shared memory by ldmatrix; a conversion from
registers costs a trip there.

#ttg.slice | SliceEncoding | slice > dim parent tt.expand_dims tt.reduce
A parent layout with dimension dim taken out: what a row or column vector has. Threads that differ only along dim hold
the same values, so reductions give it and expand_dims takes it, both without moving data.

#ttg.linear | #linear | LinearEncoding | #ttg.generic_linear > register ttg.convert_layout
The general layout: bases give, for each bit of the register, lane, warp and block number, which element coordinates
it toggles (xor). Any layout of powers of two can be written so. It appears where reshapes, transposes or tensor
memory loads make something that no other layout describes.

#ttg.swizzled_shared | #shared | #ttg.shared | SwizzledSharedEncoding > vec perPhase maxPhase ttg.local_alloc
A shared memory layout that xors the column, in groups of vec elements, with a row number (row / perPhase) % maxPhase.
That spreads a column over banks, so ldmatrix and transposed reads do not conflict. vec = perPhase = maxPhase = 1
means no swizzle: fine for barriers and 1D buffers, suspicious for operands.

#ttg.nvmma_shared | #shared | NVMMASharedEncoding
> swizzlingByteWidth transposed elementBitWidth wgmma.mma_async cp.async.bulk.tensor
The shared memory layout that wgmma, tcgen05 and TMA read and write: rows of swizzlingByteWidth bytes (128, 64, 32 or
none) in groups of eight with 16-byte chunks permuted. 128 is best; smaller comes of inner dimensions under 128 bytes.
transposed says that the first dimension is contiguous.

#ttg.padded_shared | #shared | PaddedSharedEncoding > #ttg.swizzled_shared
A shared memory layout that inserts a few padding elements after every so many, instead of swizzling, to avoid bank
conflicts. Used on AMD where copies straight to LDS need consecutive addresses.

#ttg.amd_rotating_shared | #shared > tritonamdgpu-in-thread-transpose #ttg.swizzled_shared
A swizzled LDS layout whose pattern also rotates between blocks of rows, so that both the transposed write and the
read avoid bank conflicts. It appears together with in-thread transposes.

#ttg.shared_linear | #shared | #ttg.partitioned_shared > #ttg.linear
A shared memory layout given by bases for the bits of the offset, for views that no simpler layout describes. It means
what it says bit by bit: read the bases like those of #ttg.linear.

#ttng.tensor_memory_encoding | #tmem | #ttng.tensor_memory_scales_encoding | TensorMemoryLayout
> blockM blockN colStride ttng.tmem_alloc
How a tile lies in tensor memory: blockM rows (lanes, 64 or 128) and blockN columns per block, colStride above 1 if
elements smaller than 32 bits are not packed. It decides which lanes each warp must load.

#ttng.tensor_memory > ttng.tmem_alloc #ttng.tensor_memory_encoding
The memory space of a buffer in Blackwell's tensor memory, 128 lanes by 512 columns of 32 bits per SM. It is no cache:
what is not allocated there cannot be used by tcgen05 as accumulator.

#ttg.shared_memory | #smem | smem > ttg.local_alloc !ttg.memdesc
The memory space of a buffer in shared memory (LDS on AMD). Everything of this space adds up, over live ranges, to
ttg.shared.

!ttg.memdesc | memdesc | ttg.memdesc > ttg.local_alloc ttg.memdesc_index
The type of a buffer: shape, element type, layout, memory space, and whether it is mutable. A leading dimension is
usually the number of pipeline buffers. It is a handle: loading needs ttg.local_load or ttng.tmem_load.

!ttg.async.token | async.token | !nvws.token > ttg.async_wait
A value that stands for an asynchronous operation not finished yet. It carries order between copies, waits and uses,
and becomes nothing in machine code.

!tt.ptr | tt.ptr > tt.addptr
A pointer to elements of a type, by default in global memory. A tensor of them, 8 bytes each, is what tl.load takes.

!tt.tensordesc | tensordesc > tt.make_tensor_descriptor
The type of a tensor descriptor: the block's shape, element type and shared memory layout. The 128-byte tensormap
behind it holds the rest.

tensor > ttgir #ttg.blocked
An MLIR tensor type: shape, element type and, in TTGIR, a layout after the comma. A tensor lives in registers spread
over the CTA's threads; shape divided by threads is what each holds.
"""

ATTRIBUTES = """
sizePerThread > #ttg.blocked tritongpu-coalesce
In a blocked layout, how many neighbouring elements each thread holds per dimension. Along the contiguous dimension it
is the vector width of loads and stores: 8 for fp16 gives 16 bytes.

threadsPerWarp > #ttg.blocked
In a blocked layout, how the threads of a warp (32, or 64 on CDNA) are arranged over the dimensions. Threads along the
contiguous dimension share cache lines.

warpsPerCTA > #ttg.blocked #ttg.nvidia_mma
How the warps of a CTA are arranged over a tensor's dimensions; the product is num_warps. For matrix layouts [4, 1]
lets each warp own whole rows, which makes row reductions stay in a warp.

order > #ttg.blocked
Dimensions of a layout from fastest to slowest: [1, 0] is row-major. For a load it should start with the dimension
that is contiguous in memory.

instrShape > #ttg.nvidia_mma #ttg.amd_mfma
The tile of one matrix instruction, such as [16, 256, 16] for wgmma or [32, 32, 8] for mfma. Larger N means fewer
instructions and better reuse of shared memory reads.

versionMajor | versionMinor | version > #ttg.nvidia_mma
Which generation of matrix instruction a layout is for: NVIDIA 2 is mma.sync, 3 wgmma; AMD counts its CDNA or RDNA
generations.

opIdx > #ttg.dot_op
Which operand of a dot the layout is for: 0 is A, 1 is B.

kWidth > #ttg.dot_op
How many consecutive elements along K each thread holds of a dot operand; times the element size it is the width of
reads. 2 of fp16 fits mma.sync; larger suits wide LDS reads on AMD.

parent > #ttg.slice #ttg.dot_op
The layout that a slice or dot operand layout is derived from. Two slices are the same only if their parents are.

dim > #ttg.slice
The dimension that a slice layout leaves out of its parent. Counting starts at 0, in the parent's dimensions.

axis > tt.reduce tt.get_program_id
The dimension along which a reduction, scan or gather works, or the axis of the grid that is asked for. 0 is the first
dimension of a tensor, and x of the grid.

ctaLayout | CTAsPerCGA | CTASplitNum | CTAOrder | CGALayout > ttg.num-ctas
How a tensor is divided among the CTAs of a cluster. Left out of the text where there is only one.

async_ops | #nvws.async_op > nvws-lower-aref
Which kinds of asynchronous operation end a use of an aref's buffer (tma_load, tc5mma, none), and so how its barrier
is signalled. A TMA load signals by bytes, a matrix operation by a commit, none by an ordinary arrival.

isTransposed > #ttg.amd_mfma
Whether a matrix core layout computes the transposed product, so that a lane's consecutive elements lie along the rows
and stores get wide. It is the rule for dots whose result is stored or feeds another dot.

vec | perPhase | maxPhase > #ttg.swizzled_shared
The swizzle of shared memory: groups of vec elements stay together, every perPhase rows the pattern advances, after
maxPhase it repeats. A maxPhase of 8 with 16-byte groups covers all 32 banks.

swizzlingByteWidth | elementBitWidth | transposed | fp4Padded > #ttg.nvmma_shared
Parameters of the layout that TMA and Hopper or Blackwell matrix instructions share: bytes in a swizzled row, bits of
an element, and which dimension is contiguous.

register | lane | warp | block > #ttg.linear
Bases of a linear layout: for each bit of the register, lane, warp or block number, the coordinates it adds. The first
lane bases tell which elements neighbouring threads hold.

blockM | blockN | colStride | unpacked > #ttng.tensor_memory_encoding
The shape of a block in tensor memory, lanes by columns, and how many 32-bit columns apart elements are. A colStride
of 2 with fp16 wastes half of the columns.

tt.divisibility > tritongpu-coalesce tt.contiguity
On an argument: its value is a known multiple, almost always of 16, found out at launch. It lets loads be vectorised
and masks be uniform; an argument without it (a stride of 4097, say) may cost most of the bandwidth. It is part of the
cache key.

tt.contiguity | tt.constancy | contiguity > tt.divisibility tritongpu-coalesce
Hints on a value: how many neighbours are consecutive, or equal. From tl.max_contiguous and the like, or from
analysis, it lets accesses be vectorised where that cannot be proven.

tt.pointer_range > tritonamdgpu-convert-buffer-ops amdg.buffer_load
AMD: the tensor behind this pointer is under 2 GiB (range 32), so 32-bit offsets reach all of it and buffer
instructions can be used.

tt.num_stages > tritongpu-pipeline num_stages
On a loop: the pipeline depth asked for with tl.range(num_stages=...), overriding the kernel's option.

num_stages > tritongpu-pipeline tt.num_stages
The kernel option for pipeline depth: how many iterations' loads may be under way. Each adds one set of buffers to
shared memory, and so may cost occupancy.

tt.latency | tt.self_latency > tritongpu-assign-latencies
How many pipeline stages an operation's result, or the operation itself, takes. Loads that have it are issued so many
iterations ahead.

tt.loop_unroll_factor | tt.flatten | tt.warp_specialize | tt.disallow_acc_multi_buffer
> triton-loop-unroll tritongpu-fuse-nested-loops
Requests of tl.range on a loop: unroll, flatten a nest, specialise warps, or do not double-buffer the accumulator.

tt.scheduled_max_stage | tt.scheduled > tritongpu-schedule-loops loop.stage
On a loop that is scheduled for pipelining: the highest stage. 0 means that nothing is overlapped.

loop.stage > tritongpu-schedule-loops loop.cluster
The pipeline stage of an operation: those of stage 0 run first, those of stage n work n iterations later on what stage
0 started. The distance between a load and its use is the latency hidden.

loop.cluster > loop.stage
The position of an operation's group within the body of a pipelined loop; lower clusters are emitted earlier. Stages
say which iteration, clusters in which order.

ttg.partition | ttg.partition.outputs | ttg.partition.stages > tritongpu-partition-scheduling ttg.warp_specialize
Which warp-specialized partition(s) an operation belongs to. One with several numbers is copied to each.

ttg.warp_specialize.tag > ttg.partition
A number that tells warp-specialized loops of one kernel apart. It has no effect on the code.

async_task_id > doTaskPartition nvgpu-warp-specialization
sm_90 warp specialisation: which tasks an operation is for. 0 is normally the producer that loads, 1 and up the
consumers that multiply.

ttg.num-warps | num_warps > warpsPerCTA ttg.total-num-warps
Warps in a CTA, as the kernel's option says. More warps mean fewer elements and registers per thread but more to
synchronise.

ttg.num-ctas | num_ctas > triton-nvidia-gpu-assign-cga-layouts
CTAs in a cluster that share one tile (sm_90 and up); 1 means no clusters.

ttg.threads-per-warp > threadsPerWarp
Threads in a warp: 32 on NVIDIA and RDNA, 64 on CDNA.

ttg.target > ttgir
What is compiled for: cuda:90, hip:gfx942 and so on. Passes choose instructions by it.

ttg.total-num-warps > ttg.warp_specialize ttg.num-warps
All warps that are launched, those of extra partitions included, rounded up to whole groups of four. Registers per
thread are bounded by it: 65536 divided by 32 times the warps.

ttg.shared > allocate-shared-memory-nv
Bytes of shared memory the kernel needs. SM capacity divided by this bounds the CTAs per SM: 228 KiB on sm_90 and
sm_100, 164 on sm_80, 100 on sm_120, 64 of LDS on gfx942.

ttg.tensor_memory_size | tensor_memory_col_offset | tensor_memory_row_offset > triton-tensor-memory-allocation
Tensor memory columns the kernel takes, and where each allocation begins. Over 256 of the 512 columns only one CTA
fits on an SM.

ttg.global_scratch_memory_size | ttg.global_scratch_memory_alignment | ttg.global_scratch_memory_offset |
ttg.profile_scratch_memory_size | ttg.profile_scratch_memory_alignment
> tritongpu-global-scratch-memory-allocation
Size, alignment and offsets of the buffers in global memory that the launcher must provide for each program: for
descriptors, or for a profiler. 0 is normal.

ttg.maxnreg | maxnreg | requestedRegisters | actualRegisters | nvvm.maxnreg
> setmaxnreg tritongpu-optimize-partition-warps
Limits on registers per thread: of the kernel, or of each warp-specialized partition as asked for and as granted in
multiples of 8.

warpGroupStartIds | partitionNumWarps > tritongpu-allocate-warp-groups
The first warp of, and the number of warps in, each warp-specialized partition. Warps below the first of them belong
to the default partition.

ttng.two-ctas > triton-nvidia-check-matmul-two-cta
Whether two CTAs compute Blackwell matrix products together, each holding half of the operands. It needs num_ctas of
at least 2 and halves the traffic of one operand.

allocation.offset | allocation.size > allocate-shared-memory-nv ttg.shared
Where in shared memory a buffer, or the scratch space of an operation such as convert_layout, lies. Two with the same
offset share storage at different times.

inputPrecision > tt.dot tritongpu-F32DotTC
How a dot treats fp32 operands: tf32 (fast, 10 bits of mantissa), tf32x3 (three products), ieee (no tensor cores).

isAsync | is_async | pendings > ttng.warp_group_dot ttng.warp_group_dot_wait
Whether a matrix operation is left running, and how many may still be running after a wait. Synchronous products leave
the warp idle until they end.

bCluster > ttng.fence_async_shared
Whether a proxy fence covers the shared memory of the whole cluster or of this CTA alone. The wider one is only needed
with num_ctas above 1.

noinline > tt.call inline
Whether a function was asked to stay a function. true costs calls on the device.

nvvm.kernel | nvvm.reqntid | nvvm.minctasm > llvm.func
Marks the entry point of a kernel, its number of threads per CTA, and how many CTAs per SM to aim for. ptxas bounds
registers by them.

tt.nv_tma_desc | llvm.byval | llvm.align > tt.make_tensor_descriptor
On an argument: a tensormap passed by value in the constant bank, 64-byte aligned, which TMA reads in place.

amd.pipeliner_part | ttg.amdg.syncedViaAsyncWait | llvm.mmra > tritonamdgpu-pipeline s_waitcnt
Notes for AMD's later passes: which pipeline part an operation came from, and that an LDS access is ordered by an
explicit wait or barrier, so that no further wait need be inserted.

eviction_policy | evictionPolicy | cacheModifier | cache_modifier > LDG
Cache hints of a load or store: .ca, .cg, .cs and so on for caching, evict_first or evict_last for what to keep in L2.
Operands used again by other tiles want evict_last.
"""
