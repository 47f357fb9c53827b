"""No range-for statement reads a member or an element of an object that a call returns.

    for (const SubAxis &axis : group.getLayout().dims[0])

C++20 keeps a returned object alive for the loop only where the range is that object
or a member of it, not where an operator or another call stands between: the loop
above reads memory that is freed. Whether a call returns an object or a reference
is not seen where it is called, so all such ranges are refused; a name for the object
in front of the loop, or as the loop's own initialisation, is always right.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOP = re.compile(r"\bfor\s*\(")
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
# A call's closing parenthesis, then a member that is not called, or an element.
REFUSED = re.compile(r"\)\s*(?:\.\s*(?:template\s+)?\w+\s*(?![\w(<\s])|\[)")

# Examples that the check has to find, and others that it has to accept.
DANGLING = ["for (const SubAxis &axis : group.getLayout().dims[0])", "for (auto &dim : layoutOf(op).dims)",
            "for (int64_t n : op.getLayout().shapes()[0])", "for (int i = 0; int n : cast<LayoutAttr>(a).get().dims.front())"]
SAFE = ["for (Layout over = group.getLayout(); const SubAxis &axis : over.dims[0])", "for (int64_t n : (*layout).dims[0])",
        "for (Operation &op : function.getBody().front())", "for (int i = 0; i < f().size; ++i)",
        "for (const char *text : {f().name, g()[0]})", "for (Value value : op->getOperands().take_front(lists()[0]))"]


def without_text(code):
    """Returns the code with comments and literals blank, at the same places."""
    return TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), code)


def closing(code, opening):
    """Returns where the parenthesis that opens at `opening` closes."""
    depth = 0
    for place in range(opening, len(code)):
        depth += (code[place] in "([{") - (code[place] in ")]}")
        if depth == 0:
            return place
    return len(code)


def range_of(head):
    """Returns the range of a range-for's head, or nothing for another loop."""
    depth, colon = 0, None
    for place, sign in enumerate(head):
        depth += (sign in "([{") - (sign in ")]}")
        if depth or colon is not None and sign == ":":
            continue
        if sign == ":" and "::" not in head[place - 1 : place + 2]:
            colon = place
        if sign == ";" and colon is not None:
            return None
    return None if colon is None else head[colon + 1 :].strip()


def without_arguments(expression):
    """Returns the expression with its calls' arguments left out; "" for a list in braces."""
    out, place = "", 0
    while place < len(expression):
        if expression[place] == "{":
            return ""
        out += expression[place]
        if expression[place] in "([":
            end = closing(expression, place)
            called = expression[place] == "(" and re.search(r"[\w>]\s*$", out[:-1])
            # A parenthesis that only groups is written as a name.
            out = out[:-1] + ("()" if called else "[]" if expression[place] == "[" else "group")
            place = end
        place += 1
    return out


def loops(code):
    """Yields (line, head) of every range-for whose range is refused."""
    plain = without_text(code)
    for loop in LOOP.finditer(plain):
        head = plain[loop.end() : closing(plain, loop.end() - 1)]
        found = range_of(head)
        if found and REFUSED.search(without_arguments(found) + " "):
            yield plain.count("\n", 0, loop.start()) + 1, " ".join(found.split())


def main():
    wrong = [s for s in DANGLING if not list(loops(s))] + [s for s in SAFE if list(loops(s))]
    for sample in wrong:
        print(f"tools/check/check_ranges.py: judges its own sample {sample!r} wrongly; fix the patterns there")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True)
    names = [n for n in listing.stdout.splitlines() if n.endswith((".cpp", ".h", ".inc", ".td", ".cu")) and (ROOT / n).exists()]
    found = [(name, *loop) for name in names for loop in loops((ROOT / name).read_text())]
    for name, line, expression in found:
        print(f"{name}:{line}: the loop's range {expression} reads an object that a call returns, which may be gone; "
              "name it first: for (auto object = call(); ... : object.member)")
    return 1 if found or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
