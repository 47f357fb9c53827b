// RUN: weft-fuzz --program %s
// A loop over microbatches whose branch gives a constant where another adds a sum over devices.

#mesh = #weft.mesh<"stage"=2, "data"=2>
module attributes {weft.mesh = #mesh, weft.fuzz = "inputs=881 explained", weft.microbatches = 4 : i64, weft.pipeline = {axis = "stage", schedule = "interleaved", chunks = 2 : i64}} {
func.func @main(%x0: tensor<6x2xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}], at = {"stage" = 0}>, weft.role = "input"}, %w1: tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>, weft.role = "weight", weft.donated = 0 : i64}, %w2: tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "weight", weft.donated = 1 : i64}, %w3: tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>, weft.role = "weight", weft.donated = 2 : i64}, %w4: tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>, weft.role = "weight", weft.donated = 3 : i64}, %w5: tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "weight", weft.donated = 4 : i64}, %w6: tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "weight", weft.donated = 5 : i64}, %y7: tensor<6x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>, weft.role = "label"}, %y8: tensor<6x2xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}], at = {"stage" = 1}>, weft.role = "label"}) -> (tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>}, tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>}, tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>}, tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>}, tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>}, tensor<2x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>}, tensor<f32>) {
  %l:7 = weft.value_and_grad @loss(%x0, %w1, %w2, %w3, %w4, %w5, %w6, %y7, %y8) wrt [1, 2, 3, 4, 5, 6] : (tensor<6x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<6x2xf32>, tensor<6x2xf32>) -> (tensor<f32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %u1 = weft.sub %w1, %l#1 : tensor<2x2xf32>
  %u2 = weft.sub %w2, %l#2 : tensor<2x2xf32>
  %u3 = weft.sub %w3, %l#3 : tensor<2x2xf32>
  %u4 = weft.sub %w4, %l#4 : tensor<2x2xf32>
  %u5 = weft.sub %w5, %l#5 : tensor<2x2xf32>
  %u6 = weft.sub %w6, %l#6 : tensor<2x2xf32>
  return %u1, %u2, %u3, %u4, %u5, %u6, %l#0 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>
}
func.func private @loss(%x0: tensor<6x2xf32>, %w1: tensor<2x2xf32>, %w2: tensor<2x2xf32>, %w3: tensor<2x2xf32>, %w4: tensor<2x2xf32>, %w5: tensor<2x2xf32>, %w6: tensor<2x2xf32>, %y7: tensor<6x2xf32>, %y8: tensor<6x2xf32>) -> (tensor<f32>) {
  %v0 = weft.dot %x0, %w1 contract [1] x [0] : tensor<6x2xf32>, tensor<2x2xf32> -> tensor<6x2xf32>
  %v1 = weft.constant dense<-3.0> : tensor<6x2xf32>
  %v2 = weft.constant dense<3.0> : tensor<6x2xf32>
  %v3 = weft.max %v0, %v1 : tensor<6x2xf32>
  %v4 = weft.min %v3, %v2 : tensor<6x2xf32>
  %v5 = weft.constrain %v4 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v6 = weft.constrain %v5 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v7 = weft.constrain %v6 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v8 = weft.dot %v7, %w2 contract [1] x [0] : tensor<6x2xf32>, tensor<2x2xf32> -> tensor<6x2xf32>
  %v9 = weft.constant dense<-3.0> : tensor<6x2xf32>
  %v10 = weft.constant dense<3.0> : tensor<6x2xf32>
  %v11 = weft.max %v8, %v9 : tensor<6x2xf32>
  %v12 = weft.min %v11, %v10 : tensor<6x2xf32>
  %v13 = weft.constrain %v12 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v14 = weft.constrain %v13 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v15 = weft.constrain %v14 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v16 = weft.dot %v15, %w3 contract [1] x [0] : tensor<6x2xf32>, tensor<2x2xf32> -> tensor<6x2xf32>
  %v17 = weft.constant dense<-3.0> : tensor<6x2xf32>
  %v18 = weft.constant dense<3.0> : tensor<6x2xf32>
  %v19 = weft.max %v16, %v17 : tensor<6x2xf32>
  %v20 = weft.min %v19, %v18 : tensor<6x2xf32>
  %v21 = weft.dot %v20, %w4 contract [1] x [0] : tensor<6x2xf32>, tensor<2x2xf32> -> tensor<6x2xf32>
  %v22 = weft.constant dense<-3.0> : tensor<6x2xf32>
  %v23 = weft.constant dense<3.0> : tensor<6x2xf32>
  %v24 = weft.max %v21, %v22 : tensor<6x2xf32>
  %v25 = weft.min %v24, %v23 : tensor<6x2xf32>
  %v26 = weft.constrain %v25 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v27 = weft.constrain %v26 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v28 = weft.constrain %v27 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v29 = weft.dot %v28, %w5 contract [1] x [0] : tensor<6x2xf32>, tensor<2x2xf32> -> tensor<6x2xf32>
  %v30 = weft.constant dense<-3.0> : tensor<6x2xf32>
  %v31 = weft.constant dense<3.0> : tensor<6x2xf32>
  %v32 = weft.max %v29, %v30 : tensor<6x2xf32>
  %v33 = weft.min %v32, %v31 : tensor<6x2xf32>
  %v34 = weft.dot %v33, %w6 contract [1] x [0] : tensor<6x2xf32>, tensor<2x2xf32> -> tensor<6x2xf32>
  %v35 = weft.constant dense<-3.0> : tensor<6x2xf32>
  %v36 = weft.constant dense<3.0> : tensor<6x2xf32>
  %v37 = weft.max %v34, %v35 : tensor<6x2xf32>
  %v38 = weft.min %v37, %v36 : tensor<6x2xf32>
  %v39 = weft.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v40 = weft.broadcast %v39 dims [1] : tensor<2xf32> -> tensor<6x2xf32>
  %v41 = weft.mul %v38, %v40 : tensor<6x2xf32>
  %v42 = weft.constant dense<-3.0> : tensor<6x2xf32>
  %v43 = weft.constant dense<3.0> : tensor<6x2xf32>
  %v44 = weft.max %v41, %v42 : tensor<6x2xf32>
  %v45 = weft.min %v44, %v43 : tensor<6x2xf32>
  %v46 = weft.constrain %v45 to #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}> {weft.open = array<i64: 0, 1>} : tensor<6x2xf32> -> tensor<6x2xf32>
  %v47 = weft.mul %v46, %y7 : tensor<6x2xf32>
  %v48 = weft.reduce sum %v47 dims [0, 1] : tensor<6x2xf32> -> tensor<f32>
  %v50 = weft.mul %v13, %y8 : tensor<6x2xf32>
  %v51 = weft.reduce sum %v50 dims [0, 1] : tensor<6x2xf32> -> tensor<f32>
  %v49 = weft.add %v48, %v51 : tensor<f32>
  return %v49 : tensor<f32>
}
}
