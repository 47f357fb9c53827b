// A kernel computes a value at no more than eight positions: where more would
// read it, the kernel is cut behind it.
// RUN: weft-opt %s --split-input-file --weft-outline-kernels | FileCheck %s

// Each round reads the one before it twice: the first product eight times, the
// exponential sixteen times.
// CHECK-LABEL: func.func @rounds
// CHECK-NEXT: %[[A:.*]] = call @elementwise_exp_8(%arg0)
// CHECK-NEXT: %[[B:.*]] = call @general_mul_8(%[[A]])
// CHECK-NEXT: return %[[B]]
func.func @rounds(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = weft.exp %x : tensor<8xf32>
  %r0 = weft.reverse %0 dims [0] : tensor<8xf32>
  %1 = weft.mul %0, %r0 : tensor<8xf32>
  %r1 = weft.reverse %1 dims [0] : tensor<8xf32>
  %2 = weft.mul %1, %r1 : tensor<8xf32>
  %r2 = weft.reverse %2 dims [0] : tensor<8xf32>
  %3 = weft.mul %2, %r2 : tensor<8xf32>
  %r3 = weft.reverse %3 dims [0] : tensor<8xf32>
  %4 = weft.mul %3, %r3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// Eight positions are few enough.
// CHECK-LABEL: func.func @eight
// CHECK-NEXT: %[[A:.*]] = call @general_exp_mul_8(%arg0)
// CHECK-NEXT: return %[[A]]
func.func @eight(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = weft.exp %x : tensor<8xf32>
  %r0 = weft.reverse %0 dims [0] : tensor<8xf32>
  %1 = weft.mul %0, %r0 : tensor<8xf32>
  %r1 = weft.reverse %1 dims [0] : tensor<8xf32>
  %2 = weft.mul %1, %r1 : tensor<8xf32>
  %r2 = weft.reverse %2 dims [0] : tensor<8xf32>
  %3 = weft.mul %2, %r2 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
