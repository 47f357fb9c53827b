"""Collectives of a program that XLA compiled, read from its HLO text.

    collectives(compiled.as_text(), 8)
    # {"all-reduce": {"count": 1, "bytes": 712404}}

Bytes are those that a device receives in a step by a ring: all-gather and reduce-scatter (p-1)/p of the full
array, all-reduce twice that, all-to-all (p-1)/p of the local array, collective-permute its payload. Each
operation of the text counts once, also inside a loop.
"""

import math
import re

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


def shape_bytes(text):
    """Bytes of every array named in an HLO shape: 'f32[4,2]{1,0}' or a tuple of such."""
    total = 0
    for kind, bits, dims in re.findall(r"\b(pred|[a-z]+?)(\d*)\[([\d,]*)\]", text):
        width = 1 if kind == "pred" else int(bits) / 8
        total += width * math.prod(int(d) for d in dims.split(",") if d)
    return total


def group_size(line, devices):
    """Participants in each group of one collective, for the ways in which HLO prints groups."""
    if mesh := re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", line):
        sizes = dict(re.findall(r"'(\w+)'=(\d+)", mesh[1]))
        axes = re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", mesh[2])
        return math.prod(int(part or sizes[axis]) for axis, part in axes)
    if iota := re.search(r"replica_groups=\[(\d+),(\d+)\]<=", line):
        return int(iota[2])
    if explicit := re.search(r"replica_groups=\{\{([\d,]+)\}", line):
        return explicit[1].count(",") + 1
    if "replica_groups={}" in line or "source_target_pairs" in line:
        return devices
    raise ValueError(f"no replica groups in: {line}")


def ring_bytes(kind, result, p):
    """Bytes one device receives, given the bytes of the operation's result and the group size."""
    return {
        "all-reduce": 2 * (p - 1) / p * result,
        "all-gather": (p - 1) / p * result,
        "reduce-scatter": (p - 1) * result,
        "all-to-all": (p - 1) / p * result,
        "collective-permute": result,
    }[kind]


def collectives(hlo, devices):
    """Count and bytes for each kind of collective."""
    found = {}
    operation = re.compile(rf" = (.+?) ({'|'.join(KINDS)})(-start)?\(")
    for line in hlo.splitlines():
        if not (match := operation.search(line)):
            continue
        shape, kind, started = match.groups()
        if started:
            raise ValueError(f"asynchronous collective, shape not understood: {line}")
        entry = found.setdefault(kind, {"count": 0, "bytes": 0})
        entry["count"] += 1
        entry["bytes"] += round(ring_bytes(kind, shape_bytes(shape), group_size(line, devices)))
    return found


def called(line):
    """The computations that an instruction runs, and how often each."""
    rounds = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
    times = int(rounds[1]) if rounds and " while(" in line else 1
    names = re.findall(r"(?:body|condition|to_apply|calls|true_computation|false_computation)=%?([\w.\-]+)", line)
    for branches in re.findall(r"branch_computations=\{([^}]*)\}", line):
        names += [name.strip().lstrip("%") for name in branches.split(",")]
    return times, names


def bytes_in_rounds(hlo, devices):
    """Bytes that one device receives in a step, loops with all their rounds."""
    bodies, name, entry = {}, None, None
    for line in re.sub(r"/\*.*?\*/", "", hlo).splitlines():
        if start := re.match(r"(ENTRY )?%?([\w.\-]+)[^=]*\{\s*$", line):
            name = start[2]
            bodies[name] = []
            entry = name if start[1] else entry
        elif name:
            bodies[name].append(line)
    known = {}

    def bytes_of(name):
        if name not in known:
            known[name] = sum(kind["bytes"] for kind in collectives("\n".join(bodies[name]), devices).values())
            for line in bodies[name]:
                times, names = called(line)
                known[name] += times * sum(bytes_of(inner) for inner in names if inner in bodies)
        return known[name]
    return bytes_of(entry)
