"""An op of one's own from Python: the op is C++ (scale_plugin.cpp), the rest is here.

    python scale.py build/scale_plugin.so
"""

import sys

import numpy as np

import weft

TEXT = """
func.func @apply(%x: tensor<6x4xf32> {weft.name = "x"}, %s: tensor<6xf32> {weft.name = "s"})
    -> (tensor<6x4xf32> {weft.name = "y"}) {
  %0 = "mine.scale"(%x, %s) : (tensor<6x4xf32>, tensor<6xf32>) -> tensor<6x4xf32>
  %1 = weft.neg %0 : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}
"""

context = weft.Context()
context.load_plugin(sys.argv[1])
module = context.parse(TEXT, name="scale.mlir")
module.set_mesh("data=2,model=2")
module.set_layout("x", "[data,model]")
for value in module.clone().reach("sharded").values():
    print(value.made_by, value.name, value.shape, value.layout)
print("sent:", [collective["kind"] for collective in module.explain()["collectives"]])

program = module.compile()
x = np.linspace(-3, 3, 24, dtype="float32").reshape(6, 4)
s = np.arange(1, 7, dtype="float32")
np.testing.assert_array_equal(program(x, s), -x * s[:, None])
print("4 devices ran mine.scale for NumPy")
