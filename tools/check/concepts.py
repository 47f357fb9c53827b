"""Counts how often one fact is told in the sources of a commit.

    python3 tools/check/concepts.py [COMMIT ...]    default: HEAD

Each row is one concept with the number of lines or files that tell it; --files names them.
"""

import argparse
import re
import subprocess

CODE = ("*.h", "*.cpp", "*.td", "*.def", "*.fbs", "*.in", "*.py", "*.txt", "*.cu")
# Concept: (a regular expression of the lines that tell it, folders).
ALL = ("base", "layout", "dialects", "passes", "compiler", "runtime", "data", "training", "tools")
PLAIN = ("base", "layout", "runtime", "data", "training")
LINES = {
    "declarations of a port": (r"^\s*(typedef )?(struct|table) (Port|PortInfo|PortFacts|ProgramPort|weft_port|StepPort)\b.*\{", ALL),
    "forms of an error": (r"^\s*(struct|class|template.*(class|struct)) (\[\[nodiscard\]\] )?(Error|Result|Status|weft_error)\b.*\{|^using Error = ", ALL),
    "readers of a config's options": (r"^(class (Fields|CallbackOptions)|struct Call) \{", ALL),
    "handlers of a context's diagnostics": (r"getDiagEngine\(\)\.registerHandler", ("compiler", "tools")),
    "enums of kinds of steps": (r"^enum class StepKind\b", ALL),
    "Mersenne twisters": (r"1812433253", ALL),
    "ops of the plan that are collectives": (
        r"^def Plan_\w+Op : Plan_(CollectiveOp|GroupMoveOp|MovingOp|LayoutMoveOp)\b|^def Plan_StartOp\b", ("dialects",)),
    "functions that count a collective's bytes": (
        r"^\s*(virtual )?u?int64_t (\w+::)?(getBytesSent|bytesSent|sentInRing|mostBytesSent|bytesInRing)\(", ("layout", "dialects", "runtime")),
    "lines that move the cursor of a loop nest, or close its loops": (
        r"\b(closeLoops|enterDepth)\(|getTerminator\(\)->setOperand", ("compiler",)),
    "functions that group digits": (r"^(static )?std::string (\w+::)?grouped(Digits)?\(.*\{", ALL),
}
FILES = {
    "lists of element types": (r"[eE]4[mM]3[bB]11[fF][nN][uU][zZ]", ALL),
    "files that build sums of values": (r"(Value|Tensor|Number) (\w+::)?(add|operator\+)\((mlir::)?(Value|RealTensor|Tensor|Number) \w+, (mlir::)?(Value|RealTensor|Tensor|Number) \w+\)", ALL),
    "files that divide threads and lanes of a GPU by hand": (
        r"(Div|Rem)UIOp::create\([^;]*(thread|lane|warp)|(divided|remainder)\((lane|warp|thread)|kWarpLanes - 1", ("compiler",)),
    "plain libraries' files that name a flag of the command line": (r'"[^"]*--[a-z][a-z-]+[^"]*"', PLAIN),
}


def grep(commit, pattern, folders, option):
    """The lines (option -n) or files (-l) of a commit in these folders that match."""
    globs = [f":(glob){folder}/**/{kind}" for folder in folders for kind in CODE]
    command = ["git", "grep", option + "P", pattern, commit, "--", *globs, ":!tools/check"]
    return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()


def folders_named(commit, name):
    listing = subprocess.run(["git", "ls-tree", "-rd", "--name-only", commit], capture_output=True, text=True).stdout.split()
    return [folder for folder in listing if folder.split("/")[-1] == name and folder.split("/")[0] in ALL]


def text(commit, path):
    return subprocess.run(["git", "show", f"{commit}:{path}"], capture_output=True, text=True).stdout


def kinds_of_collectives(commit):
    """The collectives that the file format tells apart."""
    union = re.search(r"union CollectiveKind \{([^}]*)\}", text(commit, "runtime/abi/plan.fbs"))
    return re.findall(r"(\w+):", union.group(1)) if union else []


def files_of_a_collective(commit, ofNewKind):
    """The source files that docs/adding-a-collective.md names, but those of who creates the collective."""
    page = text(commit, "docs/adding-a-collective.md")
    page = page[page.find("\n## "):] if page else ""
    if not ofNewKind:
        page = page.split("## A new kind")[0]
    page = re.sub(r"## \d+\. Who creates it.*?(?=\n## )", "", page, flags=re.S)
    return sorted(set(re.findall(r"`((?:dialects|passes|compiler|runtime|layout)/[\w/]+\.(?:td|cpp|h|fbs))`", page)))


def rows(commit):
    for name, (pattern, folders) in LINES.items():
        yield name, grep(commit, pattern, folders, "-n")
    for name, (pattern, folders) in FILES.items():
        yield name, grep(commit, pattern, folders, "-l")
    yield "kinds of collectives in the file", kinds_of_collectives(commit)
    yield "source files that a new collective touches", files_of_a_collective(commit, False)
    yield "source files that a collective of a new kind touches", files_of_a_collective(commit, True)
    yield "folders named layout", folders_named(commit, "layout")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commits", nargs="*", default=["HEAD"])
    parser.add_argument("--files", action="store_true", help="name the places, too")
    arguments = parser.parse_args()
    tables = [dict(rows(commit)) for commit in arguments.commits]
    for name in tables[0]:
        print(f"{name:62}" + "  ".join(f"{len(table[name]):4}" for table in tables))
        if arguments.files:
            print(*(f"    {re.sub(r'^[^:]*:', '', place)}" for place in tables[-1][name]), sep="\n")


if __name__ == "__main__":
    main()
