"""Run mypy and hold it to its word: no error, and every file of ours was checked.

A type checker can leave out linked packages without a sound, and then passes with errors in them. So
the number of files that it says it checked is compared with ours.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE_FOLDERS = ("rtch", "tests")


def our_files(root: Path) -> int:
    """Count the Python files below the package folders, links to folders followed."""
    return sum(
        name.endswith(".py")
        for folder in PACKAGE_FOLDERS
        for _, _, names in os.walk(root / folder, followlinks=True)
        for name in names
    )


def main() -> int:
    """Return 0 when mypy checked every file and found no error."""
    argv = [sys.executable, "-m", "mypy"]
    ran = subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    print(ran.stdout, ran.stderr, sep="", end="")
    told = re.search(r"(\d+) source files", ran.stdout)
    checked, ours = int(told.group(1)) if told else 0, our_files(ROOT)
    if checked < ours:
        print(f"mypy checked {checked} of our {ours} files", file=sys.stderr)
    return ran.returncode or int(checked < ours)


if __name__ == "__main__":
    sys.exit(main())
