"""Runs the examples of dialects/*/RATIONALE.md: the block's first line is the command, its output has the TEXT of `// -> TEXT`.

    check_rationale.py WEFT_OPT SOURCE_TREE
"""

import pathlib
import re
import subprocess
import sys

count = 0
for page in sorted(pathlib.Path(sys.argv[2]).glob("dialects/*/RATIONALE.md")):
    for block in re.findall(r"^```mlir\n(.*?)^```", page.read_text(), re.M | re.S):
        flags = re.match(r"// weft-opt *(.*)\n", block).group(1).split()
        done = subprocess.run([sys.argv[1], *flags], input=block, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"{page}: {done.stderr}")
        wanted = re.findall(r"^// -> (.*)$", block, re.M)
        missing = [text for text in wanted if text not in done.stdout]
        if missing or not wanted:
            sys.exit(f"{page}: weft-opt {' '.join(flags)} prints no {missing} but:\n{done.stdout}")
        count += 1
print(f"{count} examples run")
