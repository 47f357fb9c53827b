"""No binary loads a library from a folder that somebody else may write.

check_runpaths.py [build folder]: reads RUNPATH and RPATH of every ELF file in bin/ and
lib/ with readelf. The dynamic loader takes an empty or relative element as seen from the
current directory, so a library there would be loaded. Elements are $ORIGIN, a path that
begins with $ORIGIN/, or a folder of the system: one that root owns, as its parents, and
that nobody else may write. check_install.py reads the installed tree in the same way.
"""

import pathlib
import re
import stat
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def elements(path):
    """Returns the elements of RUNPATH and RPATH of an ELF file."""
    dynamic = subprocess.run(["readelf", "-dW", str(path)], text=True, capture_output=True, check=True).stdout
    listed = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
    return list(dict.fromkeys(element for line in listed for element in line.split(":")))


def writable_by_others(folder):
    """Returns the first of a folder and its parents that is not root's alone; folders that are not there have the mode
    of their nearest parent."""
    for place in (folder, *folder.parents):
        if place.exists():
            info = place.stat()
            if info.st_uid != 0 or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return place
    return None


def complaint(element):
    """Returns the complaint about one element, or None."""
    if element == "":
        return "is empty, which means the current directory"
    if element == "$ORIGIN" or element.startswith("$ORIGIN/"):
        return None
    if not element.startswith("/"):
        return "is relative to the current directory"
    place = writable_by_others(pathlib.Path(element))
    return f"can be changed by others than root: {place}" if place else None


def complaints(folders):
    """Returns one line for each bad element of the ELF files in `folders`, and how many files were read."""
    lines, count = [], 0
    for path in sorted({p.resolve() for folder in folders for p in pathlib.Path(folder).rglob("*") if p.is_file()}):
        if is_elf(path):
            count += 1
            for element in elements(path):
                if wrong := complaint(element):
                    lines.append(f"{path}: RUNPATH element '{element}' {wrong}; see cmake/WeftRunpath.cmake")
    return lines, count


def main():
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"
    for element in ("", "lib", ".", "/tmp", "/tmp/weft/lib", "$ORIGINAL"):
        if not complaint(element):
            print(f"check_runpaths.py accepts the element '{element}'")
            return 1
    lines, count = complaints([build / "bin", build / "lib"])
    if not count:
        lines.append(f"{build}: has no binary in bin/ or lib/; build it first")
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
