"""Applies the changes that `weft explain` proposes, and checks the bytes that it promised.

    check_fix.py WEFT MODEL DISTRIBUTION BATCH

Every fix names a change of one annotation and the bytes of a step under it; each is written
into the distribution file and explained again: the bytes are those promised and fewer than
before, and the collectives that the change removes are gone. At most ten changes are tried.
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


def problem(fix, before, after):
    """The reason why the fix does not hold, or an empty text."""
    promised, now = (int(n.replace(",", "")) for n in PROMISE.search(fix["effect"]).groups())
    sent = after["total"]["bytes"]
    if (sent, before["total"]["bytes"]) != (promised, now) or promised != fix["bytes"] or promised >= now:
        return f"after it a step sends {sent}"
    for index in fix["removes"]:
        entry = before["collectives"][index]
        if any(all(c[key] == entry[key] for key in ("kind", "axes", "reason")) for c in after["collectives"]):
            return f"still there: {entry}"
    return ""


def main():
    weft, model, path, batch = sys.argv[1:]
    distribution = json.loads(pathlib.Path(path).read_text())
    before = explain(weft, model, distribution, batch)
    fixes = before["fixes"]["list"]
    assert before["fixes"]["tried"] <= 10, before["fixes"]
    assert [fix["bytes"] for fix in fixes] == sorted(fix["bytes"] for fix in fixes)
    texts = {f"{fix['change']}: {fix['effect']}" for fix in fixes}
    assert {entry["fix"] for entry in before["collectives"]} - {None} == texts
    failures = 0
    for fix in fixes:
        why = problem(fix, before, explain(weft, model, changed(distribution, fix["change"]), batch))
        failures += bool(why)
        if why:
            print(f"FAIL {fix['change']}: {fix['effect']}\n     {why}")
    print(f"{len(fixes)} fixes, {failures} wrong")
    return 1 if failures or not fixes else 0


if __name__ == "__main__":
    sys.exit(main())
