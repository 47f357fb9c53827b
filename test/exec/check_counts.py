"""Checks that a step sends the collectives that `weft explain` predicts.

    check_counts.py WEFT MODEL DATA_FLAGS... -- DISTRIBUTION...

For each distribution file, the collectives of `weft fit --stats`, which the
runtime counts from the buffers that it moves, equal the totals of `weft explain
--json` by kind, count and bytes, exchanges and uneven shards included; the
totals are the sums of its list. Bytes are those of the device that sends most.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

BATCH = "16"


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{command}\n{result.stdout}{result.stderr}")
    return result.stdout


def summed(collectives):
    """Adds up explain's list: {kind: {count, bytes}}."""
    totals = {}
    for entry in collectives:
        total = totals.setdefault(entry["kind"], {"count": 0, "bytes": 0})
        total["count"] += entry["count"]
        total["bytes"] += entry["count"] * entry["bytes"]
    return totals


def main():
    weft, model, *rest = sys.argv[1:]
    split = rest.index("--")
    data, distributions = rest[:split], rest[split + 1:]
    failures = 0
    for distribution in distributions:
        base = [model, "--distribution", distribution, "--batch-size", BATCH]
        explained = json.loads(run(weft, "explain", *base, "--json"))
        with tempfile.TemporaryDirectory() as scratch:
            stats = pathlib.Path(scratch) / "s.json"
            run(weft, "fit", *base, *data, "--seed", "1", "--max-steps", "2", "--verbose", "0", "--stats", stats)
            counted = json.loads(stats.read_text())["collectives"]
        predicted = explained["total"]["by_kind"]
        good = counted == predicted == summed(explained["collectives"])
        failures += not good
        name = pathlib.Path(distribution).name
        print(f"{'ok  ' if good else 'FAIL'} {name}: {json.dumps(counted, sort_keys=True)}")
        if not good:
            print(f"     predicted {json.dumps(predicted, sort_keys=True)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
