"""Libraries name options, and only tools/weft says which flags they are.

In a message of a library an option is Option{"add_channel"} (base/Message.h). Its flag, --add-channel, must be one that
tools/weft declares, and no library has a flag in a literal. A message that is put into another one as text
(`path + x.message()`) would lose its options: x.error().in(path) and x.error().message keep them.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ("base", "layout", "runtime", "data", "training")
MESSAGES = (*LIBRARIES, "tools/weft")
DECLARATIONS = ("CommandLine.cpp", "ModelFlags.cpp", "TrainingFlags.cpp")
ANY_NAME = ("base/Message.h", "training/Ports.cpp")  # the class, and the reader of errors of the C interface
COMMENT = re.compile(r'//[^\n]*|("(?:[^"\\\n]|\\.)*")')
FLAG = re.compile(r'"(?:[^"\\\n]|\\.)*?(--[a-z][a-z-]+)')
OPTION = re.compile(r"\bOption(?: \w+)?\{\s*([^,}]*)")
AS_TEXT = re.compile(r"\+\s*(\w+)(?:\.|->)message\(\)|(\w+)(?:\.|->)message\(\)\s*\+")


def sources(folders):
    """Yields (path, its text without comments) of the C++ files in these folders."""
    listing = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    for name in listing.split():
        if name.endswith((".cpp", ".h", ".def", ".in")) and (ROOT / name).exists():
            yield name, COMMENT.sub(lambda found: found[1] or "", (ROOT / name).read_text())


def line(text, at):
    return text.count("\n", 0, at) + 1


def declared():
    """The options of the flags that tools/weft declares: add_channel of --add-channel."""
    texts = [(ROOT / "tools/weft" / name).read_text() for name in DECLARATIONS]
    return {flag.replace("-", "_") for text in texts for flag in re.findall(r'"(?:-\w,)?--([a-z-]+)"', text)}


def faults():
    known = declared()
    for name, text in sources(LIBRARIES):
        for found in FLAG.finditer(text):
            yield f'{name}:{line(text, found.start())}: names the flag {found[1]}; name the option, Option{{"add_channel"}}'
        for found in OPTION.finditer(text):
            literal = re.fullmatch(r'"(\w+)"', found[1].strip())
            if not literal and name not in ANY_NAME:
                yield f"{name}:{line(text, found.start())}: names an option by {found[1]}; write its name there"
            elif literal and literal[1] not in known:
                yield f"{name}:{line(text, found.start())}: {literal[1]} is no flag of tools/weft; correct it, or declare the flag"
    for name, text in sources(MESSAGES):
        for found in AS_TEXT.finditer(text):
            if re.search(rf"std::error_code &?{found[1] or found[2]}\b", text):
                continue  # of the system, with no option
            yield f"{name}:{line(text, found.start())}: {found[0]} loses the options of the message; write error().in(place) or error().message"


def main():
    found = list(faults())
    print(*found, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
