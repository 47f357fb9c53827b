// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #weft.mesh<"data"=2>
plan.program @program_c1 mesh #mesh arena 8 {
  // expected-error @below {{ends at byte 16 of an arena of 8}}
  %0 = plan.buffer offset 0 : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @program_c2 mesh #mesh arena 0 {
  // expected-error @below {{jumps to unknown label "end"}}
  plan.jump "end"
}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @program_c2_twice mesh #mesh arena 0 {
  plan.label "a"
  // expected-error @below {{defines label "a" twice}}
  plan.label "a"
}

// -----

#mesh = #weft.mesh<"data"=2>
#one = #weft.layout<#mesh, [{}]>
plan.program @output_c1 mesh #mesh arena 16 {
  %0 = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{is an alias of a buffer that is no input}}
  %1 = plan.output "y" role "output" of tensor<4xf32> in #one taking %0 : memref<4xf32> : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#one = #weft.layout<#mesh, [{}]>
plan.program @output_c1_type mesh #mesh arena 16 {
  %0 = plan.input "x" role "input" of tensor<8xf32> in #one : memref<8xf32>
  // expected-error @below {{is an alias of 'memref<8xf32>' but has type 'memref<4xf32>'}}
  %1 = plan.output "y" role "output" of tensor<4xf32> in #one taking %0 : memref<8xf32> : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{}, {}]>
plan.program @program_c3 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{, which is no layout of rank 1 on the program's mesh}}
  %0 = plan.start "all_reduce" #plan.combination<sum> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>
plan.program @program_c3_mesh mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{, which is no layout of rank 1 on the program's mesh}}
  %0 = plan.start "all_reduce" #plan.combination<sum> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @launch_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{gives 0 bytes of scratch memory, but its kernel wants 64}}
  plan.launch @k(%a) : memref<4xf32>
}
plan.device_module @code chip "sm_90" format ptx data "text"
plan.device_kernel @k in @code symbol "k" block [32, 1, 1] blocks 1 shared 0 scratch 64

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @launch_c1_small mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  // expected-error @below {{gives 16 bytes of scratch memory, but its kernel wants 64}}
  plan.launch @k(%a) scratch %c : memref<4xf32> : memref<4xf32>
}
plan.device_module @code chip "sm_90" format ptx data "text"
plan.device_kernel @k in @code symbol "k" block [32, 1, 1] blocks 1 shared 0 scratch 64

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @launch_c1_none mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  // expected-error @below {{gives 16 bytes of scratch memory, but its kernel wants 0}}
  plan.launch @host(%a) scratch %c : memref<4xf32> : memref<4xf32>
}
func.func private @host(%x: tensor<4xf32>) attributes {weft.kernel = #weft.kernel<general>} {
  return
}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @device_module_c1 mesh #mesh arena 0 {
}
// expected-error @below {{for the chip "sm_90" has 0 bytes of code; name a chip and give its code}}
plan.device_module @code chip "sm_90" format ptx data ""

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @device_kernel_c1 mesh #mesh arena 0 {
}
plan.device_module @code chip "sm_90" format ptx data "text"
// expected-error @below {{has 1 blocks of [1024, 2, 1] threads; a block has three sizes from 1 on and 1024 threads at most}}
plan.device_kernel @k in @code symbol "k" block [1024, 2, 1] blocks 1 shared 0 scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @device_kernel_c1_blocks mesh #mesh arena 0 {
}
plan.device_module @code chip "sm_90" format ptx data "text"
// expected-error @below {{has 0 blocks of [32, 1, 1] threads}}
plan.device_kernel @k in @code symbol "k" block [32, 1, 1] blocks 0 shared 0 scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @device_kernel_c2 mesh #mesh arena 0 {
}
// expected-error @below {{is in @code, which is no plan.device_module}}
plan.device_kernel @k in @code symbol "k" block [32, 1, 1] blocks 1 shared 0 scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @device_kernel_c3 mesh #mesh arena 0 {
}
plan.device_module @code chip "sm_90" format ptx data "text"
// expected-error @below {{has -1 bytes of shared and 0 of scratch memory; neither is negative, and a block shares 1048576 bytes at most}}
plan.device_kernel @k in @code symbol "k" block [32, 1, 1] blocks 1 shared -1 scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @library_contraction_c1 mesh #mesh arena 0 {
}
plan.device_module @code chip "sm_90" format ptx data "text"
plan.device_kernel @k in @code symbol "k" block [32, 1, 1] blocks 1 shared 0 scratch 0
// expected-error @below {{has the dimensions batch [], rows [4, 4, 1, 4], columns [4, 0, 1, 1], contract [4, 1, 4, 0]; each is a size and its strides in lhs, rhs and result, 0 where there is none}}
plan.library_contraction @dot batch [] rows [4, 4, 1, 4] columns [4, 0, 1, 1] contract [4, 1, 4, 0] sums f32 epilogue none fallback @k scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @library_contraction_c1_first mesh #mesh arena 0 {
}
plan.device_module @code chip "sm_90" format ptx data "text"
plan.device_kernel @k in @code symbol "k" block [32, 1, 1] blocks 1 shared 0 scratch 0
// expected-error @below {{contract [4, 1, 4, 0] from the elements [0] on; each is a size and its strides in lhs, rhs and result, 0 where there is none, and operands begin at two elements, that of lhs and that of rhs}}
plan.library_contraction @dot batch [] rows [4, 4, 0, 4] columns [4, 0, 1, 1] contract [4, 1, 4, 0] first [0] sums f32 epilogue none fallback @k scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @contraction_c1 mesh #mesh arena 0 {
}
// expected-error @below {{the contraction has the dimensions batch [4], rows [4, 4, 0, 4], columns [4, 0, 1, 1], contract [4, 1, 4, 0]; each is a size and its strides in lhs, rhs and result, 0 where there is none}}
func.func private @dot(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {weft.kernel = #weft.kernel<dot>, plan.library = #plan.contraction<batch[4], rows[4, 4, 0, 4], columns[4, 0, 1, 1], contract[4, 1, 4, 0], sums f32, epilogue none, compute full>}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @contraction_c2 mesh #mesh arena 0 {
}
// expected-error @below {{kernel "dot" of '(tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>' is no #plan.contraction<batch[], rows[4, 4, 0, 4], columns[4, 0, 1, 1], contract[4, 1, 4, 0], sums f32, epilogue none, compute full>; its arguments are lhs, rhs, with one result}}
func.func private @dot(%x: tensor<4x4xf32>, %w: tensor<4x3xf32>) -> tensor<4x4xf32> attributes {weft.kernel = #weft.kernel<dot>, plan.library = #plan.contraction<batch[], rows[4, 4, 0, 4], columns[4, 0, 1, 1], contract[4, 1, 4, 0], sums f32, epilogue none, compute full>}

// -----

// rhs ends behind its argument, for it begins at element 4 of it.
#mesh = #weft.mesh<"data"=2>
plan.program @contraction_c2_first mesh #mesh arena 0 {
}
// expected-error @below {{is no #plan.contraction<batch[], rows[4, 4, 0, 4], columns[4, 0, 1, 1], contract[4, 1, 4, 0] first[0, 4], sums f32, epilogue none, compute full>; its arguments are lhs, rhs, with one result}}
func.func private @dot(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {weft.kernel = #weft.kernel<dot>, plan.library = #plan.contraction<batch[], rows[4, 4, 0, 4], columns[4, 0, 1, 1], contract[4, 1, 4, 0] first[0, 4], sums f32, epilogue none, compute full>}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @contraction_c2_bias mesh #mesh arena 0 {
}
// expected-error @below {{its arguments are lhs, rhs, the bias, with one result}}
func.func private @dot(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {weft.kernel = #weft.kernel<dot>, plan.library = #plan.contraction<batch[], rows[4, 4, 0, 4], columns[4, 0, 1, 1], contract[4, 1, 4, 0], sums f32, epilogue bias, compute full>}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @contraction_c2_place mesh #mesh arena 0 {
}
// expected-error @below {{attribute '"plan.library"' is unit; write 'plan.library = #plan.contraction<...>' on a kernel function, 'plan.operations = 1.0' or 'plan.results = 1 : i64' on a kernel, 'plan.shared = #weft.layout<...>' of rank 1 on what devices share}}
func.func private @dot(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {plan.library}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @library_contraction_c2 mesh #mesh arena 0 {
}
// expected-error @below {{has the fallback @k, which is no plan.device_kernel or plan.kernel_sequence}}
plan.library_contraction @dot batch [] rows [4, 4, 0, 4] columns [4, 0, 1, 1] contract [4, 1, 4, 0] sums f32 epilogue none fallback @k scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @kernel_sequence_c1 mesh #mesh arena 0 {
}
plan.device_module @code chip "sm_90" format ptx data "text"
plan.device_kernel @parts in @code symbol "k" block [32, 1, 1] blocks 1 shared 0 scratch 64
plan.device_kernel @sum in @code symbol "k_sum" block [32, 1, 1] blocks 1 shared 0 scratch 0
// expected-error @below {{runs [@parts, @sum]; name two plan.device_kernel or more, each with 64 bytes of scratch memory}}
plan.kernel_sequence @dot kernels [@parts, @sum] scratch 64

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @builtin_c1 mesh #mesh arena 0 {
}
// expected-error @below {{has no name; say which kernel of the runtime it is}}
plan.builtin @k name "" parameters [] scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @launch_c2 mesh #mesh arena 16 {
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{launches @code, a plan.device_module; name a function or a kernel}}
  plan.launch @code(%a) : memref<4xf32>
}
plan.device_module @code chip "sm_90" format ptx data "text"

// -----

plan.routine @routine_c1 {
  // expected-error @below {{jumps to unknown label "end"}}
  plan.jump "end"
}

// -----

plan.routine @routine_c1_twice {
  plan.label "a"
  // expected-error @below {{defines label "a" twice}}
  plan.label "a"
}

// -----

plan.routine @routine_c2 {
^bb0(%x: memref<4xf32>):
  // expected-error @below {{in a routine launches @sort, which is no function of the module}}
  plan.launch @sort(%x) : memref<4xf32>
}
plan.builtin @sort name "sort" parameters [4, 1] scratch 0

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @launch_c3 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{gives the routine @loop buffers of types ('memref<4xf32>'), it takes ('memref<8xf32>')}}
  plan.launch @loop(%a) : memref<4xf32>
}
plan.routine @loop {
^bb0(%x: memref<8xf32>):
}

// -----

#mesh = #weft.mesh<"branch"=2>
plan.program @jump_outside_c1 mesh #mesh arena 0 {
  // expected-error @below {{names the whole mesh, which no device is outside of}}
  plan.jump_outside #mesh {} "end"
  plan.label "end"
}

// -----

#mesh = #weft.mesh<"branch"=2>
#other = #weft.mesh<"branch"=4>
plan.program @jump_outside_c2 mesh #mesh arena 0 {
  // expected-error @below {{names a part of #weft.mesh<"branch"=4>, the program runs on #weft.mesh<"branch"=2>}}
  plan.jump_outside #other {"branch" = 3} "end"
  plan.label "end"
}
