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
  plan.all_reduce sum %a to %a over #group : memref<4xf32> to memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>
plan.program @program_c3_mesh mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{, which is no layout of rank 1 on the program's mesh}}
  plan.all_reduce sum %a to %a over #group : memref<4xf32> to memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @all_reduce_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{targets should have the sources' types 'memref<4xf32>', but have 'memref<8xf32>'}}
  plan.all_reduce sum %a to %b over #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @all_reduce_c1_nothing mesh #mesh arena 1024 {
  // expected-error @below {{reduces nothing; name a source and a target}}
  "plan.all_reduce"() <{group = #group, reduce = #weft<reduce_kind sum>}> : () -> ()
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @all_gather_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{dim 1 is out of the rank 1}}
  plan.all_gather %a to %b dim 1 over #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @all_gather_c2 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<6xf32>
  // expected-error @below {{dim 0 of 6 elements over 2 devices has blocks of 3, not 4}}
  plan.all_gather %a to %b dim 0 over #group : memref<4xf32> to memref<6xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @reduce_scatter_c1 mesh #mesh arena 1024 {
  %d = plan.buffer offset 192 : memref<4x8xf32>
  %e = plan.buffer offset 320 : memref<8x4xf32>
  // expected-error @below {{dim 1 should keep its size 8, but the result has 4}}
  plan.reduce_scatter sum %d to %e dim 0 over #group : memref<4x8xf32> to memref<8x4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @reduce_scatter_c2 mesh #mesh arena 1024 {
  %b = plan.buffer offset 64 : memref<6xf32>
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{dim 0 of 6 elements over 2 devices has blocks of 3, not 4}}
  plan.reduce_scatter sum %b to %a dim 0 over #group : memref<6xf32> to memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @all_to_all_c1 mesh #mesh arena 1024 {
  %d = plan.buffer offset 192 : memref<4x8xf32>
  %e = plan.buffer offset 320 : memref<8x4xf32>
  // expected-error @below {{splits and concatenates along the same dim 1}}
  plan.all_to_all %d to %e split 1 concat 1 over #group : memref<4x8xf32> to memref<8x4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @all_to_all_c2 mesh #mesh arena 1024 {
  %d = plan.buffer offset 192 : memref<4x8xf32>
  %e = plan.buffer offset 320 : memref<8x4xf32>
  // expected-error @below {{dim 1 of 4 elements over 2 devices has blocks of 2, not 8}}
  plan.all_to_all %e to %d split 1 concat 0 over #group : memref<8x4xf32> to memref<4x8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @fetch_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{dim 2 is out of the rank 1}}
  plan.fetch %a to %b dim 2 of 8 at block 4 step 1 offset 0 divisor 1 modulus 0 over #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @fetch_c2 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{dim 0 of 10 elements over 2 devices has blocks of 5, not 4}}
  plan.fetch %a to %b dim 0 of 10 at block 4 step 1 offset 0 divisor 1 modulus 0 over #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @fetch_c3 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{divides by 0 modulo 0; the least are 1 and 0}}
  plan.fetch %a to %b dim 0 of 8 at block 4 step 1 offset 0 divisor 0 modulus 0 over #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @pick_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  %i = plan.buffer offset 448 : memref<8xi32>
  // expected-error @below {{picks 'memref<8xf32>' at positions 'memref<8xi32>'; there is an i64 for each element}}
  plan.pick %a at %i to %b dim 0 over #group : memref<4xf32> at memref<8xi32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @pick_c2 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  %p = plan.buffer offset 448 : memref<8xi64>
  // expected-error @below {{dim 1 is out of the rank 1}}
  plan.pick %a at %p to %b dim 1 over #group : memref<4xf32> at memref<8xi64> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @collective_permute_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  // expected-error @below {{has the source 2; members are 0 to 1, and -1 is none}}
  plan.collective_permute %a to %c senders [2, 0] over #group : memref<4xf32> to memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @collective_permute_c1_count mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  // expected-error @below {{has 1 sources for 2 devices}}
  plan.collective_permute %a to %c senders [1] over #group : memref<4xf32> to memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @collective_permute_c2 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{source and target should have one type, but are 'memref<4xf32>' and 'memref<8xf32>'}}
  plan.collective_permute %a to %b senders [1, 0] over #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @permute_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{the result's local shape is [4], but its type 'memref<8xf32>'}}
  plan.permute %a to %b of [8] from #group into #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#partial = #weft.layout<#mesh, [{}], partial = sum{"data"}>
plan.program @permute_c2 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  // expected-error @below {{layout of the operand should not be partial}}
  plan.permute %a to %c of [4] from #partial into #partial : memref<4xf32> to memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @exchange_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{layout of the operand has 1 dimensions, but the global shape 2}}
  plan.exchange %a to %b of [8, 1] from #group into #group : memref<4xf32> to memref<8xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#partial = #weft.layout<#mesh, [{}], partial = sum{"data"}>
plan.program @exchange_c2 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  // expected-error @below {{layout of the operand should not be partial}}
  plan.exchange %a to %c of [4] from #partial into #partial : memref<4xf32> to memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @host_call_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{calls function -1; numbers start at 0}}
  plan.host_call -1(%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
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

#mesh = #weft.mesh<"data"=2>
plan.program @contraction_c2_bias mesh #mesh arena 0 {
}
// expected-error @below {{its arguments are lhs, rhs, the bias, with one result}}
func.func private @dot(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {weft.kernel = #weft.kernel<dot>, plan.library = #plan.contraction<batch[], rows[4, 4, 0, 4], columns[4, 0, 1, 1], contract[4, 1, 4, 0], sums f32, epilogue bias, compute full>}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @contraction_c2_place mesh #mesh arena 0 {
}
// expected-error @below {{attribute '"plan.library"' is unit; write 'plan.library = #plan.contraction<...>' on a kernel function, or 'plan.operations = 1.0' on a kernel}}
func.func private @dot(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {plan.library}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @library_contraction_c2 mesh #mesh arena 0 {
}
// expected-error @below {{has the fallback @k, which is no plan.device_kernel}}
plan.library_contraction @dot batch [] rows [4, 4, 0, 4] columns [4, 0, 1, 1] contract [4, 1, 4, 0] sums f32 epilogue none fallback @k scratch 0

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
