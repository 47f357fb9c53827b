"""Applies the changes that `weft explain` proposes, and checks the bytes that it promised.

    check_fix.py WEFT MODEL DISTRIBUTION BATCH

Every `fix` names a change of one annotation and the bytes of a step under it;
each is written into the distribution file and explained again: the bytes are
those promised, and a collective that the change removes is gone.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

CHANGE = re.compile(r'(add|change|remove) "([^"]+)"(?: from (\[.*?\]) to|:) (\[(?:[^\[\]]|\[[^\]]*\])*\])')
PROMISE = re.compile(r"a step sends ([\d,]+) bytes instead of ([\d,]+)")


def explain(weft, model, distribution, batch):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(distribution, file)
        file.flush()
        result = subprocess.run([weft, "explain", model, "--distribution", file.name, "--batch-size", batch, "--json"],
                                capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def changed(distribution, fix):
    """The distribution with the change that the text names."""
    verb, key, _, layout = CHANGE.search(fix).groups()
    copy = json.loads(json.dumps(distribution))
    named = re.search(r" to (variable_layouts|tensor_layouts)\b", fix)
    if named:
        rules = copy["config"][named[1]]
    else:
        maps = [copy["config"][name] for name in ("layout_map", "variable_layouts", "tensor_layouts") if name in copy["config"]]
        rules = next((rules for rules in maps if key in rules), maps[0])
    if verb == "remove":
        del rules[key]
    else:
        rules[key] = json.loads(layout)
    return copy


def main():
    weft, model, path, batch = sys.argv[1:]
    distribution = json.loads(pathlib.Path(path).read_text())
    before = explain(weft, model, distribution, batch)
    failures = promises = 0
    for entry in before["collectives"]:
        fix = entry["fix"]
        found = PROMISE.search(fix)
        if not found:
            continue
        promises += 1
        promised, now = (int(n.replace(",", "")) for n in found.groups())
        after = explain(weft, model, changed(distribution, fix), batch)
        removes = fix.startswith(("add", "change", "remove"))
        still = [c for c in after["collectives"]
                 if (c["kind"], c["axes"], c["reason"]) == (entry["kind"], entry["axes"], entry["reason"])]
        if after["total"]["bytes"] != promised or before["total"]["bytes"] != now or (removes and still):
            failures += 1
            print(f"FAIL {fix}\n     after it a step sends {after['total']['bytes']}; still there: {still}")
    print(f"{promises} changes tried, {failures} wrong")
    return 1 if failures or not promises else 0


if __name__ == "__main__":
    sys.exit(main())
