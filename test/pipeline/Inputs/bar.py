"""Runs a command with standard error on a terminal, and prints the steps of its bar: bar.py COMMAND..."""

import os
import pty
import re
import subprocess
import sys

ours, theirs = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
text = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:  # Linux: the other end is closed
        break
    if not part:
        break
    text += part
assert process.wait() == 0, text
print(" ".join(re.findall(r"[━─]  (\d+/\d+)", text.decode())), "cleared" if text.endswith(b"\r\x1b[K") else text[-40:])
