"""Runs an annotated program on N processes, without annotations on one, and compares the numbers that they print.

compare_mpi.py PROGRAM FOLDER N "mlir-opt ... --pass-pipeline" PASSES-OF-N PASSES-OF-ONE
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import patience  # noqa: E402

LIBRARIES = "libmlir_runner_utils.so", "libmlir_c_runner_utils.so"


def find_llvm(opt):
    """The folder of the LLVM that mlir-opt belongs to."""
    found = subprocess.run(["sh", "-c", f"command -v {opt.split()[0]}"], text=True, capture_output=True, check=True)
    return pathlib.Path(found.stdout.strip()).resolve().parent.parent


def find_mpi():
    """The file of the MPI library, as the loader finds it."""
    ctypes.CDLL("libmpi.so.40")
    maps = pathlib.Path("/proc/self/maps").read_text()
    return re.search(r"/\S*/libmpi\.so\S*", maps).group(0)


def compile_program(opt, passes, text):
    """The program in LLVM's dialect as mlir-runner reads it."""
    command = f"{opt}='builtin.module({passes})'"
    done = subprocess.run(["sh", "-c", command], input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{command} failed:\n{done.stderr}")
    # mlir-runner has no dlti, and upstream's name of OpenMPI's sum lacks "op_".
    without = re.sub(r" attributes \{[a-z.]*dlti = #dlti.map<[^}]*\}", "", done.stdout)
    return without.replace("@ompi_mpi_sum", "@ompi_mpi_op_sum")


def without_annotations(text):
    """The program with casts of tensors to their own types in place of shard.shard."""
    text = re.sub(r"^ *(%\w+ = shard\.sharding|shard\.grid) .*\n", "", text, flags=re.M)
    return re.sub(r"shard\.shard (%\w+) to %\w+ : (.*)", r"tensor.cast \1 : \2 to \2", text)


def figures(llvm, program, folder, processes):
    """The numbers that each process prints, one list a process."""
    source = folder / f"on{processes}.mlir"
    source.write_text(program)
    libraries = ",".join([find_mpi(), *(str(llvm / "lib" / name) for name in LIBRARIES)])
    command = ["mpirun", "--oversubscribe", "-n", processes, "--output-filename", folder / f"out{processes}",
               llvm / "bin" / "mlir-runner", source, "-e", "main", "-entry-point-result=void",
               f"--shared-libs={libraries}"]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([str(part) for part in command], env=os.environ | allowed, text=True, capture_output=True,
                          timeout=patience.HANG, check=False)
    if done.returncode:
        sys.exit(f"{processes} processes ended with {done.returncode}:\n{done.stderr}")
    outputs = sorted((folder / f"out{processes}").glob("1/rank.*/stdout"))
    return [[float(n) for line in path.read_text().splitlines() if "base@" not in line
             for n in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?|nan|inf", line)] for path in outputs]


def main():
    source, folder, processes, opt, of_all, of_one = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    llvm = find_llvm(opt)
    text = pathlib.Path(source).read_text()
    (expected,) = figures(llvm, compile_program(opt, of_one, without_annotations(text)), folder, 1)
    actual = figures(llvm, compile_program(opt, of_all, text), folder, processes)
    for rank, values in enumerate(actual):
        if len(values) != len(expected) or any(not abs(x - y) <= 1e-5 * max(1, abs(y)) for x, y in zip(values, expected)):
            sys.exit(f"process {rank} prints {values}\none process of the global program {expected}")
    if len(actual) != int(processes) or not expected:
        sys.exit(f"{len(actual)} processes printed, not {processes}")
    print(f"{processes} processes print the {len(expected)} figures of one")


if __name__ == "__main__":
    main()
