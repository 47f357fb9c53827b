// A loop whose end the device decides: square roots by Newton's method, until no element changes by more than 1e-4.
func.func public @main(%x: tensor<300xf32>) -> (tensor<300xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1.0> : tensor<300xf32>
  %half = stablehlo.constant dense<0.5> : tensor<300xf32>
  %far = stablehlo.constant dense<1.0> : tensor<f32>
  %near = stablehlo.constant dense<1.0e-4> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %least = stablehlo.constant dense<0.0> : tensor<f32>
  %r:3 = stablehlo.while(%y = %one, %change = %far, %n = %none) : tensor<300xf32>, tensor<f32>, tensor<i32>
    cond {
      %more = stablehlo.compare GT, %change, %near : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %q = stablehlo.divide %x, %y : tensor<300xf32>
      %s = stablehlo.add %y, %q : tensor<300xf32>
      %next = stablehlo.multiply %s, %half : tensor<300xf32>
      %d = stablehlo.subtract %next, %y : tensor<300xf32>
      %a = stablehlo.abs %d : tensor<300xf32>
      %largest = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<300xf32>, tensor<f32>) -> tensor<f32>
      %m = stablehlo.add %n, %step : tensor<i32>
      stablehlo.return %next, %largest, %m : tensor<300xf32>, tensor<f32>, tensor<i32>
    }
  return %r#0, %r#2 : tensor<300xf32>, tensor<i32>
}
