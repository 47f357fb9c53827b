"""Speed of generated contractions: Weft's emitters beside linalg with a transform schedule.

    python3 bench/contractions/contractions.py [--weft build/bin/weft] [--llvm /usr/lib/llvm-22/bin] [--rounds 30]

needs NumPy (bench/requirements.txt). Three kernels of f32, on one thread:

    square        960 x 960 by 960 x 960
    dense         768 x 256 by 256 x 1024, plus a bias, and the maximum with 0
    convolution   32 images of 24 x 24 x 32, 3 x 3, to 64 features, zeros around

for each target that the processor has (cpu:avx2, cpu:avx512), each compiled twice:

    weft     the program as `weft compile --target` makes it; its .weft file begins with
             the shared library of its kernel, which is loaded
    linalg   the .mlir file of this folder (a function and the schedule that tiles, packs and
             vectorizes it), through mlir-opt, mlir-translate and clang -O3 for the same processor

The sizes are multiples of linalg's tiles, which so need no code for partial tiles: that favours linalg. Its
schedules were tuned by hand for these kernels; its convolution copies the input into a frame of
zeros, and then is a contraction over rows that overlap.

Results of both are compared with NumPy's in double precision. Each round calls everything
once, in turn, timed in CPU time of the thread behind one call that fills the caches; printed are
multiply-adds a nanosecond in the fastest and in the middle round, and as a share of the core's
rate from registers (peak.c, in the same rounds). Compile time: CPU time of the tools, least of
--compiles, less their time for a module without a kernel; nothing cached. The peak and the load of the
machine are printed too: on a busy one believe the fastest rounds.
"""

import argparse
import ctypes
import os
import pathlib
import resource
import statistics
import string
import subprocess
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Lanes of f32, and clang's flags for the processors of compiler/codegen/cpu/CpuTarget.cpp.
TARGETS = {"avx2": (8, "-march=x86-64-v3"), "avx512": (16, "-march=x86-64-v4 -mprefer-vector-width=512")}
FEATURES = {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}
PIPELINE = (
    ("--transform-interpreter",),
    ("LIBRARY", "--transform-interpreter=entry-point=prepare", "--loop-invariant-code-motion", "--loop-invariant-subset-hoisting",
     "--canonicalize", "--cse", "--eliminate-empty-tensors",
     "--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map",
     "--canonicalize", "--cse", "--canonicalize"),
    ("LIBRARY", "--buffer-hoisting", "BUFFERS", "--fold-memref-alias-ops", "--canonicalize",
     "--transform-interpreter=entry-point=lower", "--convert-bufferization-to-memref", "--canonicalize", "--cse",
     "--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine", "--convert-vector-to-scf=full-unroll=true",
     "--convert-scf-to-cf", "--convert-vector-to-llvm=enable-x86vector reassociate-fp-reductions", "--finalize-memref-to-llvm",
     "--convert-func-to-llvm=use-bare-ptr-memref-call-conv", "--convert-arith-to-llvm", "--convert-index-to-llvm",
     "--convert-cf-to-llvm", "--convert-ub-to-llvm", "--reconcile-unrealized-casts"))


class Kernel:
    """One of the three kernels: its operands, sizes of linalg's schedule, and NumPy's result."""

    def __init__(self, name, shapes, result, program, multiply_adds, expected, sizes):
        self.name, self.shapes, self.result, self.multiply_adds, self.expected, self.sizes = name, shapes, result, multiply_adds, expected, sizes
        arguments = ", ".join(f'%{chr(97 + i)}: {tensor(shape)} {{weft.name = "{chr(97 + i)}"}}' for i, shape in enumerate(shapes))
        self.program = (f'func.func @main({arguments}) -> ({tensor(result)} {{weft.name = "y"}}) {{\n{program}'
                        f"  return %y : {tensor(result)}\n}}\n")
        # The convolution's schedule frees its own allocations.
        self.buffers = "--canonicalize" if name == "convolution" else "--buffer-deallocation-pipeline"


def tensor(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


def square(size):
    matrix = tensor((size, size))
    return Kernel("square", [(size, size)] * 2, (size, size),
                  f"  %y = weft.dot %a, %b contract [1] x [0] : {matrix}, {matrix} -> {matrix}\n", size**3, lambda x, w: x @ w,
                  lambda lanes: tiles(size, size, lanes) | {"size": size, "depth": size // 3, "row_block": 10})


def dense(size, depth, width):
    x, w, b, y = (tensor(shape) for shape in ((size, depth), (depth, width), (width,), (size, width)))
    return Kernel("dense", [(size, depth), (depth, width), (width,)], (size, width),
                  f"  %s = weft.dot %a, %b contract [1] x [0] : {x}, {w} -> {y}\n"
                  f"  %t = weft.broadcast %c dims [1] : {b} -> {y}\n  %u = weft.add %s, %t : {y}\n"
                  f"  %z = weft.constant dense<0.0> : {y}\n  %y = weft.max %u, %z : {y}\n",
                  size * depth * width, lambda x, w, b: np.maximum(x @ w + b, 0),
                  lambda lanes: tiles(size, width, lanes) | {"size": size, "depth": depth, "width": width})


def tiles(size, width, lanes):
    """Sizes of tiles: the most rows of two vectors that fit in the registers beside a vector of each
    operand."""
    rows, columns = {8: 6, 16: 12}[lanes], 2 * lanes
    return {"rows": rows, "columns": columns, "row_tiles": size // rows, "column_tiles": width // columns}


def convolution(images, height, width, features, results):
    x, w, y = (images, height, width, features), (3, 3, features, results), (images, height, width, results)
    frame = (height + 2) * (width + 2) * features, (width + 2) * features

    def expected(image, kernel):
        padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
        return sum(padded[:, i : i + height, j : j + width] @ kernel[i, j] for i in range(3) for j in range(3))

    program = (f"  %y = weft.convolution %a, %b {{lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, "
               f"result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, "
               f"base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>, feature_groups = 1 : i64}} : "
               f"{tensor(x)}, {tensor(w)} -> {tensor(y)}\n")
    return Kernel("convolution", [x, w], y, program, images * height * width * 9 * features * results, expected,
                  lambda lanes: tiles(width, results, lanes) | {
                      "images": images, "height": height, "width": width, "features": features, "results": results,
                      "reach": 3 * features, "frame_height": height + 2, "frame_width": width + 2, "frame_image": frame[0],
                      "frame_row": frame[1], "frame_first": frame[1] + features})


def cpu_time(command, environment=None):
    """Seconds of a process and of its threads; its output is shown where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Tools:
    def __init__(self, arguments, folder):
        self.weft, self.llvm, self.folder = pathlib.Path(arguments.weft), pathlib.Path(arguments.llvm), pathlib.Path(folder)
        self.compiles = arguments.compiles

    def by_weft(self, text, target, name):
        """Compiles by Weft: (the file, seconds of the fastest compilation)"""
        source, out = self.folder / f"{name}.mlir", self.folder / f"{name}.weft"
        source.write_text(text)
        seconds = []
        for _ in range(self.compiles):
            with tempfile.TemporaryDirectory(dir=self.folder) as cache:
                seconds.append(cpu_time([self.weft, "compile", source, "--target", f"cpu:{target}", "-o", out],
                                        os.environ | {"XDG_CACHE_HOME": cache}))
        return out, min(seconds)

    def by_linalg(self, text, target, buffers, name):
        source, out = self.folder / f"{name}.mlir", self.folder / f"{name}.so"
        source.write_text(text)
        return out, min(self.lowered(source, target, buffers, out) for _ in range(self.compiles))

    def lowered(self, source, target, buffers, out):
        library = f"--transform-preload-library=transform-library-paths={HERE / 'lower.mlir'}"
        seconds, text = 0, out.with_suffix(".lowered.mlir")
        for number, passes in enumerate(PIPELINE):
            options = [{"LIBRARY": library, "BUFFERS": buffers}.get(option, option) for option in passes]
            seconds += cpu_time([self.llvm / "mlir-opt", source, *options, "-o", text])
            if number == 0:
                without_schedule(text)
            source = text
        module = out.with_suffix(".ll")
        seconds += cpu_time([self.llvm / "mlir-translate", "--mlir-to-llvmir", text, "-o", module])
        # Weft's own linking takes less than a millisecond and is included; linalg's is not.
        code = out.with_suffix(".o")
        seconds += cpu_time([self.llvm / "clang", "-O3", *TARGETS[target][1].split(), "-ffp-contract=fast", "-fPIC", "-Wno-override-module",
                             "-c", "-x", "ir", module, "-o", code])
        cpu_time([self.llvm / "clang", "-shared", code, "-o", out])
        return seconds

    def peak(self, target):
        out = self.folder / f"peak-{target}.so"
        lanes, flags = TARGETS[target]
        cpu_time([self.llvm / "clang", "-O3", *flags.split(), "-ffp-contract=fast", f"-DLANES={lanes}", "-shared", "-fPIC", HERE / "peak.c", "-o", out])
        call = ctypes.CDLL(str(out)).peak
        call.argtypes, call.restype = [ctypes.c_long], ctypes.c_float
        return Candidate("", target, "peak", 100000 * 12 * lanes, lambda: call(100000), 0)


def without_schedule(path):
    """Removes the schedule that was carried out."""
    text = path.read_text()
    text = text[: text.index("  transform.named_sequence")] + "}\n"
    path.write_text(text.replace("module attributes {transform.with_named_sequence} {", "module {"))


class Candidate:
    def __init__(self, kernel, target, generator, multiply_adds, call, compiling):
        self.kernel, self.target, self.generator, self.call, self.compiling = kernel, target, generator, call, compiling
        self.multiply_adds, self.times = multiply_adds, []

    def measure(self):
        self.call()
        start = time.thread_time_ns()
        self.call()
        self.times.append(time.thread_time_ns() - start)

    def speeds(self):
        """Multiply-adds a nanosecond: of the fastest round, of the middle one."""
        return self.multiply_adds / min(self.times), self.multiply_adds / statistics.median(self.times)


def aligned(shape):
    """Zeros that begin at a page, so that the alignment of operands is always the same."""
    room = np.zeros(int(np.prod(shape)) * 4 + 4096, np.uint8)
    start = -room.ctypes.data % 4096
    return room[start : start + int(np.prod(shape)) * 4].view(np.float32).reshape(shape)


def weft_call(path, arrays):
    """A call of the only kernel of a program file: `weft_kernel_fn` of runtime/abi/weft.h."""
    symbols = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = [line.split()[2] for line in symbols.splitlines() if "." not in line.split()[2]]
    if len(names) != 1:
        raise SystemExit(f"{path} has the kernels {names}, not one: its speed is not that of a kernel")
    function = getattr(ctypes.CDLL(str(path)), names[0])
    function.restype = None
    buffers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    coordinates = (ctypes.c_int64 * 1)(0)
    return lambda: function(buffers, coordinates)


def linalg_call(path, arrays):
    function = ctypes.CDLL(str(path)).kernel
    function.restype = None
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    return lambda: function(*pointers)


def candidates(kernel, targets, tools, idle):
    """Loads both libraries for each target, after checking their results."""
    random = np.random.default_rng(1)
    operands = [aligned(shape) for shape in kernel.shapes]
    for operand in operands:
        operand[...] = random.uniform(-1, 1, operand.shape)
    expected = kernel.expected(*(operand.astype(np.float64) for operand in operands))
    made = []
    for target in targets:
        schedule = string.Template((HERE / f"{kernel.name}.mlir").read_text()).substitute(kernel.sizes(TARGETS[target][0]))
        name = f"{kernel.name}-{target}"
        by_weft, by_linalg = tools.by_weft(kernel.program, target, f"weft-{name}"), tools.by_linalg(schedule, target, kernel.buffers, f"linalg-{name}")
        for generator, (path, seconds), load in (("weft", by_weft, weft_call), ("linalg", by_linalg, linalg_call)):
            result = aligned(kernel.result)
            call = load(path, [*operands, result])
            call()
            error = np.abs(result - expected).max() / np.abs(expected).max()
            if not error < 1e-5:
                raise SystemExit(f"{generator} {name}: relative error {error:.2g}, at most 1e-5 are expected")
            made.append(Candidate(kernel.name, target, generator, kernel.multiply_adds,
                                  lambda call=call, kept=(operands, result): call(), seconds - idle[generator]))
    return made


def idle_times(tools, target):
    """Seconds of the tools without a kernel."""
    nothing = f'func.func @main(%a: {tensor((8,))} {{weft.name = "a"}}) -> ({tensor((8,))} {{weft.name = "y"}}) {{\n  return %a : {tensor((8,))}\n}}\n'
    schedule = ("module attributes {transform.with_named_sequence} {\nfunc.func @kernel() {\n  return\n}\n"
                "transform.named_sequence @__transform_main(%m: !transform.any_op) {\n  transform.yield\n}\n}\n")
    return {"weft": tools.by_weft(nothing, target, "weft-idle")[1],
            "linalg": tools.by_linalg(schedule, target, "--buffer-deallocation-pipeline", "linalg-idle")[1]}


def own_targets(names):
    flags = set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":")[1].split())
            break
    return [name for name in names if FEATURES[name] <= flags]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=ROOT / "build/bin/weft")
    parser.add_argument("--llvm", default="/usr/lib/llvm-22/bin")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--compiles", type=int, default=5)
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    arguments = parser.parse_args()
    targets = own_targets(arguments.targets)
    if not targets:
        raise SystemExit(f"the processor has none of {arguments.targets}")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(arguments, folder)
        idle = idle_times(tools, targets[0])
        peaks = [tools.peak(target) for target in targets]
        kernels = [square(960), dense(768, 256, 1024), convolution(32, 24, 24, 32, 64)]
        measured = [made for kernel in kernels for made in candidates(kernel, targets, tools, idle)]
        for _ in range(arguments.rounds):
            for candidate in peaks + measured:
                candidate.measure()
    top = {peak.target: peak.speeds()[0] for peak in peaks}
    print(f"load {os.getloadavg()[0]:.1f}; peak, multiply-adds a ns: " + ", ".join(f"{name} {speed:.1f}" for name, speed in top.items()))
    print("| kernel | target | by | fastest, a ns | of the peak | median, a ns | compile, ms |\n|---|---|---|---|---|---|---|")
    for made in measured:
        fastest, median = made.speeds()
        print(f"| {made.kernel} | {made.target} | {made.generator} | {fastest:.1f} | {fastest / top[made.target]:.0%} | "
              f"{median:.1f} | {made.compiling * 1e3:.0f} |")


if __name__ == "__main__":
    main()
