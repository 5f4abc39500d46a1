"""What AMD machine instructions do; the format is that of `tables.read`."""

__all__ = ["AMDGCN", "MODIFIERS"]

AMDGCN = """
v_mfma | v_smfmac > #ttg.amd_mfma v_accvgpr
Matrix core product of a wave (CDNA): v_mfma_f32_32x32x8_f16 makes a 32x32 fp32 tile with K = 8. Takes 4 to 16 passes
of four cycles, during which independent instructions can issue; a dependent one right behind it stalls. a[...]
registers are AGPRs.

v_wmma | v_swmmac > #ttg.amd_wmma v_mfma
Matrix product of a wave of 32 lanes on RDNA and gfx12: 16x16 tiles with K = 16, or 32 and more on gfx1250.

v_accvgpr > v_mfma
Moves between ordinary vector registers and accumulation registers. On gfx90a and gfx942 both share one file of 512;
many of these in the loop mean that registers are short.

buffer_load > amdg.buffer_load s_waitcnt global_load
Loads through a descriptor in four SGPRs with a 32-bit offset per lane; beyond the size it reads zero, so masks cost
nothing. dwordx4 (b128) is 16 bytes per lane and best; ushort is 2. With lds it writes LDS directly.

buffer_store | buffer_atomic > amdg.buffer_store buffer_load
Stores, or atomically updates, through a descriptor; lanes out of range are dropped. dwordx4 is 16 bytes per lane.

buffer_gl0_inv | buffer_wbl2 | buffer_inv | buffer_wbinvl1 > s_waitcnt
Cache invalidation or write-back for memory ordering, around atomics and fences. In a kernel without atomics they
should be rare.

global_load > tt.load buffer_load s_waitcnt
Loads from global memory by 64-bit addresses in VGPRs. Lanes that are masked off must be switched off by EXEC, with
branches around. dwordx4 is 16 bytes per lane; global_load_ushort or d16 loads are 2 bytes and slow. If you expected
buffer_load, offsets could not be proven small.

global_store | flat_store | flat_load > tt.store buffer_store
Stores to global memory by 64-bit addresses, short being 2 bytes per lane; the flat forms find out the address space
at run time.

global_atomic | flat_atomic > buffer_store
Atomic operation on global memory; without a returned value it need not be waited for.

global_prefetch > global_load
Brings a line into cache without a register. Nothing has to wait for it.

scratch_load | scratch_store > greedy v_writelane
Access to thread-private memory: spilled registers (or arrays indexed at run time). In the main loop a performance
bug; smaller tiles or more waves help.

ds_read | ds_load > ttg.local_load s_waitcnt ds_write
Reads LDS: b128 is 16 bytes per lane, read2 two addresses at once, tr forms transpose on the way. ds_read_u16 by the
hundred means that the operand lies the wrong way round for the matrix core.

ds_write | ds_store > ttg.local_store ds_read
Writes LDS; b128 is 16 bytes per lane, b16 the worst case. s_barrier must come before other waves read.

ds_bpermute | ds_permute | ds_swizzle > rocdl.readfirstlane v_permlane
Exchanges data between lanes through the LDS unit, without using LDS memory. Slower than DPP.

ds_add | ds_max | ds_min | ds_cmpst > ds_write
Atomic operation in LDS, for histograms and the like. Lanes that hit the same address are served one after another.

tensor_load_to_lds | tensor_store_from_lds > amdg.async_tdm_copy_global_to_local s_wait
Tensor data mover (gfx1250): copies a box between global memory and LDS, described in SGPRs, asynchronously.

s_waitcnt | s_waitcnt_vscnt | s_waitcnt_depctr > si-insert-waitcnts buffer_load
Waits until counters of outstanding operations fall to a value: vmcnt global loads, lgkmcnt LDS and scalar loads.
vmcnt(0) before the matrix products of a loop means no prefetch is left in flight; higher numbers are the sign of a
working pipeline.

s_wait | s_wait_loadcnt | s_wait_dscnt | s_wait_kmcnt | s_wait_tensorcnt | s_wait_alu | s_wait_xcnt |
s_wait_storecnt | s_wait_asynccnt
> s_waitcnt
The separate waits of gfx12: loadcnt for global loads, dscnt for LDS, kmcnt for scalar loads, tensorcnt for the tensor
data mover.

s_barrier | s_barrier_signal | s_barrier_wait > ttg.barrier s_waitcnt
All waves of the workgroup meet. Data in LDS must have been waited for first; gfx12 splits it into signal and wait,
with work possible between them.

s_setprio | s_sleep | s_sethalt | s_trap | s_sendmsg | s_icache_inv > tritonamdgpu-block-pingpong
A wave's priority against others on its SIMD, sleeping, messages to the hardware. Raised priority around matrix
products is the mark of ping-pong scheduling.

s_nop | v_nop | s_delay_alu | s_clause | s_set_vgpr_msb | s_setreg | s_setreg_imm32 | s_code_end > v_mfma
Nothing is computed: required waits between dependent instructions, hints on dependences, grouping of memory
instructions, mode bits and padding.

s_load | s_buffer_load > s_waitcnt
Scalar load through the constant cache, mostly kernel arguments: dwordx8 is 32 bytes. Waited for with lgkmcnt or
kmcnt.

s_and_saveexec | s_or_saveexec | s_andn2_saveexec | s_and_not1_saveexec > s_cbranch
Masks lanes off: keeps EXEC in an SGPR pair and ands the condition in. It opens a branch in which only some lanes
work, around masked global_load for instance; s_or of EXEC closes it.

s_cbranch | s_branch | s_endpgm | s_swappc | s_setpc | s_getpc > s_and_saveexec
Jumps on the scalar condition, on VCC or on EXEC: s_cbranch_execz skips code for which no lane is left. The backward
one closes the loop; s_endpgm ends the wave.

s_* | s_ > v_*
A scalar instruction, done once per wave on SGPRs: loop counters, addresses, masks. Hardly costs anything while vector
units are busy.

v_readlane | v_writelane > scratch_load
Moves between an SGPR and one lane of a VGPR. Hundreds of them are scalar registers spilled to vector lanes, as with
many kernel arguments or masks.

v_readfirstlane > rocdl.readfirstlane
Moves lane 0's value to an SGPR, for what is equal in all lanes, as the wave number. It makes scalar loads and
branches possible.

v_permlane | v_permlane32_swap | v_permlane16_swap | v_permlanex16 | v_mov_b32_dpp > tt.reduce ds_bpermute
Exchanges values between lanes in registers, without LDS: reductions and layout conversions. DPP is a modifier by
which an operand comes from a neighbouring lane.

v_perm | v_pack | v_bfi | v_alignbit | v_alignbyte > amdg.in_thread_transpose
Picks bytes or halves from two registers: packing of 16-bit values, transposes within a thread.

v_exp_f32 | v_log_f32 | v_rcp | v_rsq | v_sqrt | v_sin | v_cos | v_s_rcp | v_rcp_iflag > math v_div_scale
Transcendental functions at a quarter of the arithmetic rate; v_exp is 2 to the power of x, the exponential of
softmax.

v_div_scale | v_div_fmas | v_div_fixup > v_exp_f32
Parts of an exact fp32 division, some ten instructions long together. Multiplying by a reciprocal avoids them.

v_fma | v_fmac | v_fma_mixlo | v_fma_mixhi | v_mad | v_mad_u64_u32 | v_mad_i64_i32 > v_mfma
Multiply and add: fused floating point (mix forms combine fp16 and fp32), or integer with a 64-bit result for
addresses. fp32 FMA in bulk in a matrix kernel means matrix cores are idle.

v_pk > v_fma
Packed arithmetic: two fp16, or on CDNA two fp32, per lane and instruction, which doubles the rate.

v_add | v_sub | v_subrev | v_mul | v_ldexp | v_add3 | v_xad | v_mul_lo | v_mul_hi | v_addc | v_subb | v_subbrev
> v_fma
Addition, subtraction, multiplication: f32 of data, u32 and i32 of addresses. v_mul_lo_u32 and v_mul_hi run at a
quarter of the rate. co forms produce or take a carry for 64 bits.

v_lshl | v_lshlrev | v_lshrrev | v_ashrrev | v_bfe | v_bfrev | v_and | v_or | v_xor | v_not | v_or3 | v_and_or |
v_lshl_or | v_lshl_add | v_add_lshl | v_bitop3 | v_and_b32
> v_add
Shifts and bitwise logic, alone or combined with an addition: layout arithmetic, swizzles, addresses.

v_max | v_min | v_max3 | v_min3 | v_med3 | v_maximum3 | v_minimum3 > tt.reduce
Minimum, maximum or median, of up to three operands at once. The three-operand forms halve the length of a row
maximum.

v_cvt > arith.truncf
Conversion between number formats; pk forms convert two values to one register, as the accumulator to fp16.

v_cmp | v_cmpx > v_cndmask
Compares and writes a bit per lane to VCC or an SGPR pair. Bounds checks.

v_cndmask > v_cmp
Chooses one of two values per lane by a mask: a select. Before a buffer_load it sets the offset of masked lanes out of
range.

v_mov > v_accvgpr
Copies or sets a vector register; b64 two at once. Many in a loop are a failure to allocate in place.

v_dual > v_*
Two vector operations issued as one instruction (RDNA 3 and gfx12), joined by a double colon. Both halves must use
suitable register banks, so not all pairs can.

v_* | v_ > s_*
A vector instruction, done for every active lane on VGPRs. _e32 and _e64 are the short and long encodings of the same
operation.
"""

#: What a part of a name, between underscores, means.
MODIFIERS = {
    "dwordx4": "16 bytes per lane",
    "dwordx2": "8 bytes per lane",
    "dword": "4 bytes per lane",
    "b128": "16 bytes per lane",
    "b64": "8 bytes per lane",
    "b16": "2 bytes per lane",
    "u16": "2 bytes per lane, zero-extended",
    "ushort": "2 bytes per lane",
    "short": "2 bytes per lane",
    "d16": "to one half of a register",
    "tr": "transposed",
    "e32": "short encoding",
    "e64": "long encoding",
    "dpp": "an operand from another lane",
    "sdwa": "on part of a register",
    "execz": "if no lane is active",
    "execnz": "if a lane is active",
    "scc0": "if the scalar condition is 0",
    "scc1": "if the scalar condition is 1",
    "vccz": "if VCC is zero",
    "vccnz": "if VCC is not zero",
    "gt": "greater",
    "lt": "less",
}
