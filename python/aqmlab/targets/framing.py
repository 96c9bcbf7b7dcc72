"""A line's framing as shapers describe it: the bytes that each packet occupies beyond its IP
packet."""

from __future__ import annotations

from dataclasses import dataclass

ETHERNET_HEADER = 14
"""Bytes of link header that Linux counts in a packet on an Ethernet device; on a PPP device it
counts none."""


@dataclass(frozen=True)
class Framing:
    """Bytes beyond the IP packet, as `docs/links.md` and tc-cake(8) count them."""

    overhead: int = 0
    """Bytes of link-layer overhead of each packet."""
    least: int = 0
    """Bytes of the smallest frame, overhead included; a smaller one counts as this large."""
    cells: str = "none"
    """`none`, `atm` (cells of 53 bytes with 48 of payload) or `ptm` (65 bytes for 64)."""
    header: int = ETHERNET_HEADER
    """Bytes of the overhead that Linux counts already on the device towards such a line."""

    @property
    def bare(self) -> bool:
        """Whether the framing adds nothing to an IP packet."""
        return not self.overhead and not self.least and self.cells == "none"

    def for_cake(self) -> dict[str, object]:
        """The fields of cake for this framing; cake's overhead is relative to the IP packet."""
        said: dict[str, object] = {"overhead": self.overhead, "mpu": self.least}
        return {} if self.bare else said | {"framing": self.cells}

    @property
    def beyond_device(self) -> int:
        """Bytes to add to what Linux counts on the device (tc-stab(8)); may be negative."""
        return self.overhead - self.header


FRAMINGS = {
    "none": Framing(),
    "ethernet": Framing(38, 84),
    "docsis": Framing(18, 64),
    "gpon": Framing(23, 69),
    "pppoe-ptm": Framing(30, 0, "ptm", 0),
    "bridged-ptm": Framing(22, 0, "ptm"),
    "pppoe-llcsnap": Framing(40, 0, "atm", 0),
    "pppoe-vcmux": Framing(32, 0, "atm", 0),
    "bridged-llcsnap": Framing(32, 0, "atm"),
    "pppoa-vcmux": Framing(10, 0, "atm", 0),
    "ipoa-llcsnap": Framing(16, 0, "atm", 0),
}
"""Framings by their names in scenarios. Behind PPPoE, PPPoA and IPoA the device towards the line
carries bare IP packets (`pppoe-wan`, `ppp0`); elsewhere it is an Ethernet device."""
