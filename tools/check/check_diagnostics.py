"""Every diagnostic of dialects and passes is quoted by a test.

A diagnostic is the statement that calls emitError or emitOpError; a test quotes it
when it contains the longest string literal of that statement. What no test quotes yet is listed in unquoted_diagnostics.txt, one
`file: literal` a line, a list that only shrinks; --write drops the lines that are done.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASELINE = ROOT / "tools" / "check" / "unquoted_diagnostics.txt"
CALL = re.compile(r"emit(?:Op)?Error\(")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def statement(text, start):
    """The code from `start` to the semicolon that ends the statement."""
    end, quoted = start, False
    while end < len(text) and (quoted or text[end] != ";"):
        if text[end] == "\\":
            end += 1
        elif text[end] == '"':
            quoted = not quoted
        end += 1
    return text[start:end]


def diagnostics():
    """Yields (file, the longest literal) of every message with one."""
    for folder in ("dialects", "passes"):
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            text = path.read_text()
            for call in CALL.finditer(text):
                code = re.sub(r'"\s*\n\s*"', "", statement(text, call.end()))
                literals = [m.strip() for m in LITERAL.findall(code)]
                longest = max(literals, key=len, default="")
                if len(longest) > 2:
                    yield f"{path.relative_to(ROOT)}: {longest}"


def quoted_text():
    """All that tests say, with line breaks inside C++ literals closed."""
    texts = [p.read_text(errors="replace") for p in sorted((ROOT / "test").rglob("*"))
             if p.suffix in {".mlir", ".test", ".cpp", ".py"}]
    return re.sub(r'"\s*\n\s*"', "", "\n".join(texts))


def main():
    tests = quoted_text()
    found = set(diagnostics())
    unquoted = {d for d in found if d.split(": ", 1)[1] not in tests}
    listed = set(BASELINE.read_text().splitlines()) if BASELINE.exists() else set()
    if sys.argv[1:] == ["--write"]:
        kept = unquoted & listed if BASELINE.exists() else unquoted
        BASELINE.write_text("".join(f"{line}\n" for line in sorted(kept)))
        return 0
    for line in sorted(unquoted - listed):
        print(f"{line!r}: no test quotes it; write one (the list of exceptions only shrinks)")
    for line in sorted(listed - unquoted):
        print(f"tools/check/unquoted_diagnostics.txt: {line!r} is quoted or gone; "
              "run python3 tools/check/check_diagnostics.py --write")
    if not found:
        print("dialects, passes: no diagnostic found; mend the pattern in tools/check/check_diagnostics.py")
    return 1 if unquoted != listed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
