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
  // expected-error @below {{takes over a buffer that is no input}}
  %1 = plan.output "y" role "output" of tensor<4xf32> in #one taking %0 : memref<4xf32> : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#one = #weft.layout<#mesh, [{}]>
plan.program @output_c1_type mesh #mesh arena 16 {
  %0 = plan.input "x" role "input" of tensor<8xf32> in #one : memref<8xf32>
  // expected-error @below {{takes over 'memref<8xf32>' but has type 'memref<4xf32>'}}
  %1 = plan.output "y" role "output" of tensor<4xf32> in #one taking %0 : memref<8xf32> : memref<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
plan.program @collective_c1 mesh #mesh arena 16 {
  %0 = plan.buffer offset 0 : memref<4xf32>
  // expected-error @below {{has unknown kind "gossip"}}
  plan.collective "gossip" %0 to %0 : memref<4xf32> to memref<4xf32>
}
