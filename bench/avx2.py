"""Runs XLA and Weft on a processor with AVX-512 as on one that has AVX2 only.

    environment = avx2.environment(os.environ)    # of a child process
    avx2.limit_libraries()                        # in the child, before it computes

XLA's own code obeys --xla_cpu_max_isa, oneDNN ONEDNN_MAX_CPU_ISA and Weft WEFT_TARGET. YNNPACK, which jaxlib 0.10 calls for
contractions and convolutions, obeys none of them: it asks the processor once and keeps the answer in a variable, whose bits for
AVX-512 and what followed it are cleared here. Nothing is done on other platforms than XLA's CPU.
"""

import ctypes
import os
import pathlib
import subprocess

ASKED = "WEFT_BENCH_AVX2"
BELOW_AVX512 = 0x7F  # SSE2, SSSE3, SSE4.1, AVX, F16C, AVX2, FMA3
FUNCTION = "ynn::get_supported_arch_flags()"


def environment(given):
    flags = f"{given.get('XLA_FLAGS', '')} --xla_cpu_max_isa=AVX2"
    return dict(given, WEFT_TARGET="cpu:avx2", XLA_FLAGS=flags, ONEDNN_MAX_CPU_ISA="AVX2", **{ASKED: "1"})


def limit_libraries():
    if ASKED not in os.environ or os.environ.get("JAX_PLATFORMS") != "cpu":
        return
    import jaxlib
    file = pathlib.Path(jaxlib.__file__).parent / "libjax_common.so"
    library = ctypes.CDLL(str(file))
    listed = subprocess.run(["nm", "-C", file], capture_output=True, text=True, check=True).stdout
    at = {name: int(address, 16) for address, _, name in (line.split(" ", 2) for line in listed.splitlines() if FUNCTION in line)}
    if FUNCTION not in at or f"{FUNCTION}::flags" not in at:
        raise RuntimeError(f"{file} has no variable of YNNPACK's instruction sets, so that XLA cannot be limited to AVX2")
    base = next(int(line.split("-")[0], 16) for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if file.name in line)
    supported = ctypes.CFUNCTYPE(ctypes.c_uint64)(base + at[FUNCTION])
    supported()  # sets the variable
    ctypes.c_uint64.from_address(base + at[f"{FUNCTION}::flags"]).value &= BELOW_AVX512
    if supported() & ~BELOW_AVX512 or not library:
        raise RuntimeError("YNNPACK still uses AVX-512")
