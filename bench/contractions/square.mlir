// y = x w of $size x $size: tiles of $rows x $columns in registers, the columns of w
// packed in panels of $columns, x read in place, $row_block tiles of rows and $depth
// steps of the contraction at a time (which stay in a cache), four in a row.
// The script fills in the sizes.
!given = memref<${size}x${size}xf32>
!matrix = tensor<${size}x${size}xf32>
!rows = tensor<${row_tiles}x${rows}x${size}xf32>
!columns = tensor<${size}x${column_tiles}x${columns}xf32>
!panels = tensor<${column_tiles}x${size}x${columns}xf32>
!tiles = tensor<${row_tiles}x${rows}x${column_tiles}x${columns}xf32>
!op = !transform.any_op

module attributes {transform.with_named_sequence} {
func.func @kernel(%X: !given {llvm.noalias}, %W: !given {llvm.noalias}, %Y: !given {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %X restrict : !given to !matrix
  %w = bufferization.to_tensor %W restrict : !given to !matrix
  %y = bufferization.to_tensor %Y restrict writable : !given to !matrix
  %xt = tensor.expand_shape %x [[0, 1], [2]] output_shape [$row_tiles, $rows, $size] : !matrix into !rows
  %wt = tensor.expand_shape %w [[0], [1, 2]] output_shape [$size, $column_tiles, $columns] : !matrix into !columns
  %empty = tensor.empty() : !panels
  %panels = linalg.transpose ins(%wt : !columns) outs(%empty : !panels) permutation = [1, 0, 2]
  %yt = tensor.expand_shape %y [[0, 1], [2, 3]] output_shape [$row_tiles, $rows, $column_tiles, $columns] : !matrix into !tiles
  %filled = linalg.fill ins(%zero : f32) outs(%yt : !tiles) -> !tiles
  %sums = linalg.generic {
      indexing_maps = [affine_map<(ro, co, ri, ci, k) -> (ro, ri, k)>, affine_map<(ro, co, ri, ci, k) -> (co, k, ci)>,
                       affine_map<(ro, co, ri, ci, k) -> (ro, ri, co, ci)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%xt, %panels : !rows, !panels) outs(%filled : !tiles) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> !tiles
  %r = tensor.collapse_shape %sums [[0, 1], [2, 3]] : !tiles into !matrix
  bufferization.materialize_in_destination %r in restrict writable %Y : (!matrix, !given) -> ()
  return
}

transform.named_sequence @__transform_main(%m: !op) {
  %g = transform.structured.match ops{["linalg.generic"]} in %m : (!op) -> !op
  %pack = transform.structured.match ops{["linalg.transpose"]} in %m : (!op) -> !op
  %blocks, %b:2 = transform.structured.tile_using_for %g tile_sizes [$row_block, 0, 0, 0, $depth] interchange = [4, 0, 1, 2, 3] : (!op) -> (!op, !op, !op)
  %tiles, %t:2 = transform.structured.tile_using_for %blocks tile_sizes [1, 1, 0, 0, 0] interchange = [1, 0, 2, 3, 4] : (!op) -> (!op, !op, !op)
  %packed, %q:2 = transform.structured.tile_using_for %pack tile_sizes [1, 1, 0] interchange = [1, 0, 2] : (!op) -> (!op, !op, !op)
  transform.structured.vectorize %packed : !op
  %fill = transform.structured.match ops{["linalg.fill"]} in %m : (!op) -> !op
  %fills, %l:3 = transform.structured.tile_using_for %fill tile_sizes [1, 1, 1, 0] : (!op) -> (!op, !op, !op, !op)
  transform.structured.vectorize %fills : !op
  %f = transform.structured.match ops{["func.func"]} in %m : (!op) -> !op
  transform.apply_patterns to %f {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.canonicalization
  } : !op
  %tile = transform.structured.match ops{["linalg.generic"]} in %m : (!op) -> !op
  %step, %s = transform.structured.tile_using_for %tile tile_sizes [0, 0, 4] : (!op) -> (!op, !op)
  transform.structured.vectorize %step {create_named_contraction} : !op
  %whole = transform.structured.match ops{["func.func"]} in %m : (!op) -> !op
  transform.apply_patterns to %whole {
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } : !op
  transform.yield
}
}
