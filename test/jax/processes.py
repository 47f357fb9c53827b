"""Two processes of one program are refused, with a message that names the fix."""

import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "exec"))
import patience  # noqa: E402

SCRIPT = """
import sys, jax
jax.distributed.initialize(sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
print(jax.devices())
"""

with socket.socket() as free:
    free.bind(("localhost", 0))
    address = f"localhost:{free.getsockname()[1]}"
both = [subprocess.Popen([sys.executable, "-c", SCRIPT, address, str(number)], stderr=subprocess.PIPE, text=True)
        for number in range(2)]
for process in both:
    error = process.communicate(timeout=patience.HANG)[1]
    assert process.returncode, "two processes ran"
    assert "Weft: several processes are not supported yet; start one, with WEFT_DEVICES=cpu:N" in error, error
print("both are refused")
