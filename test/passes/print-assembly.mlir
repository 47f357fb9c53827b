// The pass prints the assembly of the kernels; the module stays.
// RUN: weft-opt %s --weft-choose-nests --weft-print-assembly=target=cpu:generic | FileCheck %s
// RUN: not weft-opt %s --weft-print-assembly=target=cpu:avx1024 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft compile %fixtures/seed-functional-mlp/model.json --target cpu:avx1024 -o %t.weft 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: add_one:
// CHECK: func.func private @add_one
// UNKNOWN: error: {{.*}}unknown target 'cpu:avx1024'; use one of native, {{.*}}cpu:avx512, cpu:avx2, cpu:generic, cpu:neon
func.func private @add_one(%x: tensor<8xf32>) -> tensor<8xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.constant dense<1.0> : tensor<8xf32>
  %1 = weft.add %x, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
