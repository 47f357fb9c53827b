"""The first images of examples/data/mnist24k.npz: first_images.py TRAIN TEST FILE."""

import pathlib
import sys

import numpy as np

mnist = np.load(pathlib.Path(__file__).parents[2] / "examples" / "data" / "mnist24k.npz")
counts = {"train": int(sys.argv[1]), "test": int(sys.argv[2])}
np.savez(sys.argv[3], **{name: mnist[name][:counts[name.split("_")[1]]] for name in mnist.files})
