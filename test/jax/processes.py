"""Two processes of one program are refused, with what to do instead."""

import socket
import subprocess
import sys

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
    error = process.communicate(timeout=120)[1]
    assert process.returncode, "two processes ran"
    assert "Weft: several processes are not supported yet; start one, with WEFT_DEVICES=cpu:N" in error, error
print("both are refused")
