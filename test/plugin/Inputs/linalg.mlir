// A program of upstream's dialects for a grid of 2x2, annotated by the shard
// dialect: a loop of matmuls whose init is not zero, and a sum of exponentials
// over a dimension of 7, of which two devices have 4 and 3. Its data are made
// of positions, so each device makes its part.
module attributes {mpi.dlti = #dlti.map<"MPI:Implementation" = "OpenMPI">} {
shard.grid @grid(shape = 2x2)

func.func @result() -> (tensor<6x5xf32>, tensor<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %tenth = arith.constant 0.1 : f32
  %ea = tensor.empty() : tensor<6x7xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    outs(%ea : tensor<6x7xf32>) {
    ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %twice = arith.addi %j, %j : index
    %s = arith.subi %i, %twice : index
    %k = arith.index_cast %s : index to i32
    %f = arith.sitofp %k : i32 to f32
    %v = arith.mulf %f, %tenth : f32
    linalg.yield %v : f32
  } -> tensor<6x7xf32>
  %both = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
  %x = shard.shard %a to %both : tensor<6x7xf32>
  %rows = tensor.extract_slice %x[1, 0] [5, 7] [1, 1] : tensor<6x7xf32> to tensor<5x7xf32>
  %w = shard.shard %rows to %both : tensor<5x7xf32>
  %ew = tensor.empty() : tensor<7x5xf32>
  %t = linalg.transpose ins(%w : tensor<5x7xf32>) outs(%ew : tensor<7x5xf32>) permutation = [1, 0]
  %init = arith.constant dense<1.0> : tensor<6x5xf32>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %init) -> tensor<6x5xf32> {
    %next = linalg.matmul ins(%x, %t : tensor<6x7xf32>, tensor<7x5xf32>) outs(%acc : tensor<6x5xf32>) -> tensor<6x5xf32>
    scf.yield %next : tensor<6x5xf32>
  }
  %exps = math.exp %x : tensor<6x7xf32>
  %e = shard.shard %exps to %both : tensor<6x7xf32>
  %zero = arith.constant dense<0.5> : tensor<6xf32>
  %z = linalg.reduce ins(%e : tensor<6x7xf32>) outs(%zero : tensor<6xf32>) dimensions = [1]
    (%in: f32, %sofar: f32) {
      %more = arith.addf %in, %sofar : f32
      linalg.yield %more : f32
    }
  %whole = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %r0 = shard.shard %y to %whole : tensor<6x5xf32>
  %r1 = shard.shard %z to %whole : tensor<6xf32>
  return %r0, %r1 : tensor<6x5xf32>, tensor<6xf32>
}

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  mpi.init
  %r:2 = call @result() : () -> (tensor<6x5xf32>, tensor<6xf32>)
  %b0 = bufferization.to_buffer %r#0 : tensor<6x5xf32> to memref<6x5xf32>
  %b1 = bufferization.to_buffer %r#1 : tensor<6xf32> to memref<6xf32>
  %u0 = memref.cast %b0 : memref<6x5xf32> to memref<*xf32>
  %u1 = memref.cast %b1 : memref<6xf32> to memref<*xf32>
  call @printMemrefF32(%u0) : (memref<*xf32>) -> ()
  call @printMemrefF32(%u1) : (memref<*xf32>) -> ()
  mpi.finalize
  return
}
}
