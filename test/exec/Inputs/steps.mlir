// Steps of a linear model in the form that weft.trace writes.
module @steps {
  func.func public @train(%w: tensor<3x1xf32> {tf.aliasing_output = 0 : i32, weft.name = "d/kernel", weft.role = "weight",
        weft.facts = "{\22initializer\22: {\22class_name\22: \22Ones\22, \22config\22: {}}, \22saved\22: \22layers/dense/vars/0\22}"},
      %x: tensor<4x3xf32> {weft.name = "x", weft.role = "input"}, %y: tensor<4x1xf32> {weft.name = "y", weft.role = "label"})
      -> (tensor<3x1xf32> {weft.name = "d/kernel", weft.role = "weight"},
          tensor<f32> {weft.name = "metrics/loss", weft.role = "metric"}) attributes {weft.step = "train", weft.batch = 4 : i64} {
    %loss, %error = call @loss(%w, %x, %y) : (tensor<3x1xf32>, tensor<4x3xf32>, tensor<4x1xf32>) -> (tensor<f32>, tensor<4x1xf32>)
    %gradient = stablehlo.dot_general %x, %error, contracting_dims = [0] x [0] : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>
    %rate = stablehlo.constant dense<0.125> : tensor<3x1xf32>
    %change = stablehlo.multiply %rate, %gradient : tensor<3x1xf32>
    %new = stablehlo.subtract %w, %change : tensor<3x1xf32>
    return %new, %loss : tensor<3x1xf32>, tensor<f32>
  }
  func.func public @predict(%w: tensor<3x1xf32> {weft.name = "d/kernel", weft.role = "weight",
        weft.facts = "{\22saved\22: \22layers/dense/vars/0\22}"}, %x: tensor<4x3xf32> {weft.name = "x", weft.role = "input"})
      -> (tensor<4x1xf32> {weft.name = "y/one", weft.role = "output"}, tensor<4x1xf32> {weft.name = "y/two", weft.role = "output"})
      attributes {weft.step = "predict", weft.batch = 4 : i64} {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x1xf32>) -> tensor<4x1xf32>
    %twice = stablehlo.add %y, %y : tensor<4x1xf32>
    return %y, %twice : tensor<4x1xf32>, tensor<4x1xf32>
  }
  func.func private @loss(%w: tensor<3x1xf32>, %x: tensor<4x3xf32>, %y: tensor<4x1xf32>) -> (tensor<f32>, tensor<4x1xf32>) {
    %out = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x1xf32>) -> tensor<4x1xf32>
    %error = stablehlo.subtract %out, %y : tensor<4x1xf32>
    %squares = stablehlo.multiply %error, %error : tensor<4x1xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
    return %sum, %error : tensor<f32>, tensor<4x1xf32>
  }
}
