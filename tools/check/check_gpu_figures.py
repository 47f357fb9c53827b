"""The table of GPU figures in docs/performance.md is that of the committed results, bench/gpu/results/*.jsonl."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "gpu"))

import table  # noqa: E402

if __name__ == "__main__":
    sys.exit(table.main())
