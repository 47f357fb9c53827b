"""One piece of code creates files, base/AtomicFile.h, and few open files to read.

Other code that creates, truncates or renames files follows links at predictable
names, drops the permissions of the file it replaces, and leaves half a file behind when
it is killed. Code that opens a file that a user names must first check that it is a
regular file: opening a pipe waits for its other end. Each exception has its reason.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("base", "compiler", "data", "dialects", "layout", "passes", "runtime", "tools", "training")
WRITES = re.compile("|".join((
    r"\bstd::o?fstream\b", r'\bf(?:re)?open(?:64)?\s*\([^;]*"[wa+r]*[wa+][wa+bx]*"', r"\bO_CREAT\b", r"\bO_TRUNC\b",
    r"\bcreat\s*\(", r"\bmko?stemps?\b", r"\btmpfile\b", r"\brename(?:at2?)?\s*\(", r"\bH5F_ACC_(?:TRUNC|EXCL|RDWR)\b",
    r"\bZIP_(?:CREATE|TRUNCATE)\b", r"\bToolOutputFile\b", r"\bopenFileFor(?:Read)?Write\b", r"\bcreateUniqueFile\b",
    r"\bcreateTemporaryFile\b", r"\bTempFile\b", r"\bFileOutputBuffer\b",
    # Matches raw_fd_ostream with a name; one with a descriptor creates no file.
    r"\braw_fd_(?:o)?stream\s+\w+\s*\((?!\s*descriptor\b)[^;]*\berror\b")))
READS = re.compile("|".join((
    r"\bstd::ifstream\b", r'\bfopen\s*\([^;]*"rb?"', r"\bopen(?:at)?\s*\([^;]*\bO_RDONLY\b", r"\bMemoryBuffer::getFile\w*",
    r"\bzip_open\b", r"\bH5Fopen\b")))
WRITERS = {
    "base/AtomicFile.cpp": "the one place",
    "data/formats/Hdf5Writer.cpp": "H5Fcreate of the file of openNamedTemporary(), which is removed at once",
    "data/files/OpenFile.cpp": "mkostemp() of a file that is removed at once",
    "compiler/codegen/cpu/LinkObjects.cpp": "the linker reads files: in a folder of mkdtemp()",
}


READERS = {
    "base/AtomicFile.cpp": "folders",
    "data/files/Files.cpp": "after regularFileSize()",
    "data/formats/Hdf5Datasets.cpp": "H5Fopen after regularFileSize()",
    "data/formats/Hdf5Library.cpp": "H5Fopen of an open file's map in memory",
    "data/files/OpenFile.cpp": "after regularFileSize()",
    "data/formats/Zip.cpp": "after regularFileSize()",
    "data/formats/ZipDirectory.cpp": "a file that ZipReader has open",
    "runtime/program/Program.cpp": "O_NONBLOCK, then S_ISREG",
    "runtime/processes/Liveness.cpp": "/proc",
    "compiler/codegen/CodeCache.cpp": "O_NONBLOCK, then S_ISREG, in a folder of the user's own",
    "compiler/codegen/cpu/LinkObjects.cpp": "the linker's output",
    "tools/weft/compiler/Devices.cpp": "/proc",
    "tools/weft/programs/Statistics.cpp": "/proc",
}


def calls(pattern, text):
    """(line number, the call) of each match; comments do not count."""
    plain = re.sub(r"//[^\n]*", "", text)
    return [(plain.count("\n", 0, m.start()) + 1, " ".join(m.group(0).split())) for m in pattern.finditer(plain)]


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".cpp", ".h", ".inc", ".c", ".cu"}:
                yield path.relative_to(ROOT).as_posix(), path.read_text(errors="replace")


def complaints(pattern, allowed, what):
    met = set()
    for name, text in sources():
        found = calls(pattern, text)
        if found and name in allowed:
            met.add(name)
        else:
            for line, call in found:
                yield f"{name}:{line}: {call!r} {what}"
    for name in allowed.keys() - met:
        yield f"{name}: opens no file in this way any more; remove it from tools/check/check_files.py"


def main():
    bad = [*complaints(WRITES, WRITERS, "creates a file; use AtomicFile (base/AtomicFile.cpp)"),
           *complaints(READS, READERS, "opens a file; use readFile() or readStart() (data/files/Files.h)")]
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
