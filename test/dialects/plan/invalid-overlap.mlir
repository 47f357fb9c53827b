// RUN: weft-opt --split-input-file --verify-diagnostics %s

#mesh = #weft.mesh<"data"=2>
func.func @await_c1(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s:2 = coll.all_reduce sum %x, %y over #mesh ["data"] : tensor<4xf32>, tensor<4xf32>
  // expected-error @below {{does not name all results of one collective of its block, in order}}
  plan.await %s#0 : tensor<4xf32>
  return %s#1 : tensor<4xf32>
}

// -----

func.func @await_c1_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{does not name all results of one collective of its block, in order}}
  plan.await %x : tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
func.func @await_c1_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
  // expected-error @below {{waits again}}
  plan.await %s : tensor<4xf32>
  // expected-note @below {{the other wait}}
  plan.await %s : tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
func.func @await_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
  // expected-error @below {{uses the result of a collective before the function waits for it}}
  %t = weft.relu %s : tensor<4xf32>
  // expected-note @below {{the wait}}
  plan.await %s : tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c7 mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<4xf32>
  // expected-note @below {{the start}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%b) over #group : (memref<4xf32>) to (memref<4xf32>)
  // expected-error @below {{takes a buffer of a collective before the program waits for it}}
  plan.copy %b to %a : memref<4xf32>
  plan.wait %0
}

// -----

// The kernel writes the last buffer, in memory of the source.
#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c7_source mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  %d = plan.buffer offset 8 : memref<4xf32>
  // expected-note @below {{the start}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%b) over #group : (memref<4xf32>) to (memref<4xf32>)
  plan.launch @host(%a, %c) : memref<4xf32>, memref<4xf32>
  // expected-error @below {{writes a buffer of a collective before the program waits for it}}
  plan.launch @host(%c, %d) : memref<4xf32>, memref<4xf32>
  plan.wait %0
}
func.func private @host(%x: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<general>} {
  return %x : tensor<4xf32>
}

// -----

// A donated input and its output are one buffer.
#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
plan.program @program_c7_donated mesh #mesh arena 1024 {
  %w = plan.input "w" role "weight" of tensor<4xf32> in #whole : memref<4xf32>
  %n = plan.output "n" role "weight" of tensor<4xf32> in #whole taking %w : memref<4xf32> : memref<4xf32>
  %b = plan.buffer offset 64 : memref<4xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  // expected-note @below {{the start}}
  %0 = plan.start "x" #plan.combination<sum> (%w) to (%b) over #group : (memref<4xf32>) to (memref<4xf32>)
  // expected-error @below {{writes a buffer of a collective before the program waits for it}}
  plan.copy %c to %n : memref<4xf32>
  plan.wait %0
}

// -----

// What devices share may meet in shared memory alone.
#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
plan.program @program_c7_shared mesh #mesh arena 1024 {
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 {plan.shared = #group, plan.shared_offset = 0 : i64} : memref<4xf32>
  %c = plan.buffer offset 128 {plan.shared = #group, plan.shared_offset = 8 : i64} : memref<4xf32>
  // expected-note @below {{the start}}
  %0 = plan.start "x" #plan.combination<sum> (%a) to (%b) over #group : (memref<4xf32>) to (memref<4xf32>)
  // expected-error @below {{writes a buffer of a collective before the program waits for it}}
  plan.copy %a to %c {plan.shared = #group} : memref<4xf32>
  plan.wait %0
}
