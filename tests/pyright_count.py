"""Run pyright and hold it to its word: no error, and every file of ours was read.

pyright leaves out linked packages without a sound when it is told to include a folder, and then
passes with errors in them. So the number of files that it says it read is compared with ours.
"""

from __future__ import annotations

import json
import os
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


def report(diagnostics: list[dict[str, object]]) -> None:
    """Print what pyright found, one place a line."""
    for row in diagnostics:
        span = row.get("range")
        line = span["start"]["line"] + 1 if isinstance(span, dict) else 0
        print(f"{row.get('file')}:{line}: {row.get('message')} [{row.get('rule', 'syntax')}]")


def main() -> int:
    """Return 0 when pyright read every file and found no error."""
    pyright = Path(sys.executable).with_name("pyright")
    argv = [str(pyright), "--outputjson", "--pythonpath", sys.executable]
    ran = subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    try:
        found = json.loads(ran.stdout)
    except json.JSONDecodeError:
        print(f"pyright gave no report (exit {ran.returncode}): {ran.stderr.strip()}", file=sys.stderr)
        return 1
    report([row for row in found["generalDiagnostics"] if row.get("severity") == "error"])
    errors, read, ours = found["summary"]["errorCount"], found["summary"]["filesAnalyzed"], our_files(ROOT)
    print(f"pyright: {errors} errors, {read} files read, {ours} files are ours")
    return 0 if not errors and read >= ours else 1


if __name__ == "__main__":
    sys.exit(main())
