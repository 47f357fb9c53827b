"""Applies the changes that `weft explain` proposes for programs, and checks the bytes that it promised.

    check_program_fixes.py WEFT FOLDER...

Each `fix` names one annotation of the text, another layout for it, and the bytes of a step
under it. The annotation is changed in the text, as a person would, and the program is
explained again: the bytes are those promised, and a collective that the change removes is
gone. Programs with a fix that saves bytes are counted apart.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

LAYOUT = r"(\[(?:\{[^{}]*\}(?:, )?)*\])"
PORT = re.compile(r'(?:change|remove) the layout of (?:"([^"]+)"|(argument|result) (\d+))(?: from ' + LAYOUT + r" to|:) " + LAYOUT)
NEW = re.compile(r'lay out (?:"([^"]+)"|(argument|result) (\d+)) as ()' + LAYOUT)
CONSTRAINT = re.compile(r"(?:change|remove) the constraint at \S+:(\d+)(?: for \"[^\"]*\")?(?: from " + LAYOUT + r" to|:) " + LAYOUT)
PROMISE = re.compile(r"a step sends ([\d,]+) bytes instead of ([\d,]+)")


def explain(weft, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(re.sub(r', weft.expect = "[^"]*"', "", text))
        result = subprocess.run([weft, "explain", path, "--json"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{text}\n{result.stderr}")
    return json.loads(result.stdout)


def port_span(text, name, kind, number):
    """The begin and end of the attributes `{...}` of a port of the public function; without any, twice the place for them."""
    head = re.search(r"func\.func (?:public )?@\w+\((.*?)\) -> (\(.*?\)|\S+) (?:attributes .*?)?\{\n", text, re.DOTALL)
    if name:
        found = next(m for m in re.finditer(r"\{weft\.name = \"([^\"]+)\"[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", text) if m[1] == name)
        return found.span()
    group = 1 if kind == "argument" else 2
    ports = list(re.finditer(r"tensor<[^>]*>( \{[^{}]*\})?", head[group]))
    begin, end = ports[int(number)].span()
    at = head.start(group)
    plain = re.match(r"tensor<[^>]*>", ports[int(number)][0]).end()
    return (at + begin + plain, at + end)


def with_port(text, match, remove):
    begin, end = port_span(text, match[1], match[2], match[3])
    attributes = re.sub(r",? ?weft\.layout = (?:#weft\.layout<[^>]*>|#\w+)", "", text[begin:end]).strip(" {}")
    attributes = attributes.strip(", ")
    if not remove:
        attributes += (", " if attributes else "") + f"weft.layout = #weft.layout<#mesh, {match[5]}>"
    return text[:begin] + (" {" + attributes + "}" if attributes else "") + text[end:]


def with_constraint(text, match, remove):
    lines = text.split("\n")
    at = int(match[1]) - 1
    if not remove:
        lines[at] = re.sub(r" to (#weft\.layout<[^>]*>|#\w+)", f" to #weft.layout<#mesh, {match[3]}>", lines[at])
        return "\n".join(lines)
    result, source = re.search(r"(%\w+) = weft\.constrain (%\w+)", lines[at]).groups()
    end = next(i for i in range(at, len(lines)) if lines[i].strip() == "}")
    lines[at:end] = [re.sub(re.escape(result) + r"\b", source, line) for line in lines[at + 1:end]]
    return "\n".join(lines)


def changed(text, fix):
    """The program with the change that the fix names."""
    fix = fix.removeprefix("no cheaper layout found; closest alternative: ")
    remove = fix.startswith("remove ")
    if match := CONSTRAINT.match(fix):
        return with_constraint(text, match, remove)
    return with_port(text, PORT.match(fix) or NEW.match(fix), remove)


def check(weft, path):
    """Returns the numbers of kept and of broken promises, and whether one saves bytes."""
    text = path.read_text()
    before = explain(weft, text)
    kept = broken = 0
    saves = False
    for entry in before["collectives"]:
        found = PROMISE.search(entry["fix"] or "")
        if not found or entry["fix"].startswith("no change"):
            continue
        after = explain(weft, changed(text, entry["fix"]))
        promised, now = (int(n.replace(",", "")) for n in found.groups())
        still = [c for c in after["collectives"]
                 if all(c[key] == entry[key] for key in ("kind", "axes", "reason", "lines"))]
        right = (after["total"]["bytes"], before["total"]["bytes"]) == (promised, now) and not still
        kept, broken = kept + right, broken + (not right)
        saves |= promised < now
        if not right:
            print(f"FAIL {path.stem}: {entry['fix']}\n     then a step sends {after['total']['bytes']}; still there: {still}")
    return kept, broken, saves


def main():
    weft, *folders = sys.argv[1:]
    paths = sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.mlir"))
    results = [check(weft, path) for path in paths]
    broken = sum(b for _, b, _ in results)
    print(f"{sum(k for k, _, _ in results)} fixes of {sum(k + b > 0 for k, b, _ in results)} programs send the "
          f"promised bytes, in {sum(s for *_, s in results)} of them they save bytes; {broken} do not")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
