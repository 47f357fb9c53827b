// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

#mesh = #weft.mesh<"x"=2>
#group = #weft.layout<#mesh, [{"x"}]>

// CHECK: #[[$GROUP:.*]] = #weft.layout<#mesh, [{"x"}]>
// CHECK: host.call 7(%{{.*}}) in #[[$GROUP]] : (tensor<4xf32>) -> tensor<2xi32>
func.func @call(%x: tensor<4xf32>) -> tensor<2xi32> {
  %0 = host.call 7(%x) in #group : (tensor<4xf32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// CHECK: host.call 8() in #[[$GROUP]] : () -> ()
func.func @note() {
  host.call 8() in #group : () -> ()
  return
}

// CHECK: host.observe %{{.*}} as "3" : tensor<4xf32>
func.func @ask(%x: tensor<4xf32>) {
  host.observe %x as "3" : tensor<4xf32>
  return
}
