module attributes {ttg.global_scratch_memory_alignment = 1 : i32, ttg.global_scratch_memory_size = 0 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.profile_scratch_memory_alignment = 1 : i32, ttg.profile_scratch_memory_size = 0 : i32, ttg.shared = 16 : i32, ttg.target = "cuda:90", ttg.tensor_memory_size = 0 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.total-num-warps" = 4 : i32, "ttng.two-ctas" = false} {
  llvm.mlir.global external @global_smem() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @rows(%x: !llvm.ptr<1> {tt.pointee_type = f32}, %y: !llvm.ptr<1> {tt.pointee_type = f32}, %N: i32, %arg3: !llvm.ptr<1>, %arg4: !llvm.ptr<1>) attributes {noinline = false, nvvm.kernel = 1 : ui1, nvvm.reqntid = array<i32: 128>, ttg.global_scratch_memory_alignment = 1 : i32, ttg.global_scratch_memory_size = 0 : i32, ttg.profile_scratch_memory_alignment = 1 : i32, ttg.profile_scratch_memory_size = 0 : i32} {
    %0 = llvm.mlir.undef : vector<1xi32>
    %1 = llvm.mlir.constant(3 : i32) : i32
    %2 = llvm.mlir.constant(96 : i32) : i32
    %3 = llvm.mlir.addressof @global_smem : !llvm.ptr<3>
    %4 = llvm.mlir.constant(1 : i32) : i32
    %5 = llvm.mlir.constant(2 : i32) : i32
    %6 = llvm.mlir.constant(4 : i32) : i32
    %7 = llvm.mlir.constant(8 : i32) : i32
    %8 = llvm.mlir.constant(-1 : i32) : i32
    %9 = llvm.mlir.constant(31 : i32) : i32
    %10 = llvm.mlir.constant(16 : i32) : i32
    %11 = llvm.mlir.undef : vector<1xf32>
    %at = llvm.mlir.constant(128 : i32) : i32
    %12 = llvm.mlir.constant(5 : i32) : i32
    %13 = llvm.mlir.constant(32 : i32) : i32
    %14 = llvm.mlir.constant(127 : i32) : i32
    %15 = llvm.mlir.constant(0 : index) : i32
    %16 = llvm.mlir.constant(256 : i32) : i32
    %17 = llvm.mlir.constant(0 : i32) : i32
    %18 = llvm.mlir.undef : !llvm.struct<(f32, f32)>
    %19 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %row = nvvm.read.ptx.sreg.ctaid.x : i32
    %at_0 = nvvm.read.ptx.sreg.tid.x : i32
    %at_1 = llvm.and %at_0, %14 : i32
    %at_2 = llvm.urem %at_1, %13 : i32
    %at_3 = ttg.warp_id {omitUniformHint}
    %at_4 = llvm.shl %at_2, %17 : i32
    %at_5 = llvm.or %17, %at_4 : i32
    %at_6 = llvm.shl %at_3, %12 : i32
    %at_7 = llvm.or %at_5, %at_6 : i32
    %at_8 = llvm.and %at_7, %14 : i32
    %at_9 = llvm.lshr %at_8, %17 : i32
    %at_10 = llvm.or disjoint %at_9, %17 : i32
    %at_11 = llvm.xor %17, %at_10 : i32
    %at_12 = llvm.xor %at_11, %17 : i32
    %at_13 = llvm.xor %at_11, %at : i32
    %at_14 = llvm.add %at_12, %15 : i32
    %at_15 = llvm.add %at_13, %15 : i32
    %total = llvm.mul %row, %N : i32
    %total_16 = llvm.getelementptr %x[%total] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.br ^bb1(%17, %19 : i32, f32)
  ^bb1(%start: i32, %total_17: f32):  // 2 preds: ^bb0, ^bb2
    %total_18 = llvm.icmp "slt" %start, %N : i32
    llvm.cond_br %total_18, ^bb2, ^bb3
  ^bb2:  // pred: ^bb1
    %at_19 = llvm.add %start, %at_14 : i32
    %at_20 = llvm.add %start, %at_15 : i32
    %total_21 = llvm.icmp "slt" %at_19, %N : i32
    %total_22 = llvm.icmp "slt" %at_20, %N : i32
    %total_23 = llvm.getelementptr %total_16[%at_19] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %total_24 = llvm.getelementptr %total_16[%at_20] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %total_25 = llvm.insertelement %19, %11[%17 : i32] : vector<1xf32>
    %total_26 = llvm.bitcast %total_25 : vector<1xf32> to i32
    %total_27 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b" %total_26, %total_23, %total_21 : (i32, !llvm.ptr<1>, i1) -> i32
    %total_28 = llvm.bitcast %total_27 : i32 to vector<1xf32>
    %total_29 = llvm.extractelement %total_28[%15 : i32] : vector<1xf32>
    %total_30 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b" %total_26, %total_24, %total_22 : (i32, !llvm.ptr<1>, i1) -> i32
    %total_31 = llvm.bitcast %total_30 : i32 to vector<1xf32>
    %total_32 = llvm.extractelement %total_31[%15 : i32] : vector<1xf32>
    nvvm.barrier
    %total_33 = llvm.fadd %total_29, %total_32 : f32
    %total_34 = llvm.bitcast %total_33 : f32 to i32
    %total_35 = nvvm.shfl.sync bfly %8, %total_34, %10, %9 : i32 -> i32
    %total_36 = llvm.bitcast %total_35 : i32 to f32
    %total_37 = llvm.fadd %total_33, %total_36 : f32
    %total_38 = llvm.bitcast %total_37 : f32 to i32
    %total_39 = nvvm.shfl.sync bfly %8, %total_38, %7, %9 : i32 -> i32
    %total_40 = llvm.bitcast %total_39 : i32 to f32
    %total_41 = llvm.fadd %total_37, %total_40 : f32
    %total_42 = llvm.bitcast %total_41 : f32 to i32
    %total_43 = nvvm.shfl.sync bfly %8, %total_42, %6, %9 : i32 -> i32
    %total_44 = llvm.bitcast %total_43 : i32 to f32
    %total_45 = llvm.fadd %total_41, %total_44 : f32
    %total_46 = llvm.bitcast %total_45 : f32 to i32
    %total_47 = nvvm.shfl.sync bfly %8, %total_46, %5, %9 : i32 -> i32
    %total_48 = llvm.bitcast %total_47 : i32 to f32
    %total_49 = llvm.fadd %total_45, %total_48 : f32
    %total_50 = llvm.bitcast %total_49 : f32 to i32
    %total_51 = nvvm.shfl.sync bfly %8, %total_50, %4, %9 : i32 -> i32
    %total_52 = llvm.bitcast %total_51 : i32 to f32
    %total_53 = llvm.fadd %total_49, %total_52 : f32
    %total_54 = llvm.and %at_7, %2 : i32
    %total_55 = llvm.lshr %total_54, %1 : i32
    %total_56 = llvm.or disjoint %17, %total_55 : i32
    %total_57 = llvm.xor %17, %total_56 : i32
    %total_58 = llvm.mul %17, %6 : i32
    %total_59 = llvm.xor %total_57, %total_58 : i32
    %total_60 = llvm.xor %total_59, %17 : i32
    %total_61 = llvm.add %total_60, %17 : i32
    %total_62 = llvm.getelementptr inbounds %3[%total_61] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %total_63 = llvm.insertelement %total_53, %11[%17 : i32] : vector<1xf32>
    %total_64 = llvm.extractelement %total_63[%17 : i32] : vector<1xf32>
    %total_65 = llvm.bitcast %total_64 : f32 to i32
    %total_66 = llvm.insertelement %total_65, %0[%17 : i32] : vector<1xi32>
    llvm.store %total_66, %total_62 {alignment = 4 : i64} : vector<1xi32>, !llvm.ptr<3>
    nvvm.barrier
    %total_67 = llvm.and %at_7, %1 : i32
    %total_68 = llvm.shl %total_67, %5 : i32
    %total_69 = llvm.or disjoint %total_68, %17 : i32
    %total_70 = llvm.xor %17, %total_69 : i32
    %total_71 = llvm.xor %total_70, %total_58 : i32
    %total_72 = llvm.xor %total_71, %17 : i32
    %total_73 = llvm.add %total_72, %17 : i32
    %total_74 = llvm.getelementptr inbounds %3[%total_73] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %total_75 = llvm.load %total_74 {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %total_76 = llvm.insertelement %total_75, %0[%17 : i32] : vector<1xi32>
    %total_77 = llvm.extractelement %total_76[%17 : i32] : vector<1xi32>
    %total_78 = llvm.bitcast %total_77 : i32 to f32
    %total_79 = llvm.insertelement %total_78, %11[%17 : i32] : vector<1xf32>
    %total_80 = llvm.extractelement %total_79[%17 : i32] : vector<1xf32>
    %total_81 = llvm.bitcast %total_80 : f32 to i32
    %total_82 = nvvm.shfl.sync bfly %8, %total_81, %5, %9 : i32 -> i32
    %total_83 = llvm.bitcast %total_82 : i32 to f32
    %total_84 = llvm.fadd %total_80, %total_83 : f32
    %total_85 = llvm.bitcast %total_84 : f32 to i32
    %total_86 = nvvm.shfl.sync bfly %8, %total_85, %4, %9 : i32 -> i32
    %total_87 = llvm.bitcast %total_86 : i32 to f32
    %total_88 = llvm.fadd %total_84, %total_87 : f32
    %total_89 = llvm.fadd %total_17, %total_88 : f32
    %total_90 = llvm.add %start, %16 : i32
    llvm.br ^bb1(%total_90, %total_89 : i32, f32)
  ^bb3:  // pred: ^bb1
    %20 = llvm.fcmp "ogt" %total_17, %19 : f32
    %21 = llvm.getelementptr %y[%total] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.br ^bb4(%17 : i32)
  ^bb4(%start_91: i32):  // 2 preds: ^bb3, ^bb7
    %22 = llvm.icmp "slt" %start_91, %N : i32
    llvm.cond_br %22, ^bb5, ^bb8
  ^bb5:  // pred: ^bb4
    %at_92 = llvm.add %start_91, %at_14 : i32
    %at_93 = llvm.add %start_91, %at_15 : i32
    %v = llvm.icmp "slt" %at_92, %N : i32
    %v_94 = llvm.icmp "slt" %at_93, %N : i32
    %v_95 = llvm.getelementptr %total_16[%at_92] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v_96 = llvm.getelementptr %total_16[%at_93] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v_97 = llvm.insertelement %19, %11[%17 : i32] : vector<1xf32>
    %v_98 = llvm.bitcast %v_97 : vector<1xf32> to i32
    %v_99 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b" %v_98, %v_95, %v : (i32, !llvm.ptr<1>, i1) -> i32
    %v_100 = llvm.bitcast %v_99 : i32 to vector<1xf32>
    %v_101 = llvm.extractelement %v_100[%15 : i32] : vector<1xf32>
    %v_102 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b" %v_98, %v_96, %v_94 : (i32, !llvm.ptr<1>, i1) -> i32
    %v_103 = llvm.bitcast %v_102 : i32 to vector<1xf32>
    %v_104 = llvm.extractelement %v_103[%15 : i32] : vector<1xf32>
    %v_105 = llvm.insertvalue %v_101, %18[0] : !llvm.struct<(f32, f32)> 
    %v_106 = llvm.insertvalue %v_104, %v_105[1] : !llvm.struct<(f32, f32)> 
    llvm.cond_br %20, ^bb6, ^bb7(%v_106 : !llvm.struct<(f32, f32)>)
  ^bb6:  // pred: ^bb5
    %v_107 = llvm.call_intrinsic "llvm.nvvm.div.full"(%v_101, %total_17) : (f32, f32) -> f32
    %v_108 = llvm.call_intrinsic "llvm.nvvm.div.full"(%v_104, %total_17) : (f32, f32) -> f32
    %v_109 = llvm.insertvalue %v_107, %18[0] : !llvm.struct<(f32, f32)> 
    %v_110 = llvm.insertvalue %v_108, %v_109[1] : !llvm.struct<(f32, f32)> 
    llvm.br ^bb7(%v_110 : !llvm.struct<(f32, f32)>)
  ^bb7(%23: !llvm.struct<(f32, f32)>):  // 2 preds: ^bb5, ^bb6
    %24 = llvm.getelementptr %21[%at_92] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %25 = llvm.getelementptr %21[%at_93] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %26 = llvm.extractvalue %23[0] : !llvm.struct<(f32, f32)> 
    %27 = llvm.extractvalue %23[1] : !llvm.struct<(f32, f32)> 
    %28 = llvm.insertelement %26, %11[%17 : i32] : vector<1xf32>
    %29 = llvm.bitcast %28 : vector<1xf32> to i32
    %30 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b" %29, %24, %v : (i32, !llvm.ptr<1>, i1) -> !llvm.void
    %31 = llvm.insertelement %27, %11[%17 : i32] : vector<1xf32>
    %32 = llvm.bitcast %31 : vector<1xf32> to i32
    %33 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b" %32, %25, %v_94 : (i32, !llvm.ptr<1>, i1) -> !llvm.void
    %34 = llvm.add %start_91, %16 : i32
    llvm.br ^bb4(%34 : i32)
  ^bb8:  // pred: ^bb4
    llvm.return
  }
}
