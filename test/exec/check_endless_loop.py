"""Checks that Ctrl-C ends `weft run` in a loop without end that is one launch.

    check_endless_loop.py WEFT
"""

import array
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import npz_values
import patience

PROGRAM = """
func.func @main(%x: tensor<f32> {weft.name = "x"}) -> tensor<f32> {
  %r = weft.while(%x) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<f32>):
    %low = weft.constant dense<-1.0> : tensor<f32>
    %0 = weft.compare gt %v, %low : tensor<f32>, tensor<f32> -> tensor<i1>
    weft.condition %0(%v) : tensor<i1>, tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    %half = weft.constant dense<0.5> : tensor<f32>
    %0 = weft.mul %v, %half : tensor<f32>
    %1 = weft.add %0, %half : tensor<f32>
    weft.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}
"""
ENOUGH = 1.5  # seconds of CPU time, of which all but some tenths are the loop's


def cpu_time(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def main():
    weft = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        program, inputs = pathlib.Path(folder) / "endless.mlir", pathlib.Path(folder) / "x.npz"
        npz_values.write(inputs, {"x": ((), array.array("f", [3]))})
        program.write_text(PROGRAM)
        plan = subprocess.run([weft, "compile", program, "--emit", "plan"], check=True, capture_output=True, text=True).stdout
        process = subprocess.Popen([weft, "run", program, "--inputs", inputs, "--outputs", folder + "/r.npz"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # lit ignores it
        patience.until(lambda: process.poll() is not None or cpu_time(process) >= ENOUGH, "the loop runs")
        if process.poll() is not None:
            sys.exit(f"the run ended with {process.returncode}: {process.stderr.read()}")
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=patience.HANG)
        finally:
            process.kill()
    print("one launch," if "plan.routine" in plan else "many launches,",
          "ended" if process.returncode in (-signal.SIGINT, 130) else f"status {process.returncode}")


if __name__ == "__main__":
    main()
