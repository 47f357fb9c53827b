// Every op reads back as it prints, in the pretty and in the generic form.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// CHECK-DAG: #[[$MESH:mesh[0-9]*]] = #weft.mesh<"data"=2, "model"=4>
// CHECK-DAG: #weft.mesh<"a"=2, devices = [1, 0], latency = [2.000000e-06], bandwidth = [1.000000e+11]>
// CHECK-DAG: #[[$X:layout[0-9]*]] = #weft.layout<#[[$MESH]], [{"data"}, {}]>
// CHECK-DAG: #[[$SUB:layout[0-9]*]] = #weft.layout<#[[$MESH]], [{"model":(2)2}, {"data", "model":(1)2}]>
// CHECK-DAG: #[[$P:layout[0-9]*]] = #weft.layout<#[[$MESH]], [{"data"}, {}], partial = sum{"model"}>
#mesh = #weft.mesh<"data"=2, "model"=4>
#links = #weft.mesh<"a"=2, devices = [1, 0], latency = [2.0e-6], bandwidth = [1.0e11]>
#x = #weft.layout<#mesh, [{"data"}, {}]>
#sub = #weft.layout<#mesh, [{"model":(2)2}, {"data", "model":(1)2}]>
#p = #weft.layout<#mesh, [{"data"}, {}], partial = sum{"model"}>

// CHECK-LABEL: @attributes
func.func @attributes() attributes {a = #links, b = #weft.layout<#mesh, []>} { return }

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<4x8xf32>, %l: tensor<4x8xf32, #x>, %b: tensor<4xi1>) {
  // CHECK: weft.neg %{{.*}} : tensor<4x8xf32>
  %0 = weft.neg %x : tensor<4x8xf32>
  // CHECK: weft.abs
  %1 = weft.abs %x : tensor<4x8xf32>
  // CHECK: weft.sign
  %2 = weft.sign %x : tensor<4x8xf32>
  // CHECK: weft.exp
  %3 = weft.exp %x : tensor<4x8xf32>
  // CHECK: weft.expm1
  %4 = weft.expm1 %x : tensor<4x8xf32>
  // CHECK: weft.log
  %5 = weft.log %x : tensor<4x8xf32>
  // CHECK: weft.log1p
  %6 = weft.log1p %x : tensor<4x8xf32>
  // CHECK: weft.sqrt
  %7 = weft.sqrt %x : tensor<4x8xf32>
  // CHECK: weft.rsqrt
  %8 = weft.rsqrt %x : tensor<4x8xf32>
  // CHECK: weft.tanh
  %9 = weft.tanh %x : tensor<4x8xf32>
  // CHECK: weft.logistic
  %10 = weft.logistic %x : tensor<4x8xf32>
  // CHECK: weft.erf
  %11 = weft.erf %x : tensor<4x8xf32>
  // CHECK: weft.erfc
  %erfc = weft.erfc %x : tensor<4x8xf32>
  // CHECK: weft.floor
  %12 = weft.floor %x : tensor<4x8xf32>
  // CHECK: weft.relu %{{.*}} : tensor<4x8xf32, #[[$X]]>
  %13 = weft.relu %l : tensor<4x8xf32, #x>
  // CHECK: weft.relu %{{.*}} : (tensor<4x8xf32, #[[$X]]>) -> tensor<4x8xf32>
  %14 = weft.relu %l : (tensor<4x8xf32, #x>) -> tensor<4x8xf32>
  // CHECK: weft.not %{{.*}} : tensor<4xi1>
  %15 = weft.not %b : tensor<4xi1>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<4xf32>, %u: tensor<4xui32>, %l: tensor<4x8xf32, #x>, %q: tensor<4x8xf32, #p>) {
  // CHECK: weft.add %{{.*}}, %{{.*}} : tensor<4xf32>
  %0 = weft.add %x, %x : tensor<4xf32>
  // CHECK: weft.sub
  %1 = weft.sub %x, %x : tensor<4xf32>
  // CHECK: weft.mul %{{.*}}, %{{.*}} : (tensor<4x8xf32, #[[$X]]>, tensor<4x8xf32, #[[$P]]>) -> tensor<4x8xf32, #[[$P]]>
  %2 = weft.mul %l, %q : (tensor<4x8xf32, #x>, tensor<4x8xf32, #p>) -> tensor<4x8xf32, #p>
  // CHECK: weft.div
  %3 = weft.div %x, %x : tensor<4xf32>
  // CHECK: weft.max
  %4 = weft.max %x, %x : tensor<4xf32>
  // CHECK: weft.min
  %5 = weft.min %x, %x : tensor<4xf32>
  // CHECK: weft.pow
  %6 = weft.pow %x, %x : tensor<4xf32>
  // CHECK: weft.rem
  %7 = weft.rem %x, %x : tensor<4xf32>
  // CHECK: weft.and
  %8 = weft.and %u, %u : tensor<4xui32>
  // CHECK: weft.or
  %9 = weft.or %u, %u : tensor<4xui32>
  // CHECK: weft.xor
  %10 = weft.xor %u, %u : tensor<4xui32>
  // CHECK: weft.shift_left
  %11 = weft.shift_left %u, %u : tensor<4xui32>
  // CHECK: weft.shift_right_logical
  %12 = weft.shift_right_logical %u, %u : tensor<4xui32>
  return
}

// CHECK-LABEL: @mixed
func.func @mixed(%x: tensor<4xf32>, %c: tensor<4xi1>) {
  // CHECK: weft.compare lt %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xi1>
  %0 = weft.compare lt %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xi1>
  // CHECK: weft.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %1 = weft.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: weft.convert %{{.*}} : tensor<4xf32> -> tensor<4xbf16>
  %2 = weft.convert %x : tensor<4xf32> -> tensor<4xbf16>
  // CHECK: weft.bitcast %{{.*}} : tensor<4xf32> -> tensor<4xui32>
  %3 = weft.bitcast %x : tensor<4xf32> -> tensor<4xui32>
  return
}

// CHECK-LABEL: @sources
func.func @sources(%key: tensor<2xui32>, %o: tensor<i64>) {
  // CHECK: weft.constant dense<1.000000e+00> : tensor<4xf32>
  %0 = weft.constant dense<1.0> : tensor<4xf32>
  // CHECK: weft.constant dense<1.000000e+00> : tensor<4x8xf32> -> tensor<4x8xf32, #[[$X]]>
  %1 = weft.constant dense<1.0> : tensor<4x8xf32> -> tensor<4x8xf32, #x>
  // CHECK: weft.iota dim 0 : tensor<16x10xi32>
  %2 = weft.iota dim 0 : tensor<16x10xi32>
  // CHECK: weft.iota dim 0 offset %{{.*}} : (tensor<i64>) -> tensor<8x10xi32>
  %3 = weft.iota dim 0 offset %o : (tensor<i64>) -> tensor<8x10xi32>
  // CHECK: weft.rng_bits %{{.*}} : tensor<2xui32> -> tensor<16x200xui32>
  %4 = weft.rng_bits %key : tensor<2xui32> -> tensor<16x200xui32>
  // CHECK: weft.rng_bits %{{.*}} offsets(%{{.*}}, %{{.*}}) of [16, 200] : (tensor<2xui32>, tensor<i64>, tensor<i64>) -> tensor<8x200xui32>
  %5 = weft.rng_bits %key offsets(%o, %o) of [16, 200] : (tensor<2xui32>, tensor<i64>, tensor<i64>) -> tensor<8x200xui32>
  return
}

// CHECK-LABEL: @shape
func.func @shape(%b: tensor<10xf32>, %x: tensor<4x6xf32>) {
  // CHECK: weft.broadcast %{{.*}} dims [1] : tensor<10xf32> -> tensor<16x10xf32>
  %0 = weft.broadcast %b dims [1] : tensor<10xf32> -> tensor<16x10xf32>
  // CHECK: weft.transpose %{{.*}} [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %1 = weft.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  // CHECK: weft.reshape %{{.*}} : tensor<4x6xf32> -> tensor<24xf32>
  %2 = weft.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  // CHECK: weft.slice %{{.*}} from [0, 1] to [4, 6] by [1, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
  %3 = weft.slice %x from [0, 1] to [4, 6] by [1, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
  // CHECK: weft.pad %{{.*}} low [1, 0] high [0, 2] interior [0, 1] : tensor<4x6xf32> -> tensor<5x13xf32>
  %4 = weft.pad %x low [1, 0] high [0, 2] interior [0, 1] : tensor<4x6xf32> -> tensor<5x13xf32>
  // CHECK: weft.concatenate %{{.*}}, %{{.*}} dim 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %5 = weft.concatenate %x, %x dim 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<16x784xf32>, %w: tensor<784x10xf32>, %b: tensor<3x4x5xf32>, %c: tensor<3x5x6xf32>) {
  // CHECK: weft.reduce sum %{{.*}} dims [0] : tensor<16x784xf32> -> tensor<784xf32>
  %0 = weft.reduce sum %x dims [0] : tensor<16x784xf32> -> tensor<784xf32>
  // CHECK: weft.reduce max %{{.*}} dims [0, 1] : tensor<16x784xf32> -> tensor<f32>
  %1 = weft.reduce max %x dims [0, 1] : tensor<16x784xf32> -> tensor<f32>
  // CHECK: weft.dot %{{.*}}, %{{.*}} contract [1] x [0] : tensor<16x784xf32>, tensor<784x10xf32> -> tensor<16x10xf32>
  %2 = weft.dot %x, %w contract [1] x [0] : tensor<16x784xf32>, tensor<784x10xf32> -> tensor<16x10xf32>
  // CHECK: weft.dot %{{.*}}, %{{.*}} batch [0] x [0] contract [2] x [1] : tensor<3x4x5xf32>, tensor<3x5x6xf32> -> tensor<3x4x6xf32>
  %3 = weft.dot %b, %c batch [0] x [0] contract [2] x [1] : tensor<3x4x5xf32>, tensor<3x5x6xf32> -> tensor<3x4x6xf32>
  return
}

// CHECK-LABEL: @wide
func.func @wide(%x: tensor<16x784xbf16>, %w: tensor<784x10xf16>, %i: tensor<4x5xi8>) {
  // CHECK: weft.dot %{{.*}}, %{{.*}} contract [1] x [0] precision highest : tensor<16x784xbf16>, tensor<784x10xf16> -> tensor<16x10xf32>
  %0 = weft.dot %x, %w contract [1] x [0] precision highest : tensor<16x784xbf16>, tensor<784x10xf16> -> tensor<16x10xf32>
  // The default is not written.
  // CHECK: weft.dot %{{.*}}, %{{.*}} contract [1] x [1] : tensor<4x5xi8>, tensor<4x5xi8> -> tensor<4x4xi32>
  %1 = weft.dot %i, %i contract [1] x [1] precision default : tensor<4x5xi8>, tensor<4x5xi8> -> tensor<4x4xi32>
  // CHECK: weft.reduce sum %{{.*}} dims [0] : tensor<16x784xbf16> -> tensor<784xf32>
  %2 = weft.reduce sum %x dims [0] : tensor<16x784xbf16> -> tensor<784xf32>
  // CHECK: weft.reduce prod %{{.*}} dims [1] : tensor<4x5xi8> -> tensor<4xi16>
  %3 = weft.reduce prod %i dims [1] : tensor<4x5xi8> -> tensor<4xi16>
  return
}

// CHECK-LABEL: @layouts
func.func @layouts(%x: tensor<4x8xf32>, %l: tensor<4x8xf32, #x>, %q: tensor<4x8xf32, #p>) {
  // CHECK: weft.constrain %{{.*}} to #[[$X]] reason "d2/output" : tensor<4x8xf32> -> tensor<4x8xf32>
  %0 = weft.constrain %x to #x reason "d2/output" : tensor<4x8xf32> -> tensor<4x8xf32>
  // A layout that is spelled out takes the colon for its own.
  // CHECK: weft.constrain %{{.*}} to #[[$X]] : tensor<4x8xf32> -> tensor<4x8xf32>
  %c1 = weft.constrain %x to #weft.layout<#mesh, [{"data"}, {}]> : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: weft.constrain %{{.*}} to #[[$X]] {weft.priority = 1 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
  %c2 = weft.constrain %x to #x {weft.priority = 1} : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: weft.reshard %{{.*}} : tensor<4x8xf32, #[[$P]]> -> tensor<4x8xf32, #[[$X]]>
  %1 = weft.reshard %q : tensor<4x8xf32, #p> -> tensor<4x8xf32, #x>
  // CHECK: weft.reshard %{{.*}} reason "loss" : tensor<4x8xf32, #[[$X]]> -> tensor<4x8xf32, #[[$SUB]]>
  %2 = weft.reshard %l reason "loss" : tensor<4x8xf32, #x> -> tensor<4x8xf32, #sub>
  // Copies may become partial.
  // CHECK: weft.reshard %{{.*}} : tensor<4x8xf32, #[[$X]]> -> tensor<4x8xf32, #[[$P]]>
  %3 = weft.reshard %l : tensor<4x8xf32, #x> -> tensor<4x8xf32, #p>
  return
}

func.func @loss(%w: tensor<4xf32>, %x: tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>) {
  %0 = weft.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  return %0, %w : tensor<f32>, tensor<4xf32>
}
// CHECK-LABEL: @gradients
func.func @gradients(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // CHECK: weft.value_and_grad @loss(%{{.*}}, %{{.*}}) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  %0:3 = weft.value_and_grad @loss(%w, %x) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  return
}
