#!/usr/bin/env python3
"""Checks that dependencies point one way: level_zero -> source -> shared -> include.

Besides: ze_* types stay in level_zero/, system calls in shared/os/, nothing but unit_tests/ includes
unit_tests/, and some folders see less than the rest of their layer.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What each layer may include, by the first folder of a root-relative include.
ALLOWED = {
    "include": set(),
    "shared": {"shared"},
    "source": {"source", "shared"},
    "level_zero": {"level_zero", "source", "shared"},
    "examples": {"examples"},
}
# Folders that may include less than their layer.
ALLOWED_IN_FOLDER = {"source/copy/": ("source/copy/", "shared/")}
LAYERS = set(ALLOWED) | {"unit_tests"}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ZE_NAME = re.compile(r"\b(?:ze|zes|zet)_\w+_t\b|\bZE_(?:RESULT|STRUCTURE)_\w+|<level_zero/")
# A call in the global namespace, which is how this code base writes a system call.
SYSTEM_CALL = re.compile(r"(?<![\w>:])::(?!crc32\b)[a-z]\w*\(")  # crc32 is zlib's
# Releasing has no errors to report and must not need an Os (shared/base/unique_fd.h).
SYSTEM_CALL_EXCEPTIONS = {"shared/base/unique_fd.cpp", "shared/base/log.cpp"}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def complaints(path: pathlib.Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    layer = name.split("/")[0]
    text = path.read_text(encoding="utf-8")
    code = COMMENT.sub("", text)
    found = []
    for included in INCLUDE.findall(text):
        target = included.split("/")[0]
        if target in LAYERS and target not in ALLOWED[layer]:
            found.append(f"{name}: {layer}/ must not include {included}")
        for folder, allowed in ALLOWED_IN_FOLDER.items():
            if name.startswith(folder) and target in LAYERS and not included.startswith(allowed):
                found.append(f"{name}: {folder} must not include {included}")
    if layer in ("shared", "source") and (match := ZE_NAME.search(code)):
        found.append(f"{name}: {match.group()} belongs in level_zero/")
    if layer in ("source", "level_zero", "shared") and not name.startswith("shared/os/"):
        if name not in SYSTEM_CALL_EXCEPTIONS and (match := SYSTEM_CALL.search(code)):
            found.append(f"{name}: system call {match.group()}...) belongs in shared/os/")
    return found


def main() -> int:
    found = []
    for layer in ALLOWED:
        for pattern in ("*.h", "*.cpp", "*.c"):
            for path in sorted((ROOT / layer).rglob(pattern)):
                found += complaints(path)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
