"""Packet files: written once and never over another, read within bounds, and only from where they may lie."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Any

from rtch.documents import Document
from rtch.errors import ArtifactError, ZoneError

MAX_PACKET_BYTES = 64 * 1024 * 1024
"""A packet is bounded by its budget; what is larger is none."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ALIAS = re.compile(rb"(?m)(?:^|[\s\[{,:?-])[*&][^\s*&]")


def zone_packet_folder(zone_root: Path, audit_logs: str, *, allowed: tuple[Path, ...] = ()) -> Path:
    """Return ``rtch/packets`` in a zone's audit folder, made where that folder exists.

    Args:
        zone_root: the zone's root.
        audit_logs: its audit folder, relative to the root.
        allowed: folders outside the zone in which it may lie.

    Raises:
        ZoneError: the folder leads out of the zone and of what is allowed.
        ArtifactError: it cannot be made.
    """
    try:
        roots = tuple(path.resolve(strict=True) for path in (zone_root, *allowed))
        audit = _contained(zone_root / audit_logs, roots)
        packets = audit
        for name in ("rtch", "packets"):
            with contextlib.suppress(FileExistsError):
                (packets / name).mkdir(mode=0o755)
            packets = _contained(packets / name, roots)
    except OSError as error:
        raise ArtifactError(f"{zone_root / audit_logs} cannot hold packets: {error.strerror or error}") from error
    return packets


def _contained(folder: Path, roots: tuple[Path, ...]) -> Path:
    real = folder.resolve(strict=True)
    if not any(real.is_relative_to(root) for root in roots):
        raise ZoneError(f"{folder} leads out of the zone to {real}", hint="nothing was written")
    return real


def create_file(folder: Path, name: str, data: bytes, *, mode: int) -> bool:
    """Write a file under a name that is not taken; return False, and change nothing, where it is.

    Readers see the whole file or none, and it is on the disk when this returns.

    Args:
        folder: a real path, not through links.
        name: one path part.
        data: the content.
        mode: the file's permissions, before the umask.

    Raises:
        ArtifactError: the file cannot be written.
    """
    try:
        folder_fd = os.open(folder, _FOLDER)
        try:
            return _linked(folder_fd, name, data, mode)
        finally:
            os.close(folder_fd)
    except OSError as error:
        raise ArtifactError(f"{folder / name} cannot be written: {error.strerror or error}") from error


def _linked(folder_fd: int, name: str, data: bytes, mode: int) -> bool:
    temporary = f".{name}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    _write_new(folder_fd, temporary, data, mode)
    try:
        os.link(temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _written_in_place(folder_fd, name, data, mode)
    finally:
        os.unlink(temporary, dir_fd=folder_fd)
    os.fsync(folder_fd)
    return True


def _written_in_place(folder_fd: int, name: str, data: bytes, mode: int) -> bool:
    """Serve file systems without hard links: still never over another file, though readers may see it grow."""
    try:
        _write_new(folder_fd, name, data, mode)
    except FileExistsError:
        return False
    os.fsync(folder_fd)
    return True


def _write_new(folder_fd: int, name: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, mode, dir_fd=folder_fd)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor, not a path
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(name, dir_fd=folder_fd)
        raise


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file in one step, over an older one.

    Args:
        path: in rtch's own data folder, or a file that the user named.
        data: all of it.
        mode: who may read it, less the user's mask.

    Raises:
        ArtifactError: the file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor, not a path
            file.write(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ArtifactError(f"{path} cannot be written: {error.strerror or error}") from error


def read_file(path: Path) -> bytes:
    """Return the bytes of a regular file of at most 64 MB, never waiting for one.

    Raises:
        ArtifactError: it cannot be opened, is no regular file, or is larger.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123  a descriptor, not a path
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ArtifactError(f"{path} is not a regular file")
            data = file.read(MAX_PACKET_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_PACKET_BYTES:
        raise ArtifactError(f"{path} is larger than a packet can be ({MAX_PACKET_BYTES} bytes)")
    return data


def parse_document(data: bytes, where: str) -> Document:
    """Read a mapping from JSON or YAML; aliases are refused, for what they expand to is not bounded.

    Raises:
        ArtifactError: it is neither, or no mapping.
    """
    try:
        value = json.loads(data) if data.lstrip()[:1] in {b"{", b"["} else _yaml(data)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{where} is neither JSON nor YAML: {_first_line(error)}") from error
    if not isinstance(value, dict):
        raise ArtifactError(f"{where} is no packet: a mapping was expected, not {type(value).__name__}")
    return value


def _yaml(data: bytes) -> Any:
    import yaml  # noqa: PLC0415  40 ms that JSON does not need

    # The fast reader refuses the surrogates that stand for the bytes of a path that is not UTF-8.
    fast = None if _SURROGATE.search(data) else getattr(yaml, "CSafeLoader", None)
    loader = fast or yaml.SafeLoader
    try:
        if _ALIAS.search(data) and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(data, Loader=loader)):
            raise ValueError("YAML aliases are not used in packets")
        return yaml.load(data, loader)  # noqa: S506  both are safe
    except yaml.YAMLError as error:
        raise ValueError(_first_line(error)) from error


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0]
