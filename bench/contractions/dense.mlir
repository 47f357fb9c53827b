// y = max(x w + b, 0) of x [$size x $depth] and w [$depth x $width]: tiles of
// $rows x $columns, whose bias and maximum are made before they leave the registers.
// The columns of w are packed in panels of $columns; x is read in place, four
// steps of the contraction in a row. The script fills in the sizes.
!x = tensor<${size}x${depth}xf32>
!w = tensor<${depth}x${width}xf32>
!b = tensor<${width}xf32>
!y = tensor<${size}x${width}xf32>
!rows = tensor<${row_tiles}x${rows}x${depth}xf32>
!columns = tensor<${depth}x${column_tiles}x${columns}xf32>
!panels = tensor<${column_tiles}x${depth}x${columns}xf32>
!biases = tensor<${column_tiles}x${columns}xf32>
!tiles = tensor<${row_tiles}x${rows}x${column_tiles}x${columns}xf32>
!op = !transform.any_op

module attributes {transform.with_named_sequence} {
func.func @kernel(%X: memref<${size}x${depth}xf32> {llvm.noalias}, %W: memref<${depth}x${width}xf32> {llvm.noalias},
                  %B: memref<${width}xf32> {llvm.noalias}, %Y: memref<${size}x${width}xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %X restrict : memref<${size}x${depth}xf32> to !x
  %w = bufferization.to_tensor %W restrict : memref<${depth}x${width}xf32> to !w
  %b = bufferization.to_tensor %B restrict : memref<${width}xf32> to !b
  %y = bufferization.to_tensor %Y restrict writable : memref<${size}x${width}xf32> to !y
  %xt = tensor.expand_shape %x [[0, 1], [2]] output_shape [$row_tiles, $rows, $depth] : !x into !rows
  %wt = tensor.expand_shape %w [[0], [1, 2]] output_shape [$depth, $column_tiles, $columns] : !w into !columns
  %bt = tensor.expand_shape %b [[0, 1]] output_shape [$column_tiles, $columns] : !b into !biases
  %empty = tensor.empty() : !panels
  %panels = linalg.transpose ins(%wt : !columns) outs(%empty : !panels) permutation = [1, 0, 2]
  %yt = tensor.expand_shape %y [[0, 1], [2, 3]] output_shape [$row_tiles, $rows, $column_tiles, $columns] : !y into !tiles
  %own = tensor.empty() : !tiles
  %filled = linalg.fill ins(%zero : f32) outs(%own : !tiles) -> !tiles
  %sums = linalg.generic {
      indexing_maps = [affine_map<(ro, co, ri, ci, k) -> (ro, ri, k)>, affine_map<(ro, co, ri, ci, k) -> (co, k, ci)>,
                       affine_map<(ro, co, ri, ci, k) -> (ro, ri, co, ci)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%xt, %panels : !rows, !panels) outs(%filled : !tiles) attrs = {contraction} {
    ^bb0(%l: f32, %r: f32, %c: f32):
      %p = arith.mulf %l, %r : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> !tiles
  %active = linalg.generic {
      indexing_maps = [affine_map<(ro, co, ri, ci) -> (ro, ri, co, ci)>, affine_map<(ro, co, ri, ci) -> (co, ci)>,
                       affine_map<(ro, co, ri, ci) -> (ro, ri, co, ci)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sums, %bt : !tiles, !biases) outs(%yt : !tiles) attrs = {epilogue} {
    ^bb0(%s: f32, %bias: f32, %o: f32):
      %a = arith.addf %s, %bias : f32
      %r = arith.maximumf %a, %zero : f32
      linalg.yield %r : f32
  } -> !tiles
  %r = tensor.collapse_shape %active [[0, 1], [2, 3]] : !tiles into !y
  bufferization.materialize_in_destination %r in restrict writable %Y : (!y, memref<${size}x${width}xf32>) -> ()
  return
}

transform.named_sequence @__transform_main(%m: !op) {
  %e = transform.structured.match attributes {epilogue} in %m : (!op) -> !op
  %g = transform.structured.match attributes {contraction} in %m : (!op) -> !op
  %fill = transform.structured.match ops{["linalg.fill"]} in %m : (!op) -> !op
  %pack = transform.structured.match ops{["linalg.transpose"]} in %m : (!op) -> !op
  %tiles, %t:2 = transform.structured.tile_using_for %e tile_sizes [1, 1, 0, 0] interchange = [1, 0, 2, 3] : (!op) -> (!op, !op, !op)
  %sums, %t1 = transform.structured.fuse_into_containing_op %g into %t#1 : (!op, !op) -> (!op, !op)
  %fills, %t2 = transform.structured.fuse_into_containing_op %fill into %t1 : (!op, !op) -> (!op, !op)
  %packed, %q:2 = transform.structured.tile_using_for %pack tile_sizes [1, 1, 0] interchange = [1, 0, 2] : (!op) -> (!op, !op, !op)
  transform.structured.vectorize %packed : !op
  %f = transform.structured.match ops{["func.func"]} in %m : (!op) -> !op
  transform.apply_patterns to %f {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.canonicalization
  } : !op
  %both = transform.structured.match ops{["linalg.generic"]} in %m : (!op) -> !op
  %tile, %last = transform.split_handle %both : (!op) -> (!op, !op)
  %step, %s = transform.structured.tile_using_for %tile tile_sizes [0, 0, 4] : (!op) -> (!op, !op)
  transform.structured.vectorize %step {create_named_contraction} : !op
  %zeros = transform.structured.match ops{["linalg.fill"]} in %m : (!op) -> !op
  transform.structured.vectorize %zeros : !op
  transform.structured.vectorize %last : !op
  %whole = transform.structured.match ops{["func.func"]} in %m : (!op) -> !op
  transform.apply_patterns to %whole {
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } : !op
  transform.yield
}
}
