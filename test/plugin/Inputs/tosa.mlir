// tosa on a grid of 2x2: 7 summands on two devices, a bias that is broadcast, a
// maximum and a sum over the uneven dimension, a reshape.
module attributes {mpi.dlti = #dlti.map<"MPI:Implementation" = "OpenMPI">} {
shard.grid @grid(shape = 2x2)

func.func @result() -> (tensor<8x3xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>) {
  %tenth = arith.constant 0.1 : f32
  %ea = tensor.empty() : tensor<2x4x7xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
    outs(%ea : tensor<2x4x7xf32>) {
    ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %m = arith.addi %n, %i : index
    %twice = arith.addi %j, %j : index
    %s = arith.subi %m, %twice : index
    %k = arith.index_cast %s : index to i32
    %f = arith.sitofp %k : i32 to f32
    %v = arith.mulf %f, %tenth : f32
    linalg.yield %v : f32
  } -> tensor<2x4x7xf32>
  %cut = shard.sharding @grid split_axes = [[], [0], [1]] : !shard.sharding
  %x = shard.shard %a to %cut : tensor<2x4x7xf32>
  %w = "tosa.const"() <{values = dense<0.25> : tensor<2x7x3xf32>}> : () -> tensor<2x7x3xf32>
  %bias = "tosa.const"() <{values = dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>}> : () -> tensor<1x1x3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<2x4x7xf32>, tensor<2x7x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x3xf32>
  %1 = tosa.add %0, %bias : (tensor<2x4x3xf32>, tensor<1x1x3xf32>) -> tensor<2x4x3xf32>
  %2 = tosa.tanh %1 : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %shape = tosa.const_shape {values = dense<[8, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %3 = tosa.reshape %2, %shape : (tensor<2x4x3xf32>, !tosa.shape<2>) -> tensor<8x3xf32>
  %4 = tosa.reduce_max %x {axis = 2 : i32} : (tensor<2x4x7xf32>) -> tensor<2x4x1xf32>
  %5 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<2x4x7xf32>) -> tensor<2x4x1xf32>
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %r0 = shard.shard %3 to %whole : tensor<8x3xf32>
  %r1 = shard.shard %4 to %whole : tensor<2x4x1xf32>
  %r2 = shard.shard %5 to %whole : tensor<2x4x1xf32>
  return %r0, %r1, %r2 : tensor<8x3xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>
}

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  mpi.init
  %r:3 = call @result() : () -> (tensor<8x3xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>)
  %b0 = bufferization.to_buffer %r#0 : tensor<8x3xf32> to memref<8x3xf32>
  %b1 = bufferization.to_buffer %r#1 : tensor<2x4x1xf32> to memref<2x4x1xf32>
  %b2 = bufferization.to_buffer %r#2 : tensor<2x4x1xf32> to memref<2x4x1xf32>
  %u0 = memref.cast %b0 : memref<8x3xf32> to memref<*xf32>
  %u1 = memref.cast %b1 : memref<2x4x1xf32> to memref<*xf32>
  %u2 = memref.cast %b2 : memref<2x4x1xf32> to memref<*xf32>
  call @printMemrefF32(%u0) : (memref<*xf32>) -> ()
  call @printMemrefF32(%u1) : (memref<*xf32>) -> ()
  call @printMemrefF32(%u2) : (memref<*xf32>) -> ()
  mpi.finalize
  return
}
}
