// A contraction that a library computes keeps behind it only ops that the library has an epilogue for.
// RUN: weft-opt %s --weft-outline-kernels=target=cuda:sm_80 --weft-choose-libraries=target=cuda:sm_80 | FileCheck %s
// Without libraries the ops that follow are computed on the sums.
// RUN: weft-opt %s --weft-outline-kernels=target=cpu:avx2 | FileCheck %s --check-prefix=CPU

// CHECK: func private @dot_{{.*}}plan.library = {{.*}} epilogue bias_relu
// CPU: func private @dot_add_relu_64x128x64
func.func @dense(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = weft.add %0, %1 : tensor<64x64xf32>
  %3 = weft.relu %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// The bias is added in the kernel of the op behind it, which reads the sums in any case.
// CHECK: func private @dot_{{.*}}plan.library = {{.*}} epilogue none
// CHECK: func private @elementwise_add_tanh_64x64
// CPU: func private @dot_add_tanh_64x128x64
func.func @other_function(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = weft.add %0, %1 : tensor<64x64xf32>
  %3 = weft.tanh %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// Too small for a call: all is one kernel.
// CHECK: func private @dot_tanh_16x128x16
// CPU: func private @dot_tanh_16x128x16
func.func @small(%x: tensor<16x128xf32>, %w: tensor<128x16xf32>) -> tensor<16x16xf32> {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x128xf32>, tensor<128x16xf32> -> tensor<16x16xf32>
  %1 = weft.tanh %0 : tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

// The sums are read, too: libraries give one result.
// CHECK: func private @dot_{{.*}}plan.library = {{.*}} epilogue none
// CHECK: func private @elementwise_relu_64x64
// CPU: func private @dot_relu_64x128x64
func.func @two_results(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.relu %0 : tensor<64x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// The library rounds the sums of short floats, and the next kernel reads half as many bytes.
// CHECK: func private @dot_convert_64x128x64({{.*}} -> tensor<64x64xbf16> {{.*}}plan.library = {{.*}} epilogue none
// CHECK: func private @elementwise_tanh_64x64
// CPU: func private @dot_convert_tanh_64x128x64
func.func @rounded(%x: tensor<64x128xbf16>, %w: tensor<128x64xbf16>) -> tensor<64x64xbf16> {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
  %1 = weft.convert %0 : tensor<64x64xf32> -> tensor<64x64xbf16>
  %2 = weft.tanh %1 : tensor<64x64xbf16>
  return %2 : tensor<64x64xbf16>
}
