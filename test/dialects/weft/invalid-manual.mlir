// RUN: weft-opt %s --split-input-file --verify-diagnostics

#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c1(%a: tensor<8xf32>) {
  // expected-error @+1 {{has 1 operands, but layouts for 2}}
  %0 = weft.manual(%a) from [#x, #x] to [#x] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p : tensor<4xf32>
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}, {}]>
func.func @manual_c1_rank(%a: tensor<8xf32>) {
  // expected-error @+1 {{operand 0 of type 'tensor<8xf32>' cannot lie as #weft.layout<#weft.mesh<"x"=2>, [{"x"}, {}]>: layout has 2 dimensions, the tensor 1}}
  %0 = weft.manual(%a) from [#x] to [#x] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p : tensor<4xf32>
  }
  return
}

// -----

#x = #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>
#y = #weft.layout<#weft.mesh<"y"=2>, [{"y"}]>
func.func @manual_c1_meshes(%a: tensor<8xf32>) {
  // expected-error @+1 {{result 0 of type 'tensor<8xf32>' cannot lie as #weft.layout<#weft.mesh<"y"=2>, [{"y"}]>: all layouts are over one mesh}}
  %0 = weft.manual(%a) from [#x] to [#y] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p : tensor<4xf32>
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2>
#p = #weft.layout<#mesh, [{}], partial = sum{"x"}>
func.func @manual_c6_partial(%a: tensor<8xf32>) {
  // expected-error @+1 {{leaves "x" free, but one of its layouts uses it; remove one of both}}
  %0 = weft.manual(%a) from [#p] to [#p] free ["x"] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<8xf32>):
    weft.yield %p : tensor<8xf32>
  }
  return
}

// -----

func.func @manual_c1_no_mesh() {
  // expected-error @+1 {{has neither operands nor results, so no mesh}}
  weft.manual() from [] to [] : () -> () {
    weft.yield
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c2(%a: tensor<7xf32>) {
  // expected-error @+1 {{the axes do not divide its dimensions; pad it, or shard other dimensions}}
  %0 = weft.manual(%a) from [#x] to [#x] : (tensor<7xf32>) -> tensor<7xf32> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p : tensor<4xf32>
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c3(%a: tensor<8xf32>) {
  // expected-error @+1 {{the region takes 'tensor<8xf32>' where the block of 'tensor<8xf32>' is 'tensor<4xf32>'}}
  %0 = weft.manual(%a) from [#x] to [#x] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<8xf32>):
    %q = coll.slice %p dim 0 over #mesh ["x"] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %q : tensor<4xf32>
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c3_count(%a: tensor<8xf32>) {
  // expected-error @+1 {{the region yields 2 values, not 1}}
  %0 = weft.manual(%a) from [#x] to [#x] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p, %p : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
#r = #weft.layout<#mesh, [{}]>
func.func @manual_c4(%a: tensor<8xf32, #r>) {
  // expected-error @+1 {{its type says otherwise}}
  %0 = weft.manual(%a) from [#x] to [#x] : (tensor<8xf32, #r>) -> tensor<8xf32, #x> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p : tensor<4xf32>
  }
  return
}

// -----

// A value of the region over an axis that the op states itself.
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c4_bound(%a: tensor<8xf32, #x>) -> tensor<8xf32, #x> {
  // expected-error @+1 {{, whose axes cannot follow those of #weft.layout}}
  %0 = weft.manual(%a) from [#x] to [#x] free ["y"] : (tensor<8xf32, #x>) -> tensor<8xf32, #x> {
  ^bb0(%p: tensor<4xf32, #x>):
    weft.yield %p : tensor<4xf32, #x>
  }
  return %0 : tensor<8xf32, #x>
}

// -----

#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c5(%a: tensor<8xf32>) {
  // expected-error @+1 {{has another weft.manual inside, over axes that it does not leave free; slice and gather there instead}}
  %0 = weft.manual(%a) from [#x] to [#x] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    %1 = weft.manual(%p) from [#x] to [#x] : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%q: tensor<2xf32>):
      weft.yield %q : tensor<2xf32>
    }
    weft.yield %1 : tensor<4xf32>
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c6(%a: tensor<8xf32>) {
  // expected-error @+1 {{leaves "x" free, but one of its layouts uses it; remove one of both}}
  %0 = weft.manual(%a) from [#x] to [#x] free ["x"] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p : tensor<4xf32>
  }
  return
}

// -----

#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @manual_c6_name(%a: tensor<8xf32>) {
  // expected-error @+1 {{leaves "z" free, which is no axis of #weft.mesh<"x"=2, "y"=2>}}
  %0 = weft.manual(%a) from [#x] to [#x] free ["z"] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    weft.yield %p : tensor<4xf32>
  }
  return
}

// -----

// A weft.manual inside may take the axes that are left free around it.
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
#y = #weft.layout<#mesh, [{"y"}]>
func.func @manual_nested(%a: tensor<8xf32>) {
  %0 = weft.manual(%a) from [#x] to [#x] free ["y"] : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4xf32>):
    %1 = weft.manual(%p) from [#y] to [#y] : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%q: tensor<2xf32>):
      weft.yield %q : tensor<2xf32>
    }
    weft.yield %1 : tensor<4xf32>
  }
  return
}
