"""Stage 8: a packet's chunks become a dump, one text with an index and blocks that content cannot forge."""

from __future__ import annotations

from rtch.handoff.dump import write_dump
from rtch.models.dump import Dump
from rtch.models.packet import Packet


def package(packet: Packet) -> Dump:
    """Return the dump of a packet's chunks, by the rank of their surfaces.

    A pure function of the packet: the time it shows is the packet's.
    """
    return write_dump(packet)
