// Every pipeline checks the module's budget behind the stage `plan`: a broken
// limit is an error at the op that communicates.
// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-pipeline

#mesh = #weft.mesh<"model"=4>
#rows = #weft.layout<#mesh, [{"model"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"model"}]>
#whole = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce<=0, bytes<100, memory<=1KiB, exchange<=0"} {
  func.func @dot(%x: tensor<8x8xf32> {weft.name = "x", weft.layout = #columns}, %w: tensor<8x8xf32> {weft.name = "w", weft.layout = #rows}) -> (tensor<8x8xf32> {weft.layout = #whole}) {
    // expected-error @below {{the budget "all_reduce<=0" is broken: a dot step has 1 (all_reduce); all_reduce over "model", 384 bytes, at}}
    // expected-error @below {{the budget "bytes<100" is broken: a dot step has 384 (bytes); all_reduce over "model", 384 bytes}}
    %y = weft.dot %x, %w contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
}

// -----

#mesh = #weft.mesh<"model"=4>
// expected-error @below {{the budget "all_reduces<=0": 'all_reduces' is nothing that can be limited; use bytes, memory, collectives, all_gather, all_reduce}}
module attributes {weft.mesh = #mesh, weft.expect = "all_reduces<=0"} {
  func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"model"=4>
// expected-error @below {{weft.expect is 4 : i64; write it as "all_reduce<=2"}}
module attributes {weft.mesh = #mesh, weft.expect = 4} {
  func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"model"=4>
module attributes {weft.mesh = #mesh, weft.expect = "memory<=8"} {
  // expected-error @below {{the budget "memory<=8" is broken: a same step has 64 (memory); weights 0, optimizer 0, activations 32, temporaries 0, arguments 32; shard the largest tensors over more axes, or make the batch smaller}}
  func.func @same(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"model"=4>
module attributes {weft.mesh = #mesh, weft.expect = "memory<=8"} {
  // expected-error-re @below {{the budget "memory<=8" is broken: a total step has {{[0-9]+}} (memory); weights 0, optimizer 0}}
  func.func @total(%x: tensor<16xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"model"}]>}) -> tensor<f32> {
    %r = weft.reduce sum %x dims [0] : tensor<16xf32> -> tensor<f32>
    return %r : tensor<f32>
  }
}

// -----

#mesh = #weft.mesh<"a"=2, "b"=2, "c"=2>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce<=0"} {
  func.func @three(%x: tensor<16xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"a", "b", "c"}]>}) -> tensor<f32> {
    // expected-error @below {{the budget "all_reduce<=0" is broken: a three step has 1 (all_reduce); all_reduce over "a", "b", "c", 7 bytes}}
    %r = weft.reduce sum %x dims [0] : tensor<16xf32> -> tensor<f32>
    return %r : tensor<f32>
  }
}

// -----

#mesh = #weft.mesh<"a"=2, "b"=2, "c"=2, "d"=2>
module attributes {weft.mesh = #mesh, weft.expect = "all_reduce<=0"} {
  func.func @four(%x: tensor<16xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"a", "b", "c", "d"}]>}) -> tensor<f32> {
    // expected-error @below {{the budget "all_reduce<=0" is broken: a four step has 1 (all_reduce); all_reduce over "a", "b", "c", "d", 8 bytes}}
    %r = weft.reduce sum %x dims [0] : tensor<16xf32> -> tensor<f32>
    return %r : tensor<f32>
  }
}

// -----

// The bytes of 2^51 rounds saturate; they do not wrap to a number within the budget.
#mesh = #weft.mesh<"x"=2>
#rows = #weft.layout<#mesh, [{"x"}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "bytes<=1000"} {
  func.func @rounds(%w: tensor<64x64xf32> {weft.layout = #rows, weft.name = "w"}) -> (tensor<64x64xf32> {weft.layout = #rows}) {
    %y = weft.for 2251799813685248 (%w) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      // expected-error @below {{the budget "bytes<=1000" is broken: a rounds step has 9,223,372,036,854,775,807 (bytes); all_gather over "x", 8,192 bytes, 2,251,799,813,685,248 times}}
      %0 = weft.dot %v, %v contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
      weft.yield %0 : tensor<64x64xf32>
    }
    return %y : tensor<64x64xf32>
  }
}

// -----

// The sum wants one axis for rows and for columns, so that layouts are priced:
// none is cheaper than those that were chosen.
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh, weft.expect = "gap<0, gap<=0.01"} {
  // expected-error-re @below {{the budget "gap<0" is broken: a priced step has 0.0000 (gap); it sends 3,072 bytes, and other layouts of what nobody annotated at least 3,072; annotate the tensors of a conflict, or allow a larger gap}}
  func.func @priced(%a: tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}, %b: tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{}, {"d"}]>}) -> (tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
    %s = weft.add %a, %b : tensor<64x64xf32>
    %r = weft.relu %s : tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

// Layouts of so many devices are not priced all at once.
#mesh = #weft.mesh<"d"=1024>
module attributes {weft.mesh = #mesh, weft.expect = "gap<=0.01"} {
  // expected-error @below {{the budget "gap<=0.01" is broken: a unpriced step has 1.0000 (gap); the step has too many devices or layouts to be priced at once; annotate more tensors}}
  func.func @unpriced(%a: tensor<1024x1024xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}, %b: tensor<1024x1024xf32> {weft.layout = #weft.layout<#mesh, [{}, {"d"}]>}) -> (tensor<1024x1024xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
    %s = weft.add %a, %b : tensor<1024x1024xf32>
    %r = weft.relu %s : tensor<1024x1024xf32>
    return %r : tensor<1024x1024xf32>
  }
}
