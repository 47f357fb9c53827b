import ctypes
import os
import shutil
import subprocess
import sys

import lit.formats
import lit.llvm


def has_lapack():
    """Whether the loader finds a library that base/lapack/Library.h looks for."""
    for name in ("libopenblas.so.0", "liblapack.so.3"):
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


def has_jax(python):
    """Whether this Python can run the tests of the PJRT plugin."""
    check = "import importlib.util as u, sys; sys.exit(not (u.find_spec('jax') and u.find_spec('keras')))"
    try:
        return subprocess.run([python, "-c", check], capture_output=True).returncode == 0
    except OSError:
        return False


# `lit test/passes` in the source tree starts here with no build paths: read
# the site config of the build, which loads this file again with them set.
if not hasattr(config, "weft_obj_root"):
    build = os.environ.get("WEFT_BUILD_DIR", os.path.join(os.path.dirname(__file__), "build"))
    lit_config.load_config(config, os.path.join(build, "lit.site.cfg.py"))
else:
    llvm_config = lit.llvm.llvm_config
    config.name = "weft"
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = [".mlir", ".test"]
    config.excludes = ["Inputs", "fixtures", "CMakeLists.txt"]
    config.test_source_root = os.path.dirname(os.path.abspath(__file__))
    config.test_exec_root = config.weft_obj_root
    if "WEFT_TARGET" in os.environ:  # docs/testing.md
        config.environment["WEFT_TARGET"] = os.environ["WEFT_TARGET"]
    config.environment["FILECHECK_OPTS"] = "-enable-var-scope -dump-input-filter=all"
    llvm_config.use_default_substitutions()
    llvm_config.add_tool_substitutions(
        ["compare-runs", "custom-training-loop", "weft-fuzz", "weft-opt", "weft-capi-test", "weft-abi-examples", "weft-compiler-example", "weft-compiler-refusals", "weft-runtime-queries", "weft-runtime-example", "weft", "mlir-opt", "split-file"], [config.weft_tools_dir, config.llvm_tools_dir])
    config.substitutions.append(("%weft_plugin", config.weft_plugin))
    config.substitutions.append(("%python", sys.executable))
    config.substitutions.append(("%weft_build", config.weft_obj_root))
    config.substitutions.append(("%weft_bin", os.path.join(config.weft_tools_dir, "weft")))
    if config.weft_has_gpu:
        config.available_features.add("nvptx")
    if config.weft_has_gpu and os.path.exists(config.weft_ptxas):
        config.available_features.add("ptxas")
        config.substitutions.append(("%ptxas", config.weft_ptxas))
    jax_python = os.environ.get("WEFT_JAX_PYTHON", os.path.join(config.test_source_root, ".venv", "bin", "python"))
    if has_jax(jax_python):
        config.available_features.add("jax")
        config.substitutions.append(("%jax_python", jax_python))
        config.substitutions.append(("%weft_python", " ".join([
            "env", "WEFT_PREFIX=" + config.weft_obj_root, "PYTHONPATH=" + os.path.join(config.test_source_root, "tools", "pjrt", "python"),
            jax_python])))
        config.substitutions.append(("%weft_jax", " ".join([
            "JAX_PLATFORMS=weft", "WEFT_PJRT_LIBRARY=" + os.path.join(config.weft_obj_root, "lib", "libWeftPjrt.so"),
            "PYTHONPATH=" + os.path.join(config.test_source_root, "tools", "pjrt", "python")])))
    if has_lapack():
        config.available_features.add("lapack")
    else:
        lit_config.note("no LAPACK (libopenblas0 or liblapack3): test/stablehlo/lapack.test is skipped")
    if os.path.exists(os.path.join(config.weft_obj_root, "lib", "libWeftMpi.so")) and shutil.which("mpirun"):
        config.available_features.add("mpi")
    else:
        lit_config.note("no MPI (libopenmpi-dev, openmpi-bin): test/exec/mpi-*.test are skipped")
    config.substitutions.append(("%fixtures", os.path.join(config.test_source_root, "test", "fixtures")))
