// Kernels as the fixtures have them, with sizes of several warps and blocks.

// RMSprop on a weight: elementwise, in place.
func.func private @update(%v: tensor<37x10xf32>, %g: tensor<37x10xf32>, %lr: tensor<f32>, %w: tensor<37x10xf32>) -> (tensor<37x10xf32>, tensor<37x10xf32>) attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.constant dense<0.9> : tensor<37x10xf32>
  %1 = weft.mul %v, %0 : tensor<37x10xf32>
  %2 = weft.mul %g, %g : tensor<37x10xf32>
  %3 = weft.constant dense<0.1> : tensor<37x10xf32>
  %4 = weft.mul %2, %3 : tensor<37x10xf32>
  %5 = weft.add %1, %4 : tensor<37x10xf32>
  %6 = weft.constant dense<1.0e-07> : tensor<37x10xf32>
  %7 = weft.add %5, %6 : tensor<37x10xf32>
  %8 = weft.broadcast %lr dims [] : tensor<f32> -> tensor<37x10xf32>
  %9 = weft.mul %8, %g : tensor<37x10xf32>
  %10 = weft.sqrt %7 : tensor<37x10xf32>
  %11 = weft.div %9, %10 : tensor<37x10xf32>
  %12 = weft.sub %w, %11 : tensor<37x10xf32>
  return %5, %12 : tensor<37x10xf32>, tensor<37x10xf32>
}

// relu(x + bias) and a mask of its positive elements: a dimension is broadcast.
func.func private @bias_relu(%x: tensor<16x20xf32>, %b: tensor<20xf32>) -> (tensor<16x20xf32>, tensor<16x20xi1>) attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.broadcast %b dims [1] : tensor<20xf32> -> tensor<16x20xf32>
  %1 = weft.add %x, %0 : tensor<16x20xf32>
  %2 = weft.relu %1 : tensor<16x20xf32>
  %3 = weft.constant dense<0.0> : tensor<16x20xf32>
  %4 = weft.compare gt %1, %3 : tensor<16x20xf32>, tensor<16x20xf32> -> tensor<16x20xi1>
  return %2, %4 : tensor<16x20xf32>, tensor<16x20xi1>
}

// The seed generator's next state: constant data.
func.func private @next_seed(%s: tensor<2xui32>) -> tensor<2xui32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.constant dense<[0, 1]> : tensor<2xui32>
  %1 = weft.add %s, %0 : tensor<2xui32>
  return %1 : tensor<2xui32>
}

// The softmax of rows: two reductions and elementwise ops.
func.func private @softmax(%x: tensor<13x70xf32>) -> tensor<13x70xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce max %x dims [1] : tensor<13x70xf32> -> tensor<13xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<13xf32> -> tensor<13x70xf32>
  %2 = weft.sub %x, %1 : tensor<13x70xf32>
  %3 = weft.exp %2 : tensor<13x70xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<13x70xf32> -> tensor<13xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<13xf32> -> tensor<13x70xf32>
  %6 = weft.div %3, %5 : tensor<13x70xf32>
  return %6 : tensor<13x70xf32>
}

// Accuracy: the first of the largest logits of each row, against the label.
func.func private @is_right(%x: tensor<3x4x10xf32>, %label: tensor<3x4xi32>) -> tensor<3x4xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce max %x dims [2] : tensor<3x4x10xf32> -> tensor<3x4xf32>
  %1 = weft.broadcast %0 dims [0, 1] : tensor<3x4xf32> -> tensor<3x4x10xf32>
  %2 = weft.compare eq %x, %1 : tensor<3x4x10xf32>, tensor<3x4x10xf32> -> tensor<3x4x10xi1>
  %3 = weft.iota dim 2 : tensor<3x4x10xi32>
  %4 = weft.constant dense<10> : tensor<3x4x10xi32>
  %5 = weft.select %2, %3, %4 : tensor<3x4x10xi1>, tensor<3x4x10xi32>, tensor<3x4x10xi32> -> tensor<3x4x10xi32>
  %6 = weft.reduce min %5 dims [2] : tensor<3x4x10xi32> -> tensor<3x4xi32>
  %7 = weft.compare eq %label, %6 : tensor<3x4xi32>, tensor<3x4xi32> -> tensor<3x4xi1>
  %8 = weft.convert %7 : tensor<3x4xi1> -> tensor<3x4xf32>
  return %8 : tensor<3x4xf32>
}

// A mean of everything: one row.
func.func private @mean(%x: tensor<5x9xf32>) -> tensor<f32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [0, 1] : tensor<5x9xf32> -> tensor<f32>
  %1 = weft.constant dense<45.0> : tensor<f32>
  %2 = weft.div %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// A flag for each row with an element below -2: lanes exchange bits.
func.func private @any_negative(%x: tensor<6x40xf32>) -> tensor<6xi1> attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.constant dense<-2.0> : tensor<6x40xf32>
  %1 = weft.compare lt %x, %0 : tensor<6x40xf32>, tensor<6x40xf32> -> tensor<6x40xi1>
  %2 = weft.reduce or %1 dims [1] : tensor<6x40xi1> -> tensor<6xi1>
  return %2 : tensor<6xi1>
}

// Sums of a wider type than their elements.
func.func private @wide_sums(%x: tensor<6x40xbf16>, %i: tensor<6x40xi8>) -> (tensor<6xf32>, tensor<6xi32>) attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.reduce sum %x dims [1] : tensor<6x40xbf16> -> tensor<6xf32>
  %1 = weft.reduce sum %i dims [1] : tensor<6x40xi8> -> tensor<6xi32>
  return %0, %1 : tensor<6xf32>, tensor<6xi32>
}

// Random bits as Keras on JAX draws them, and a transpose.
func.func private @bits(%key: tensor<2xui32>) -> tensor<5x7xui32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.rng_bits %key : (tensor<2xui32>) -> tensor<7x5xui32>
  %1 = weft.transpose %0 [1, 0] : tensor<7x5xui32> -> tensor<5x7xui32>
  return %1 : tensor<5x7xui32>
}

// Rows of a table, from the last column to the first and moved on by two: the
// index is clamped into the table.
func.func private @rows_of(%table: tensor<5x6xf32>, %ids: tensor<7xi32>) -> tensor<7x6xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.gather %table at %ids {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 6>} : tensor<5x6xf32>, tensor<7xi32> -> tensor<7x6xf32>
  %1 = weft.reverse %0 dims [1] : tensor<7x6xf32>
  %2 = weft.roll %1 by [0, 2] : tensor<7x6xf32>
  return %2 : tensor<7x6xf32>
}
