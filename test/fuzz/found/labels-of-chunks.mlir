// RUN: weft-fuzz --program %s
// Interleaved stages, with a loss on an earlier one: labels are read by the chunk that needs them.

#mesh = #weft.mesh<"stage"=2>
module attributes {weft.mesh = #mesh, weft.fuzz = "inputs=128", weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = "interleaved", chunks = 2 : i64}} {
func.func @main(%x0: tensor<5x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>, weft.role = "input"}, %w1: tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>, weft.role = "weight", weft.donated = 0 : i64}, %w2: tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "weight", weft.donated = 1 : i64}, %b3: tensor<3xf32> {weft.layout = #weft.layout<#mesh, [{}], at = {"stage" = 1}>, weft.role = "weight", weft.donated = 2 : i64}, %w4: tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>, weft.role = "weight", weft.donated = 3 : i64}, %w5: tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "weight", weft.donated = 4 : i64}, %y6: tensor<5x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "label"}, %y7: tensor<5x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "label"}) -> (tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>}, tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>}, tensor<3xf32> {weft.layout = #weft.layout<#mesh, [{}], at = {"stage" = 1}>}, tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>}, tensor<3x3xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>}, tensor<f32>, tensor<5x3xf32>) {
  %l:7 = weft.value_and_grad @loss(%x0, %w1, %w2, %b3, %w4, %w5, %y6, %y7) wrt [1, 2, 3, 4, 5] : (tensor<5x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<f32>, tensor<5x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %u1 = weft.sub %w1, %l#2 : tensor<3x3xf32>
  %u2 = weft.sub %w2, %l#3 : tensor<3x3xf32>
  %u3 = weft.sub %b3, %l#4 : tensor<3xf32>
  %u4 = weft.sub %w4, %l#5 : tensor<3x3xf32>
  %u5 = weft.sub %w5, %l#6 : tensor<3x3xf32>
  return %u1, %u2, %u3, %u4, %u5, %l#0, %l#1 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<5x3xf32>
}
func.func private @loss(%x0: tensor<5x3xf32>, %w1: tensor<3x3xf32>, %w2: tensor<3x3xf32>, %b3: tensor<3xf32>, %w4: tensor<3x3xf32>, %w5: tensor<3x3xf32>, %y6: tensor<5x3xf32>, %y7: tensor<5x3xf32>) -> (tensor<f32>, tensor<5x3xf32>) {
  %v0 = weft.dot %x0, %w1 contract [1] x [0] : tensor<5x3xf32>, tensor<3x3xf32> -> tensor<5x3xf32>
  %v1 = weft.constant dense<-3.0> : tensor<5x3xf32>
  %v2 = weft.constant dense<3.0> : tensor<5x3xf32>
  %v3 = weft.max %v0, %v1 : tensor<5x3xf32>
  %v4 = weft.min %v3, %v2 : tensor<5x3xf32>
  %v5 = weft.constrain %w1 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<3x3xf32> -> tensor<3x3xf32>
  %v6 = weft.dot %v4, %v5 contract [1] x [0] : tensor<5x3xf32>, tensor<3x3xf32> -> tensor<5x3xf32>
  %v7 = weft.constant dense<-3.0> : tensor<5x3xf32>
  %v8 = weft.constant dense<3.0> : tensor<5x3xf32>
  %v9 = weft.max %v6, %v7 : tensor<5x3xf32>
  %v10 = weft.min %v9, %v8 : tensor<5x3xf32>
  %v11 = weft.constrain %v10 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v12 = weft.constrain %v11 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v13 = weft.constrain %v12 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v14 = weft.dot %v13, %w2 contract [1] x [0] : tensor<5x3xf32>, tensor<3x3xf32> -> tensor<5x3xf32>
  %v15 = weft.constant dense<-3.0> : tensor<5x3xf32>
  %v16 = weft.constant dense<3.0> : tensor<5x3xf32>
  %v17 = weft.max %v14, %v15 : tensor<5x3xf32>
  %v18 = weft.min %v17, %v16 : tensor<5x3xf32>
  %v19 = weft.broadcast %b3 dims [1] : tensor<3xf32> -> tensor<5x3xf32>
  %v20 = weft.add %v18, %v19 : tensor<5x3xf32>
  %v21 = weft.constant dense<-3.0> : tensor<5x3xf32>
  %v22 = weft.constant dense<3.0> : tensor<5x3xf32>
  %v23 = weft.max %v20, %v21 : tensor<5x3xf32>
  %v24 = weft.min %v23, %v22 : tensor<5x3xf32>
  %v25 = weft.constrain %v24 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v26 = weft.constrain %v25 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v27 = weft.constrain %v26 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v28 = weft.dot %v27, %w4 contract [1] x [0] : tensor<5x3xf32>, tensor<3x3xf32> -> tensor<5x3xf32>
  %v29 = weft.constant dense<-3.0> : tensor<5x3xf32>
  %v30 = weft.constant dense<3.0> : tensor<5x3xf32>
  %v31 = weft.max %v28, %v29 : tensor<5x3xf32>
  %v32 = weft.min %v31, %v30 : tensor<5x3xf32>
  %v33 = weft.constrain %v32 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v34 = weft.constrain %v33 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v35 = weft.constrain %v34 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v36 = weft.dot %v35, %w5 contract [1] x [0] : tensor<5x3xf32>, tensor<3x3xf32> -> tensor<5x3xf32>
  %v37 = weft.constant dense<-3.0> : tensor<5x3xf32>
  %v38 = weft.constant dense<3.0> : tensor<5x3xf32>
  %v39 = weft.max %v36, %v37 : tensor<5x3xf32>
  %v40 = weft.min %v39, %v38 : tensor<5x3xf32>
  %v41 = weft.constrain %v40 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<5x3xf32> -> tensor<5x3xf32>
  %v42 = weft.mul %v41, %y6 : tensor<5x3xf32>
  %v43 = weft.reduce sum %v42 dims [0, 1] : tensor<5x3xf32> -> tensor<f32>
  %v45 = weft.mul %v25, %y7 : tensor<5x3xf32>
  %v46 = weft.reduce sum %v45 dims [0, 1] : tensor<5x3xf32> -> tensor<f32>
  %v44 = weft.add %v43, %v46 : tensor<f32>
  return %v44, %v41 : tensor<f32>, tensor<5x3xf32>
}
}
