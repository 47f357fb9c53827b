// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 60020 --count 1 --ops 8 --compiled-every 20 --gpu
// It is refused:
//   CUDA's driver cannot be loaded: libcuda.so.1: cannot open shared object file: No such file or directory; install NVIDIA's driver, or use devices=cpu:N

#mesh = #weft.mesh<"b"=2>
module attributes {weft.fuzz = "inputs=60020 compiled gpu", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
}

