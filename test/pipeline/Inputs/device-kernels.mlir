#mesh = #weft.mesh<"x"=1>
#whole = #weft.layout<#mesh, [{}]>
plan.program @step mesh #mesh arena 128 {
  %x = plan.input "x" role "input" of tensor<16xf32> in #whole : memref<16xf32>
  %y = plan.output "y" role "output" of tensor<16xf32> in #whole : memref<16xf32>
  %a = plan.buffer offset 0 : memref<16xf32>
  %s = plan.buffer offset 64 : memref<64xi8>
  plan.launch @relu(%x, %a) scratch %s : memref<64xi8> : memref<16xf32>, memref<16xf32>
  plan.launch @sort(%a, %y) : memref<16xf32>, memref<16xf32>
}
plan.device_module @code chip "sm_90" format ptx data ".version 8.0"
plan.device_kernel @relu in @code symbol "relu" block [16, 1, 1] blocks 1 shared 0 scratch 64
plan.builtin @sort name "sort" parameters [16, 1] scratch 0
