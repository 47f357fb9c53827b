"""The order in which virtual devices executed a pipeline's instructions has the bubble of the closed formulas.

    check_pipeline_order.py WEFT

The eight dense layers of check_pipelines.py run as p stages with m microbatches. A profile says which instructions each device
executed, one after the other. They are replayed with a forward pass and both gradients of one unit each: a move begins when both
of its stages have started it, and a stage that waits for it goes on then. The passes are those of the schedule's lists.
"""

import collections
import json
import pathlib
import re
import sys
import tempfile

import check_pipelines


def kinds_of(name, stage):
    """The passes of a stage. Stage 0 has no gradient of inputs: its gradient of weights stands for both, which are one behind the other."""
    return "FIW" if name == "zb-h1" and stage else "FB"


UNITS = {"F": 1, "B": 2, "I": 1, "W": 1}
BUBBLES = {"gpipe": 3, "1f1b": 3, "zb-h1": 1}  # of each stage but one


class Plan:
    """The instructions of a plan's text: passes (branches of the loop, of one stage) and moves between stages."""

    def __init__(self, text):
        places = {name: int(stage) for name, stage in re.findall(r'^(#\w+) = .*at = {"stage" = (\d+)}>$', text, re.M)}
        self.passes, self.moves = {}, {}  # by instruction
        stage, choice, inside, number = None, None, None, 0
        for line in text.partition("plan.program")[2].splitlines():
            if found := re.search(r'plan.label "(else [^"]*|end [^"]*)"', line):
                stage = None if found[1] == inside else stage
                choice = None if found[1] == choice else choice
            if not (op := re.search(r"plan\.(launch|copy|start|wait|jump\w*|return)\b", line)):
                continue
            if found := re.search(r'plan.jump_outside .*"stage" = (\d+)} "(.*)"', line):
                stage, inside = int(found[1]), found[2]
            if found := re.search(r'plan.jump_unless .* "(else .*?)"', line):
                choice, first = found[1], number
            if stage is not None and choice:
                self.passes[number] = first
            if op[1] == "start" and (found := re.search(r"#plan.movement<.* from (#\w+) to (#\w+)>", line)):
                self.moves[number] = {places[each] for each in found.groups() if each in places}
            number += 1


def executed(plan, events, stages, name):
    """For each stage the passes, starts of moves and waits that its device has executed."""
    steps, last = [[] for _ in range(stages)], [None] * stages
    for event in sorted((each for each in events if each["ph"] == "X"), key=lambda each: each["ts"]):
        number, stage = event["args"]["instruction"], event["tid"]
        if number in plan.passes:
            if last[stage] is None or plan.passes[last[stage]] != plan.passes[number] or number <= last[stage]:
                steps[stage].append((event["ts"], "pass", plan.passes[number]))
            last[stage] = number
        elif stage in plan.moves.get(number, ()) and len(plan.moves[number]) == 2:
            steps[stage] += [(event["ts"], "start", number), (event["ts"] + event["dur"], "wait", number)]
    out = []
    for stage, its in enumerate(steps):
        kinds = kinds_of(name, stage)
        found = [(what, number) for _, what, number in sorted(its, key=lambda step: step[0])]
        order = list(dict.fromkeys(number for what, number in found if what == "pass"))
        begin = sorted(order)
        first = begin.index(order[0])
        kind = {number: kinds[(begin.index(number) - first) % len(kinds)] for number in order}
        out.append([(what, kind[number] if what == "pass" else number) for what, number in found])
    return out


def lists(steps):
    """The passes of each stage with their microbatches."""
    out = []
    for its in steps:
        counts = collections.Counter()
        out.append([])
        for what, kind in its:
            if what == "pass":
                out[-1].append(f"{kind}{counts[kind]}")
                counts[kind] += 1
    return out


def replay(steps, moves):
    """The time of the last pass, and of all passes of the stage that works most."""
    at, now, started = [0] * len(steps), [0] * len(steps), collections.defaultdict(dict)
    counts = [collections.Counter() for _ in steps]
    while any(at[stage] < len(its) for stage, its in enumerate(steps)):
        before = list(at)
        for stage, its in enumerate(steps):
            while at[stage] < len(its):
                what, each = its[at[stage]]
                if what == "pass":
                    now[stage] += UNITS[each]
                elif what == "start":
                    started[each, counts[stage]["start", each]][stage] = now[stage]
                elif len(sides := started[each, counts[stage]["wait", each]]) < len(moves[each]):
                    break
                else:
                    now[stage] = max(now[stage], *sides.values())
                counts[stage][what, each] += 1
                at[stage] += 1
        assert at != before, "the replay stands still"
    return max(now), max(sum(UNITS[each] for what, each in its if what == "pass") for its in steps)


def wanted(name, stages, microbatches):
    """The lists of the schedule, as docs/pipelines.md says."""
    out = []
    for stage in range(stages):
        ahead = microbatches if name == "gpipe" else min(stages - 1 - stage, microbatches)
        items = [f"F{m}" for m in range(ahead)]
        for m in range(microbatches):
            items += [f"F{ahead + m}"] if ahead + m < microbatches else []
            items += [f"B{m}"] if kinds_of(name, stage) == "FB" else [f"I{m}"] + ([f"W{m - stage}"] if m >= stage else [])
        if kinds_of(name, stage) == "FIW":
            items += [f"W{m}" for m in range(max(microbatches - stage, 0), microbatches)]
        out.append(items)
    return out


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        check = check_pipelines.Check(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        (check.folder / "model.json").write_text(check_pipelines.model(skips=False))
        for stages, microbatches in ((2, 4), (4, 8), (8, 32)):
            for name in BUBBLES:
                distribution = check.distribution(stages, microbatches, name)
                words = ["model.json", "--batch-size", 2 * microbatches, "--distribution", distribution]
                plan = Plan(check.run("compile", *words, "--emit", "plan"))
                check.run("compile", *words, "-o", "step.weft")
                check.run("profile", "step.weft", "--repeat", 1, "--trace", "trace.json")
                steps = executed(plan, json.loads((check.folder / "trace.json").read_text())["traceEvents"], stages, name)
                end, busy = replay(steps, plan.moves)
                bubble = (stages - 1) * BUBBLES[name]
                holds = lists(steps) == wanted(name, stages, microbatches) and end - busy == bubble
                print(f"{name}, {stages} stages, {microbatches} microbatches: bubble {end - busy}, expected {bubble}: {'as expected' if holds else 'FAILED'}")
                failures += not holds
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
