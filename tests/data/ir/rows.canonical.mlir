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
    %total_30 = llvm.insertelement %19, %11[%17 : i32] : vector<1xf32>
    %total_31 = llvm.bitcast %total_30 : vector<1xf32> to i32
    %total_32 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b" %total_31, %total_24, %total_22 : (i32, !llvm.ptr<1>, i1) -> i32
    %total_33 = llvm.bitcast %total_32 : i32 to vector<1xf32>
    %total_34 = llvm.extractelement %total_33[%15 : i32] : vector<1xf32>
    nvvm.barrier
    %total_35 = llvm.fadd %total_29, %total_34 : f32
    %total_36 = llvm.bitcast %total_35 : f32 to i32
    %total_37 = nvvm.shfl.sync bfly %8, %total_36, %10, %9 : i32 -> i32
    %total_38 = llvm.bitcast %total_37 : i32 to f32
    %total_39 = llvm.fadd %total_35, %total_38 : f32
    %total_40 = llvm.bitcast %total_39 : f32 to i32
    %total_41 = nvvm.shfl.sync bfly %8, %total_40, %7, %9 : i32 -> i32
    %total_42 = llvm.bitcast %total_41 : i32 to f32
    %total_43 = llvm.fadd %total_39, %total_42 : f32
    %total_44 = llvm.bitcast %total_43 : f32 to i32
    %total_45 = nvvm.shfl.sync bfly %8, %total_44, %6, %9 : i32 -> i32
    %total_46 = llvm.bitcast %total_45 : i32 to f32
    %total_47 = llvm.fadd %total_43, %total_46 : f32
    %total_48 = llvm.bitcast %total_47 : f32 to i32
    %total_49 = nvvm.shfl.sync bfly %8, %total_48, %5, %9 : i32 -> i32
    %total_50 = llvm.bitcast %total_49 : i32 to f32
    %total_51 = llvm.fadd %total_47, %total_50 : f32
    %total_52 = llvm.bitcast %total_51 : f32 to i32
    %total_53 = nvvm.shfl.sync bfly %8, %total_52, %4, %9 : i32 -> i32
    %total_54 = llvm.bitcast %total_53 : i32 to f32
    %total_55 = llvm.fadd %total_51, %total_54 : f32
    %total_56 = nvvm.read.ptx.sreg.tid.x : i32
    %total_57 = llvm.and %total_56, %14 : i32
    %total_58 = llvm.urem %total_57, %13 : i32
    %total_59 = ttg.warp_id {omitUniformHint}
    %total_60 = llvm.shl %total_58, %17 : i32
    %total_61 = llvm.or %17, %total_60 : i32
    %total_62 = llvm.shl %total_59, %12 : i32
    %total_63 = llvm.or %total_61, %total_62 : i32
    %total_64 = llvm.and %total_63, %2 : i32
    %total_65 = llvm.lshr %total_64, %1 : i32
    %total_66 = llvm.or disjoint %17, %total_65 : i32
    %total_67 = llvm.xor %17, %total_66 : i32
    %total_68 = llvm.mul %17, %6 : i32
    %total_69 = llvm.xor %total_67, %total_68 : i32
    %total_70 = llvm.xor %total_69, %17 : i32
    %total_71 = llvm.add %total_70, %17 : i32
    %total_72 = llvm.getelementptr inbounds %3[%total_71] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %total_73 = llvm.insertelement %total_55, %11[%17 : i32] : vector<1xf32>
    %total_74 = llvm.extractelement %total_73[%17 : i32] : vector<1xf32>
    %total_75 = llvm.bitcast %total_74 : f32 to i32
    %total_76 = llvm.insertelement %total_75, %0[%17 : i32] : vector<1xi32>
    llvm.store %total_76, %total_72 {alignment = 4 : i64} : vector<1xi32>, !llvm.ptr<3>
    nvvm.barrier
    %total_77 = llvm.shl %total_58, %17 : i32
    %total_78 = llvm.or %17, %total_77 : i32
    %total_79 = llvm.shl %total_59, %12 : i32
    %total_80 = llvm.or %total_78, %total_79 : i32
    %total_81 = llvm.and %total_80, %1 : i32
    %total_82 = llvm.shl %total_81, %5 : i32
    %total_83 = llvm.or disjoint %total_82, %17 : i32
    %total_84 = llvm.xor %17, %total_83 : i32
    %total_85 = llvm.mul %17, %6 : i32
    %total_86 = llvm.xor %total_84, %total_85 : i32
    %total_87 = llvm.xor %total_86, %17 : i32
    %total_88 = llvm.add %total_87, %17 : i32
    %total_89 = llvm.getelementptr inbounds %3[%total_88] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %total_90 = llvm.load %total_89 {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    %total_91 = llvm.insertelement %total_90, %0[%17 : i32] : vector<1xi32>
    %total_92 = llvm.extractelement %total_91[%17 : i32] : vector<1xi32>
    %total_93 = llvm.bitcast %total_92 : i32 to f32
    %total_94 = llvm.insertelement %total_93, %11[%17 : i32] : vector<1xf32>
    %total_95 = llvm.extractelement %total_94[%17 : i32] : vector<1xf32>
    %total_96 = llvm.bitcast %total_95 : f32 to i32
    %total_97 = nvvm.shfl.sync bfly %8, %total_96, %5, %9 : i32 -> i32
    %total_98 = llvm.bitcast %total_97 : i32 to f32
    %total_99 = llvm.fadd %total_95, %total_98 : f32
    %total_100 = llvm.bitcast %total_99 : f32 to i32
    %total_101 = nvvm.shfl.sync bfly %8, %total_100, %4, %9 : i32 -> i32
    %total_102 = llvm.bitcast %total_101 : i32 to f32
    %total_103 = llvm.fadd %total_99, %total_102 : f32
    %total_104 = llvm.fadd %total_17, %total_103 : f32
    %total_105 = llvm.add %start, %16 : i32
    llvm.br ^bb1(%total_105, %total_104 : i32, f32)
  ^bb3:  // pred: ^bb1
    %20 = llvm.fcmp "ogt" %total_17, %19 : f32
    %21 = llvm.getelementptr %y[%total] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.br ^bb4(%17 : i32)
  ^bb4(%start_106: i32):  // 2 preds: ^bb3, ^bb7
    %22 = llvm.icmp "slt" %start_106, %N : i32
    llvm.cond_br %22, ^bb5, ^bb8
  ^bb5:  // pred: ^bb4
    %at_107 = llvm.add %start_106, %at_14 : i32
    %at_108 = llvm.add %start_106, %at_15 : i32
    %v = llvm.icmp "slt" %at_107, %N : i32
    %v_109 = llvm.icmp "slt" %at_108, %N : i32
    %v_110 = llvm.getelementptr %total_16[%at_107] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v_111 = llvm.getelementptr %total_16[%at_108] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v_112 = llvm.insertelement %19, %11[%17 : i32] : vector<1xf32>
    %v_113 = llvm.bitcast %v_112 : vector<1xf32> to i32
    %v_114 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b" %v_113, %v_110, %v : (i32, !llvm.ptr<1>, i1) -> i32
    %v_115 = llvm.bitcast %v_114 : i32 to vector<1xf32>
    %v_116 = llvm.extractelement %v_115[%15 : i32] : vector<1xf32>
    %v_117 = llvm.insertelement %19, %11[%17 : i32] : vector<1xf32>
    %v_118 = llvm.bitcast %v_117 : vector<1xf32> to i32
    %v_119 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b" %v_118, %v_111, %v_109 : (i32, !llvm.ptr<1>, i1) -> i32
    %v_120 = llvm.bitcast %v_119 : i32 to vector<1xf32>
    %v_121 = llvm.extractelement %v_120[%15 : i32] : vector<1xf32>
    %v_122 = llvm.insertvalue %v_116, %18[0] : !llvm.struct<(f32, f32)> 
    %v_123 = llvm.insertvalue %v_121, %v_122[1] : !llvm.struct<(f32, f32)> 
    llvm.cond_br %20, ^bb6, ^bb7(%v_123 : !llvm.struct<(f32, f32)>)
  ^bb6:  // pred: ^bb5
    %v_124 = llvm.call_intrinsic "llvm.nvvm.div.full"(%v_116, %total_17) : (f32, f32) -> f32
    %v_125 = llvm.call_intrinsic "llvm.nvvm.div.full"(%v_121, %total_17) : (f32, f32) -> f32
    %v_126 = llvm.insertvalue %v_124, %18[0] : !llvm.struct<(f32, f32)> 
    %v_127 = llvm.insertvalue %v_125, %v_126[1] : !llvm.struct<(f32, f32)> 
    llvm.br ^bb7(%v_127 : !llvm.struct<(f32, f32)>)
  ^bb7(%23: !llvm.struct<(f32, f32)>):  // 2 preds: ^bb5, ^bb6
    %24 = llvm.getelementptr %21[%at_107] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %25 = llvm.getelementptr %21[%at_108] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %26 = llvm.extractvalue %23[0] : !llvm.struct<(f32, f32)> 
    %27 = llvm.extractvalue %23[1] : !llvm.struct<(f32, f32)> 
    %28 = llvm.insertelement %26, %11[%17 : i32] : vector<1xf32>
    %29 = llvm.bitcast %28 : vector<1xf32> to i32
    %30 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b" %29, %24, %v : (i32, !llvm.ptr<1>, i1) -> !llvm.void
    %31 = llvm.insertelement %27, %11[%17 : i32] : vector<1xf32>
    %32 = llvm.bitcast %31 : vector<1xf32> to i32
    %33 = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = [] "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b" %32, %25, %v_109 : (i32, !llvm.ptr<1>, i1) -> !llvm.void
    %34 = llvm.add %start_106, %16 : i32
    llvm.br ^bb4(%34 : i32)
  ^bb8:  // pred: ^bb4
    llvm.return
  }
}
