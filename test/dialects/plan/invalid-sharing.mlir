// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #weft.mesh<"data"=2>
#other = #weft.mesh<"data"=4>
#over = #weft.layout<#other, [{"data"}]>
plan.program @program_c4 mesh #mesh arena 16 {
  // expected-error @below {{is shared over #weft.layout<#weft.mesh<"data"=4>, [{"data"}]>, which is no layout of rank 1 on the program's mesh}}
  %x = plan.buffer offset 0 {plan.shared = #over} : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#over = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c5 mesh #mesh arena 32 {
  %x = plan.buffer offset 0 : memref<4xf32>
  %y = plan.buffer offset 16 {plan.shared = #over, plan.shared_offset = 0 : i64} : memref<4xf32>
  // expected-error @below {{is done on each device and writes a buffer that is shared over #weft.layout<#weft.mesh<"data"=2>, [{"data"}]>}}
  plan.copy %x to %y : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#over = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c5_launch mesh #mesh arena 32 {
  %x = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{is done once over #weft.layout<#weft.mesh<"data"=2>, [{"data"}]> and writes a buffer that each device has}}
  plan.launch @double(%x, %x) {plan.shared = #over} : memref<4xf32>, memref<4xf32>
}
func.func private @double(%a: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#over = #weft.layout<#mesh, [{"data"}]>
#group = #weft.layout<#mesh, [{"model"}]>
plan.program @program_c6 mesh #mesh arena 32 {
  %x = plan.buffer offset 0 : memref<4xf32>
  %y = plan.buffer offset 16 {plan.shared = #over, plan.shared_offset = 0 : i64} : memref<4xf32>
  // expected-error @below {{writes a buffer that is shared over}}
  %0 = plan.start "all_reduce" #plan.combination<sum> (%x) to (%y) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#over = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c4_offset mesh #mesh arena 16 {
  // expected-error @below {{is shared and has no offset in shared memory}}
  %x = plan.buffer offset 0 {plan.shared = #over} : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @program_c4_alone mesh #mesh arena 16 {
  // expected-error @below {{has an offset in shared memory and is no shared plan.buffer}}
  %x = plan.buffer offset 0 {plan.shared_offset = 0 : i64} : memref<4xf32>
}
