// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{reduces f32[4] to f32[8]}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%b) over #group : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_block mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{from [8] to [4] over 2 devices: dimension 1 is out of the rank 1}}
  %0 = plan.start "x" #plan.combination<sum dim 1> (%b) to (%a) over #group : (memref<8xf32>) to (memref<4xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_movement mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{moves [4] to [8], its layouts [5] to [9]}}
  %0 = plan.start "x" #plan.movement<[9] from #group to #whole ring> (%a) to (%b) over #group : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_ring mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{is a ring, but a layout has an axis that is none of the group's}}
  %0 = plan.start "x" #plan.movement<[8] from #group to #whole ring> (%a) to (%b) over #whole : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
#partial = #weft.layout<#mesh, [{}], partial = sum{"data"}>
plan.program @start_c1_partial mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{moves a partial value; reduce it first}}
  %0 = plan.start "x" #plan.movement<[4] from #partial to #whole> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
#other = #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>
plan.program @start_c1_mesh mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{moves on the mesh #weft.mesh<"x"=2> over a group of #weft.mesh<"data"=2>}}
  %0 = plan.start "x" #plan.movement<[8] from #other to #other> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_fetch mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{from [4] to [8] over 2 devices: dimension 0 does not fit}}
  %0 = plan.start "x" #plan.fetching<dim 0 at[10, 4, 1, 0, 1, 0]> (%a) to (%b) over #group : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_divisor mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{fetches of 8 with divisor 0 modulus 0; size and modulus are not negative, the divisor is 1 at least}}
  %0 = plan.start "x" #plan.fetching<dim 0 at[8, 4, 1, 0, 0, 0]> (%a) to (%b) over #group : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_pick mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{has the positions f32[8], not an i64 for each of [8]}}
  %0 = plan.start "x" #plan.fetching<dim 0> (%a, %b) to (%b) over #group : (memref<4xf32>, memref<8xf32>) to (memref<8xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_senders mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{has senders [2, 0], not one of 2 members for each}}
  %0 = plan.start "x" #plan.sending<[2, 0]> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c1_call mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{calls function -1 with 1 operands and 1 results}}
  %0 = plan.start "x" #plan.host_call<-1> (%a) to (%b) over #group : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c2 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{has 0 waits; write one plan.wait}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @start_c2_twice mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  // expected-error @below {{has 2 waits; write one plan.wait}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @program_c8 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<i1>
  // expected-error @below {{is not awaited where a device jumps over its wait}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.jump_unless %b "here" : memref<i1>
  plan.wait %0
  plan.label "here"
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c8_again mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<i1>
  plan.label "loop"
  // expected-error @below {{is started again before the program waits for it}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.jump_unless %b "loop" : memref<i1>
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c7_label mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<i1>
  %c = plan.buffer offset 128 : memref<4xf32>
  plan.jump_unless %b "else" : memref<i1>
  // expected-note @below {{the start}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%a) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.jump "end"
  plan.label "else"
  plan.copy %c to %a : memref<4xf32>
  plan.label "end"
  // expected-error @below {{takes a buffer of a collective before the program waits for it}}
  plan.copy %a to %c : memref<4xf32>
  plan.wait %0
}

// -----

#mesh = #weft.mesh<"data"=2>
// expected-error @below {{the layouts of a movement are on the meshes}}
func.func private @movement_c1() attributes {x = #plan.movement<[8] from #weft.layout<#mesh, [{"data"}]> to #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>>}

// -----

// expected-error @below {{positions are 2 numbers; write size, block, step, offset, divisor and modulus}}
func.func private @fetching_c1() attributes {x = #plan.fetching<dim 0 at[8, 4]>}
