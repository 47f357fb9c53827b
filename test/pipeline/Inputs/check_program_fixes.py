"""Applies the changes that `weft explain` proposes for programs, and checks the bytes that it promised.

    check_program_fixes.py WEFT FOLDER...

Each fix names annotations of the text, another layout for them, and the bytes of a step under
it. The annotations are changed in the text, as a person would, and the program is explained
again: the bytes are those promised and fewer than before, and the collectives that the change
removes are gone. At most ten changes are tried.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

LAYOUT = r"(\[(?:\{[^{}]*\}(?:, )?)*\])"
PORT = re.compile(r'(?:change|remove) the layout of (?:"([^"]+)"|(argument|result) (\d+))(?: from ' + LAYOUT + r" to|:) " + LAYOUT)
PORTS = re.compile(r"(?:change|remove) the layouts of (.*) \((\d+) tensors\)(?: from " + LAYOUT + r" to|:) " + LAYOUT)
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


def with_ports(text, match, remove):
    """The text with the change of all ports whose names have the pattern "w*" and that have the layout."""
    names = re.compile("|".join(re.escape(name).replace(r"\*", r"\d+") for name in re.findall(r'"([^"]+)"', match[1])))
    before = match[3] or match[4]
    aliases = dict(re.findall(r"^(#\w+) = #weft\.layout<#mesh, (\[.*?\])>$", text, re.MULTILINE))
    head = re.search(r"func\.func (?:public )?@\w+\(.*?\{\n", text, re.DOTALL)
    places = []
    for port in re.finditer(r'\{weft\.name = "([^"]+)"[^{}]*(?:\{[^{}]*\}[^{}]*)*\}', head[0]):
        layout = re.search(r"weft\.layout = (?:#weft\.layout<#mesh, (\[.*?\])>|(#\w+))", port[0])
        if names.fullmatch(port[1]) and layout and (layout[1] or aliases[layout[2]]) == before:
            places.append((head.start() + port.start() + layout.start(), head.start() + port.start() + layout.end()))
    assert len(places) == int(match[2]), (match[0], places)
    for begin, end in reversed(places):
        text = text[:begin] + ("weft.facts = {}" if remove else f"weft.layout = #weft.layout<#mesh, {match[4]}>") + text[end:]
    return text


def changed(text, fix):
    """The program with the change that the fix names."""
    remove = fix.startswith("remove ")
    if match := CONSTRAINT.match(fix):
        return with_constraint(text, match, remove)
    if match := PORTS.match(fix):
        return with_ports(text, match, remove)
    return with_port(text, PORT.match(fix) or NEW.match(fix), remove)


def check(weft, path):
    """Returns the numbers of kept and of broken promises."""
    text = path.read_text()
    before = explain(weft, text)
    if before["fixes"] is None:
        return 0, 0
    kept = broken = 0
    assert before["fixes"]["tried"] <= 10, before["fixes"]
    for fix in before["fixes"]["list"]:
        after = explain(weft, changed(text, fix["change"]))
        promised, now = (int(n.replace(",", "")) for n in PROMISE.search(fix["effect"]).groups())
        removed = [before["collectives"][index] for index in fix["removes"]]
        still = [c for c in after["collectives"] for entry in removed
                 if all(c[key] == entry[key] for key in ("kind", "axes", "reason", "lines"))]
        right = (after["total"]["bytes"], before["total"]["bytes"]) == (promised, now) and promised < now and not still
        kept, broken = kept + right, broken + (not right)
        if not right:
            print(f"FAIL {path.stem}: {fix}\n     then a step sends {after['total']['bytes']}; still there: {still}")
    return kept, broken


def main():
    weft, *folders = sys.argv[1:]
    paths = sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.mlir"))
    results = [check(weft, path) for path in paths]
    broken = sum(b for _, b in results)
    print(f"{sum(k for k, _ in results)} fixes of {sum(k + b > 0 for k, b in results)} programs send the promised bytes, "
          f"which are fewer; {broken} do not")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
