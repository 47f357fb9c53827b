// Scatters by warps that own parts of a result: into zeros, in place, into one dimension, with updates for each row; and the
// gradient of a loss at labels, which is computed by element.
func.func public @main(%ids: tensor<200x1xi32>, %u: tensor<200x48xf32>, %x: tensor<37x48xf32>, %h: tensor<300x1xi32>, %o: tensor<300xf32>, %y: tensor<5x41xf32>, %yi: tensor<5x7x1xi32>, %yu: tensor<5x7xf32>, %labels: tensor<6x1xi32>, %g: tensor<6xf32>, %l: tensor<6x33xf32>) -> (tensor<6x33xf32>, tensor<37x48xf32>, tensor<37x48xf32>, tensor<19xf32>, tensor<5x41xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<37x48xf32>
  %a = "stablehlo.scatter"(%z, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<37x48xf32>, tensor<200x1xi32>, tensor<200x48xf32>) -> tensor<37x48xf32>
  %b = "stablehlo.scatter"(%x, %ids, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<37x48xf32>, tensor<200x1xi32>, tensor<200x48xf32>) -> tensor<37x48xf32>
  %hz = stablehlo.constant dense<0.0> : tensor<19xf32>
  %c = "stablehlo.scatter"(%hz, %h, %o) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<19xf32>, tensor<300x1xi32>, tensor<300xf32>) -> tensor<19xf32>
  %y2 = stablehlo.multiply %y, %y : tensor<5x41xf32>
  %d = "stablehlo.scatter"(%y2, %yi, %yu) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<5x41xf32>, tensor<5x7x1xi32>, tensor<5x7xf32>) -> tensor<5x41xf32>
  %lz = stablehlo.constant dense<0.0> : tensor<6x33xf32>
  %e = "stablehlo.scatter"(%lz, %labels, %g) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x33xf32>, tensor<6x1xi32>, tensor<6xf32>) -> tensor<6x33xf32>
  %m = stablehlo.multiply %e, %l : tensor<6x33xf32>
  return %m, %a, %b, %c, %d : tensor<6x33xf32>, tensor<37x48xf32>, tensor<37x48xf32>, tensor<19xf32>, tensor<5x41xf32>
}
