// What takes more than 2^22 steps in a thread compiles with a warning that names op, size and steps.
// RUN: weft-opt %s --weft-choose-nests=target=cuda:sm_90a -o /dev/null 2>&1 | FileCheck %s

// CHECK: warning: 'weft.sort' of 'tensor<1048576xf32>' takes {{[0-9]+}} steps one after the other in one thread on cuda:sm_90a; give it more rows, or compile for cpu devices
func.func private @sort(%x: tensor<1048576xf32>) -> tensor<1048576xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.sort %x dim 0 keys 1 : (tensor<1048576xf32>) -> tensor<1048576xf32>
  return %0 : tensor<1048576xf32>
}

// CHECK: warning: 'weft.cumulative' of 'tensor<2x8388608xf32>' takes 8388608 steps one after the other in each of 2 threads on cuda:sm_90a
func.func private @cumulative(%x: tensor<2x8388608xf32>) -> tensor<2x8388608xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.cumulative sum %x dim 1 : tensor<2x8388608xf32>
  return %0 : tensor<2x8388608xf32>
}

// CHECK-NOT: warning
func.func private @short(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.cumulative sum %x dim 1 : tensor<4096x1024xf32>
  return %0 : tensor<4096x1024xf32>
}
