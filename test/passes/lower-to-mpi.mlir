// RUN: weft-opt --split-input-file --verify-diagnostics --weft-lower-to-mpi --canonicalize --cse %s | FileCheck %s

#mesh = #weft.mesh<"x"=2, "y"=3>
#rows = #weft.layout<#mesh, [{"x"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"y"}]>

// CHECK-LABEL: func.func @all_reduce
// CHECK-DAG: %[[BUFFER:.*]] = bufferization.to_buffer %arg0 read_only
// CHECK-DAG: %[[OUT:.*]] = memref.alloc() : memref<4xf32>
// CHECK-DAG: %[[WORLD:.*]] = mpi.comm_world
// CHECK: mpi.allreduce(%[[BUFFER]], %[[OUT]], MPI_MAX, %[[WORLD]]) : memref<4xf32>, memref<4xf32>
// CHECK: bufferization.to_tensor %[[OUT]] restrict writable
func.func @all_reduce(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coll.all_reduce max %a over #mesh ["x", "y"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Values of a group of devices are gathered and combined.
// CHECK-LABEL: func.func @group
// CHECK: mpi.comm_rank
// CHECK: mpi.send
// CHECK: linalg.reduce { arith.maximumf } {{.*}} dimensions = [0]
func.func @group(%a: tensor<f32>) -> tensor<f32> {
  %0 = coll.all_reduce max %a over #mesh ["y"] : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @all_gather
// CHECK: scf.for
// CHECK: mpi.send
// CHECK: mpi.recv
// CHECK: mpi.recv
// CHECK: mpi.send
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice {{.*}} : tensor<4x9xf32> to tensor<4x7xf32>
func.func @all_gather(%a: tensor<4x3xf32>) -> tensor<4x7xf32> {
  %0 = coll.all_gather %a dim 1 over #mesh ["y"] : tensor<4x3xf32> -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// Coordinate 0 alone keeps the value.
// CHECK-LABEL: func.func @make_partial
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<4xf32>
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: arith.select %[[FIRST]], %arg0, %[[ZERO]]
func.func @make_partial(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coll.make_partial sum %a over #mesh ["y"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @moves
// CHECK-NOT: coll.
// CHECK: return
func.func @moves(%a: tensor<4x6xf32>, %p: tensor<4x6xi64>) -> (tensor<i64>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x12xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<8x2xf32>) {
  %0 = coll.coordinate over #mesh ["x"] : tensor<i64>
  %1 = coll.slice %a dim 0 over #mesh ["x"] : tensor<4x6xf32> -> tensor<2x6xf32>
  %2 = coll.reduce_scatter sum %a dim 0 over #mesh ["x"] : tensor<4x6xf32> -> tensor<2x6xf32>
  %3 = coll.all_to_all %a split 0 concat 1 over #mesh ["x"] : tensor<4x6xf32> -> tensor<2x12xf32>
  %4 = coll.fetch %a dim 0 of 8 at block 4 step 1 offset -1 divisor 1 modulus 8 over #mesh ["x"] : tensor<4x6xf32> -> tensor<6x6xf32>
  %5 = coll.pick %a at %p dim 0 over #mesh ["x"] : tensor<4x6xf32>, tensor<4x6xi64> -> tensor<4x6xf32>
  %6 = coll.collective_permute %a sources [1, -1] over #mesh ["x"] : tensor<4x6xf32> -> tensor<4x6xf32>
  %7 = coll.exchange %a of [8, 6] from #rows to #columns : tensor<4x6xf32> -> tensor<8x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<i64>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x12xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<8x2xf32>
}

// -----

#mesh = #weft.mesh<"x"=2>
func.func @half(%a: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{mpi sends no elements of 'f16'; convert them to f32 or i32 before}}
  %0 = coll.all_reduce max %a over #mesh ["x"] : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

#mesh = #weft.mesh<"x"=2>
func.func @unsigned(%a: tensor<4xui32>) -> tensor<4xui32> {
  // expected-error @below {{mpi sends no elements of 'ui32'; convert them to f32 or i32 before}}
  %0 = coll.all_reduce max %a over #mesh ["x"] : tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

#mesh = #weft.mesh<"x"=2, devices = [1, 0]>
func.func @order(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{device 1 is at position 0 of the mesh, but a rank is a position; leave the list of devices out}}
  %0 = coll.all_reduce max %a over #mesh ["x"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
