"""How long it takes to read and hash files, each once: prints JSON, for ``yardsticks``.

    python -I -S tests/bench/hashing.py LISTING

The listing holds paths below the working folder, each ended by a zero byte. The time to start is not in
``seconds``, nor that to read the listing.
"""

import hashlib
import json
import os
import sys
import time

BLOCK_BYTES = 1 << 18


def main() -> None:
    """Hash what is a regular file, by sha256."""
    with open(sys.argv[1], "rb") as stream:  # noqa: PTH123  pathlib would make the process larger
        paths = stream.read().split(b"\0")
    started, files, total = time.perf_counter(), 0, 0
    for path in filter(None, paths):
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            digest = hashlib.sha256()
            while block := os.read(handle, BLOCK_BYTES):
                digest.update(block)
                total += len(block)
            digest.digest()
            files += 1
        except OSError:
            pass
        finally:
            os.close(handle)
    print(json.dumps({"seconds": time.perf_counter() - started, "files": files, "bytes": total}))


if __name__ == "__main__":
    main()
