// Where a kernel is one launch, values that are cheap to compute from no more bytes are computed by each kernel that reads them.
// RUN: weft-opt %s --weft-outline-kernels=target=cuda:sm_80 --split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-outline-kernels=target=cpu:avx2 --split-input-file | FileCheck %s --check-prefix=CPU

// The moments of a batch norm and its result read the bf16 numbers: neither their conversion to f32 nor the difference from the mean is
// stored. A kernel of a CPU has several nests and keeps what they read in caches.
// CHECK-LABEL: func.func @moments
// CHECK-NEXT: %[[M:.*]] = call @general_reduce_div_256(%arg0) : (tensor<64x3136x256xbf16>) -> tensor<256xf32>
// CHECK-NEXT: %[[V:.*]] = call @reduce_64x3136x256(%arg0, %[[M]]) : (tensor<64x3136x256xbf16>, tensor<256xf32>) -> tensor<256xf32>
// CHECK-NEXT: call @elementwise_mul_convert_64x3136x256(%arg0, %[[M]], %[[V]]) : (tensor<64x3136x256xbf16>, tensor<256xf32>, tensor<256xf32>) -> tensor<64x3136x256xbf16>
// CPU-LABEL: func.func @moments
// CPU-NEXT: call @general
// CPU-NEXT: return
func.func @moments(%x: tensor<64x3136x256xbf16>) -> tensor<64x3136x256xbf16> {
  %0 = weft.convert %x : tensor<64x3136x256xbf16> -> tensor<64x3136x256xf32>
  %1 = weft.reduce sum %0 dims [0, 1] : tensor<64x3136x256xf32> -> tensor<256xf32>
  %n = weft.constant dense<200704.0> : tensor<256xf32>
  %2 = weft.div %1, %n : tensor<256xf32>
  %3 = weft.broadcast %2 dims [2] : tensor<256xf32> -> tensor<64x3136x256xf32>
  %4 = weft.sub %0, %3 : tensor<64x3136x256xf32>
  %5 = weft.mul %4, %4 : tensor<64x3136x256xf32>
  %6 = weft.reduce sum %5 dims [0, 1] : tensor<64x3136x256xf32> -> tensor<256xf32>
  %7 = weft.broadcast %6 dims [2] : tensor<256xf32> -> tensor<64x3136x256xf32>
  %8 = weft.mul %4, %7 : tensor<64x3136x256xf32>
  %9 = weft.convert %8 : tensor<64x3136x256xf32> -> tensor<64x3136x256xbf16>
  return %9 : tensor<64x3136x256xbf16>
}

// -----

// A sum of two f32 tensors would be read as twice its bytes; an exponential is costly; a library's operand is in memory.
// CHECK-LABEL: func.func @stored
// CHECK-NEXT: %[[A:.*]] = call @elementwise_add_512x512(%arg0, %arg1)
// CHECK-NEXT: call @reduce_512x512(%[[A]])
// CHECK-NEXT: call @reduce_512x512_{{[0-9]+}}(%[[A]])
func.func @stored(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = weft.add %a, %b : tensor<512x512xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  %2 = weft.mul %0, %0 : tensor<512x512xf32>
  %3 = weft.reduce sum %2 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  return %1, %3 : tensor<512xf32>, tensor<512xf32>
}
// CHECK-LABEL: func.func @costly
// CHECK-NEXT: %[[E:.*]] = call @elementwise_exp_512x512(%arg0)
// CHECK-NEXT: call @reduce_512x512_{{[0-9]+}}(%[[E]])
// CHECK-NEXT: call @reduce_512x512_{{[0-9]+}}(%[[E]])
func.func @costly(%a: tensor<512x512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = weft.exp %a : tensor<512x512xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  %2 = weft.mul %0, %0 : tensor<512x512xf32>
  %3 = weft.reduce sum %2 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  return %1, %3 : tensor<512xf32>, tensor<512xf32>
}
// CHECK-LABEL: func.func @contracted
// CHECK-NEXT: %[[R:.*]] = call @elementwise_relu_512x512(%arg0)
// CHECK-NEXT: call @dot_512x512x512(%[[R]], %arg1)
// CHECK-NEXT: call @reduce_512x512_{{[0-9]+}}(%[[R]])
func.func @contracted(%a: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %0 = weft.relu %a : tensor<512x512xf32>
  %1 = weft.dot %0, %w contract [1] x [0] : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %2 = weft.reduce sum %0 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  return %1, %2 : tensor<512x512xf32>, tensor<512xf32>
}

// The sum of columns reads what the kernel of rows does, which keeps its conversion to itself.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: call @general_reduce_div_512x512(%arg0) : (tensor<512x512xbf16>) -> tensor<512x512xf32>
// CHECK-NEXT: call @reduce_512x512_{{[0-9]+}}(%arg0) : (tensor<512x512xbf16>) -> tensor<512xf32>
func.func @columns(%a: tensor<512x512xbf16>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %0 = weft.convert %a : tensor<512x512xbf16> -> tensor<512x512xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<512x512xf32> -> tensor<512xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<512xf32> -> tensor<512x512xf32>
  %3 = weft.div %0, %2 : tensor<512x512xf32>
  %4 = weft.reduce sum %0 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  return %3, %4 : tensor<512x512xf32>, tensor<512xf32>
}
// Two kernels of rows, which may read their operands for each of their reductions: the result of the first is stored.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: %[[R:.*]]:{{[0-9]}} = call @general_{{.*}}(%arg0, %arg1)
// CHECK: call @general_{{.*}}(%[[R]]#
func.func @rows(%a: tensor<512x512xbf16>, %b: tensor<512xf32>) -> (tensor<512x512xbf16>, tensor<512x512xf32>) {
  %0 = weft.convert %a : tensor<512x512xbf16> -> tensor<512x512xf32>
  %1 = weft.broadcast %b dims [1] : tensor<512xf32> -> tensor<512x512xf32>
  %2 = weft.mul %0, %1 : tensor<512x512xf32>
  %3 = weft.reduce sum %2 dims [1] : tensor<512x512xf32> -> tensor<512xf32>
  %4 = weft.broadcast %3 dims [0] : tensor<512xf32> -> tensor<512x512xf32>
  %5 = weft.div %2, %4 : tensor<512x512xf32>
  %6 = weft.convert %5 : tensor<512x512xf32> -> tensor<512x512xbf16>
  %7 = weft.reduce sum %5 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  %8 = weft.broadcast %7 dims [1] : tensor<512xf32> -> tensor<512x512xf32>
  %9 = weft.mul %2, %8 : tensor<512x512xf32>
  %10 = weft.reduce sum %9 dims [1] : tensor<512x512xf32> -> tensor<512xf32>
  %11 = weft.broadcast %10 dims [0] : tensor<512xf32> -> tensor<512x512xf32>
  %12 = weft.div %9, %11 : tensor<512x512xf32>
  return %6, %12 : tensor<512x512xbf16>, tensor<512x512xf32>
}

// -----

// A donated argument is overwritten by the result that takes its memory over: its readers come before.
// CHECK-LABEL: func.func @donated
// CHECK-NEXT: %[[R:.*]] = call @elementwise_relu_512x512(%arg0)
// CHECK-NEXT: call @reduce_512x512(%[[R]])
// CHECK-NEXT: call @reduce_512x512_{{[0-9]+}}(%[[R]])
// CHECK-NEXT: call @elementwise_sub_512x512(%arg0, %arg1)
func.func @donated(%w: tensor<512x512xf32> {weft.donated = 0}, %g: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>, tensor<512xf32>) {
  %0 = weft.relu %w : tensor<512x512xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  %2 = weft.mul %0, %0 : tensor<512x512xf32>
  %3 = weft.reduce sum %2 dims [0] : tensor<512x512xf32> -> tensor<512xf32>
  %4 = weft.sub %w, %g : tensor<512x512xf32>
  return %4, %1, %3 : tensor<512x512xf32>, tensor<512xf32>, tensor<512xf32>
}

// -----

// A row that a kernel spreads over a matrix is computed once, and not for each of its rows.
// CHECK-LABEL: func.func @spread
// CHECK-NEXT: %[[R:.*]]:2 = call @elementwise_relu_mul_512(%arg0)
// CHECK-NEXT: call @elementwise_add_512x512(%[[R]]#0, %arg1)
func.func @spread(%a: tensor<512xf32>, %b: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %0 = weft.relu %a : tensor<512xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<512xf32> -> tensor<512x512xf32>
  %2 = weft.add %1, %b : tensor<512x512xf32>
  %3 = weft.mul %0, %0 : tensor<512xf32>
  return %2, %3 : tensor<512x512xf32>, tensor<512xf32>
}
