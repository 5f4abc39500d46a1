; ModuleID = 'LLVMDialectModule'
source_filename = "LLVMDialectModule"

@global_smem = external addrspace(3) global [0 x i8], align 16

define ptx_kernel void @rows(ptr addrspace(1) %0, ptr addrspace(1) %1, i32 %2, ptr addrspace(1) %3, ptr addrspace(1) %4) #0 {
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = and i32 %7, 127
  %9 = urem i32 %8, 32
  %10 = udiv i32 %7, 32
  %11 = shl i32 %9, 0
  %12 = or i32 0, %11
  %13 = shl i32 %10, 5
  %14 = or i32 %12, %13
  %15 = and i32 %14, 127
  %16 = lshr i32 %15, 0
  %17 = or disjoint i32 %16, 0
  %18 = xor i32 0, %17
  %19 = xor i32 %18, 0
  %20 = xor i32 %18, 128
  %21 = add i32 %19, 0
  %22 = add i32 %20, 0
  %23 = mul i32 %6, %2
  %24 = getelementptr float, ptr addrspace(1) %0, i32 %23
  br label %25

25:                                               ; preds = %29, %5
  %26 = phi i32 [ %98, %29 ], [ 0, %5 ]
  %27 = phi float [ %97, %29 ], [ 0.000000e+00, %5 ]
  %28 = icmp slt i32 %26, %2
  br i1 %28, label %29, label %99

29:                                               ; preds = %25
  %30 = add i32 %26, %21
  %31 = add i32 %26, %22
  %32 = icmp slt i32 %30, %2
  %33 = icmp slt i32 %31, %2
  %34 = getelementptr float, ptr addrspace(1) %24, i32 %30
  %35 = getelementptr float, ptr addrspace(1) %24, i32 %31
  %36 = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %34, i1 %32)
  %37 = bitcast i32 %36 to <1 x float>
  %38 = extractelement <1 x float> %37, i32 0
  %39 = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %35, i1 %33)
  %40 = bitcast i32 %39 to <1 x float>
  %41 = extractelement <1 x float> %40, i32 0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %42 = fadd float %38, %41
  %43 = bitcast float %42 to i32
  %44 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %43, i32 16, i32 31)
  %45 = bitcast i32 %44 to float
  %46 = fadd float %42, %45
  %47 = bitcast float %46 to i32
  %48 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %47, i32 8, i32 31)
  %49 = bitcast i32 %48 to float
  %50 = fadd float %46, %49
  %51 = bitcast float %50 to i32
  %52 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %51, i32 4, i32 31)
  %53 = bitcast i32 %52 to float
  %54 = fadd float %50, %53
  %55 = bitcast float %54 to i32
  %56 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %55, i32 2, i32 31)
  %57 = bitcast i32 %56 to float
  %58 = fadd float %54, %57
  %59 = bitcast float %58 to i32
  %60 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %59, i32 1, i32 31)
  %61 = bitcast i32 %60 to float
  %62 = fadd float %58, %61
  %63 = and i32 %14, 96
  %64 = lshr i32 %63, 3
  %65 = or disjoint i32 0, %64
  %66 = xor i32 0, %65
  %67 = xor i32 %66, 0
  %68 = xor i32 %67, 0
  %69 = add i32 %68, 0
  %70 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %69
  %71 = insertelement <1 x float> undef, float %62, i32 0
  %72 = extractelement <1 x float> %71, i32 0
  %73 = bitcast float %72 to i32
  %74 = insertelement <1 x i32> undef, i32 %73, i32 0
  store <1 x i32> %74, ptr addrspace(3) %70, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %75 = and i32 %14, 3
  %76 = shl i32 %75, 2
  %77 = or disjoint i32 %76, 0
  %78 = xor i32 0, %77
  %79 = xor i32 %78, 0
  %80 = xor i32 %79, 0
  %81 = add i32 %80, 0
  %82 = getelementptr inbounds i8, ptr addrspace(3) @global_smem, i32 %81
  %83 = load i32, ptr addrspace(3) %82, align 4
  %84 = insertelement <1 x i32> undef, i32 %83, i32 0
  %85 = extractelement <1 x i32> %84, i32 0
  %86 = bitcast i32 %85 to float
  %87 = insertelement <1 x float> undef, float %86, i32 0
  %88 = extractelement <1 x float> %87, i32 0
  %89 = bitcast float %88 to i32
  %90 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %89, i32 2, i32 31)
  %91 = bitcast i32 %90 to float
  %92 = fadd float %88, %91
  %93 = bitcast float %92 to i32
  %94 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %93, i32 1, i32 31)
  %95 = bitcast i32 %94 to float
  %96 = fadd float %92, %95
  %97 = fadd float %27, %96
  %98 = add i32 %26, 256
  br label %25

99:                                               ; preds = %25
  %100 = fcmp ogt float %27, 0.000000e+00
  %101 = getelementptr float, ptr addrspace(1) %1, i32 %23
  br label %102

102:                                              ; preds = %125, %99
  %103 = phi i32 [ %135, %125 ], [ 0, %99 ]
  %104 = icmp slt i32 %103, %2
  br i1 %104, label %105, label %136

105:                                              ; preds = %102
  %106 = add i32 %103, %21
  %107 = add i32 %103, %22
  %108 = icmp slt i32 %106, %2
  %109 = icmp slt i32 %107, %2
  %110 = getelementptr float, ptr addrspace(1) %24, i32 %106
  %111 = getelementptr float, ptr addrspace(1) %24, i32 %107
  %112 = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %110, i1 %108)
  %113 = bitcast i32 %112 to <1 x float>
  %114 = extractelement <1 x float> %113, i32 0
  %115 = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 0, ptr addrspace(1) %111, i1 %109)
  %116 = bitcast i32 %115 to <1 x float>
  %117 = extractelement <1 x float> %116, i32 0
  %118 = insertvalue { float, float } undef, float %114, 0
  %119 = insertvalue { float, float } %118, float %117, 1
  br i1 %100, label %120, label %125

120:                                              ; preds = %105
  %121 = call float @llvm.nvvm.div.full(float %114, float %27)
  %122 = call float @llvm.nvvm.div.full(float %117, float %27)
  %123 = insertvalue { float, float } undef, float %121, 0
  %124 = insertvalue { float, float } %123, float %122, 1
  br label %125

125:                                              ; preds = %120, %105
  %126 = phi { float, float } [ %124, %120 ], [ %119, %105 ]
  %127 = getelementptr float, ptr addrspace(1) %101, i32 %106
  %128 = getelementptr float, ptr addrspace(1) %101, i32 %107
  %129 = extractvalue { float, float } %126, 0
  %130 = extractvalue { float, float } %126, 1
  %131 = insertelement <1 x float> undef, float %129, i32 0
  %132 = bitcast <1 x float> %131 to i32
  call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %132, ptr addrspace(1) %127, i1 %108)
  %133 = insertelement <1 x float> undef, float %130, i32 0
  %134 = bitcast <1 x float> %133 to i32
  call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %134, ptr addrspace(1) %128, i1 %109)
  %135 = add i32 %103, 256
  br label %102

136:                                              ; preds = %102
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #4

attributes #0 = { "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind willreturn memory(none) }
attributes #3 = { convergent nocallback nounwind }
attributes #4 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }

!llvm.module.flags = !{!2}

!2 = !{i32 2, !"Debug Info Version", i32 3}
