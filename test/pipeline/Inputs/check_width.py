"""Fails if a line of standard input is wider than COLUMNS: check_width.py COLUMNS."""

import sys

wide = [line.rstrip("\n") for line in sys.stdin if len(line.rstrip("\n")) > int(sys.argv[1])]
print("\n".join(wide) or "fits")
sys.exit(1 if wide else 0)
