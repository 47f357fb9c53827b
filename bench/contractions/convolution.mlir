// A convolution of 3 x 3, stride 1, zeros around: the input is copied into a frame of zeros and
// then read as rows that overlap: the three pixels x $features features that a result meets in one row
// of the window lie side by side, $reach of them. Tiles of $rows pixels x $columns results are in
// registers. The script fills in the sizes.
!given = memref<${images}x${height}x${width}x${features}xf32>
!frame = memref<${images}x${frame_height}x${frame_width}x${features}xf32>
!inner = memref<${images}x${height}x${width}x${features}xf32, strided<[$frame_image, $frame_row, $features, 1], offset: $frame_first>>
!view = memref<${images}x${height}x3x${width}x${reach}xf32, strided<[$frame_image, $frame_row, $frame_row, $features, 1]>>
!x = tensor<${images}x${height}x3x${width}x${reach}xf32>
!w = tensor<3x${reach}x${results}xf32>
!y = tensor<${images}x${height}x${width}x${results}xf32>
!op = !transform.any_op

module attributes {transform.with_named_sequence} {
func.func @kernel(%X: !given {llvm.noalias}, %W: memref<3x${reach}x${results}xf32> {llvm.noalias},
                  %Y: memref<${images}x${height}x${width}x${results}xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  %frame = memref.alloc() {alignment = 64 : i64} : !frame
  linalg.fill ins(%zero : f32) outs(%frame : !frame)
  %inner = memref.subview %frame[0, 1, 1, 0] [$images, $height, $width, $features] [1, 1, 1, 1] : !frame to !inner
  linalg.copy ins(%X : !given) outs(%inner : !inner)
  %view = memref.reinterpret_cast %frame to offset: [0], sizes: [$images, $height, 3, $width, $reach],
      strides: [$frame_image, $frame_row, $frame_row, $features, 1] : !frame to !view
  %x = bufferization.to_tensor %view restrict : !view to !x
  %w = bufferization.to_tensor %W restrict : memref<3x${reach}x${results}xf32> to !w
  %y = bufferization.to_tensor %Y restrict writable : memref<${images}x${height}x${width}x${results}xf32> to !y
  %filled = linalg.fill ins(%zero : f32) outs(%y : !y) -> !y
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, h, v, f, i, k) -> (n, h, i, v, k)>, affine_map<(n, h, v, f, i, k) -> (i, k, f)>,
                       affine_map<(n, h, v, f, i, k) -> (n, h, v, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : !x, !w) outs(%filled : !y) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> !y
  bufferization.materialize_in_destination %r in restrict writable %Y : (!y, memref<${images}x${height}x${width}x${results}xf32>) -> ()
  memref.dealloc %frame : !frame
  return
}

transform.named_sequence @__transform_main(%m: !op) {
  %g = transform.structured.match ops{["linalg.generic"]} in %m : (!op) -> !op
  %tiles, %t:4 = transform.structured.tile_using_for %g tile_sizes [1, 1, $rows, $columns, 0, 0] interchange = [0, 1, 3, 2, 4, 5]
      : (!op) -> (!op, !op, !op, !op, !op)
  %row, %r = transform.structured.tile_using_for %tiles tile_sizes [0, 0, 0, 0, 1, 0] : (!op) -> (!op, !op)
  %f = transform.structured.match ops{["func.func"]} in %m : (!op) -> !op
  transform.apply_patterns to %f {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.canonicalization
  } : !op
  %tile = transform.structured.match ops{["linalg.generic"]} in %m : (!op) -> !op
  %step, %s = transform.structured.tile_using_for %tile tile_sizes [0, 0, 4] : (!op) -> (!op, !op)
  transform.structured.vectorize %step {create_named_contraction} : !op
  %fill = transform.structured.match ops{["linalg.fill"]} in %m : (!op) -> !op
  transform.foreach %fill : !op {
  ^bb0(%one: !op):
    %fills, %l:3 = transform.structured.tile_using_for %one tile_sizes [1, 1, 1, 0] : (!op) -> (!op, !op, !op, !op)
    transform.structured.vectorize %fills : !op
  }
  %copy = transform.structured.match ops{["linalg.copy"]} in %m : (!op) -> !op
  %copies, %c:3 = transform.structured.tile_using_for %copy tile_sizes [1, 1, 1, 0] : (!op) -> (!op, !op, !op, !op)
  transform.structured.vectorize %copies : !op
  %whole = transform.structured.match ops{["func.func"]} in %m : (!op) -> !op
  transform.apply_patterns to %whole {
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } : !op
  transform.yield
}
}
