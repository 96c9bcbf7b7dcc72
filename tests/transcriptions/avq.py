"""AVQ, the adaptive virtual queue: Kunniyur and Srikant, SIGCOMM 2001, figure 1; ns-2.35 Vq.

Signals what overflows a virtual queue of size Bv; its capacity follows
dC~/dt = alpha (gamma C - arrival rate). ns-2 clamps C~ after charging the arrival, not before,
and an arrival it drops leaves C~ and its clock alone.
"""

from .base import MARKABLE, PASS, Fifo, Packet, Parameters, Verdict, grid, signal


class Avq(Fifo):
    def setup(self, p: Parameters) -> None:
        self.ecn, self.ns2 = p.flag("ecn"), p.choice("profile", "paper") == "ns2"
        self.gamma, self.alpha = p.get("gamma", 0.98), p.get("alpha", 0.15)
        self.mean, limit = p.get("mean_packet_bytes", 1000), p.get("limit", 50)
        self.bytewise = p.choice("units", "byte") == "byte"
        self.unit = self.mean if self.bytewise else 1
        self.capacity = self.rate / 8 / (1 if self.bytewise else self.mean)
        if self.bytewise:
            self.limit_bytes = limit * self.mean
        else:
            self.limit = limit
        self.buffer = p.get("buflim", 1) * limit * self.unit
        self.vq, self.c = 0.0, p.get("ecnlim", 0.8) * self.capacity
        self.drained: int | None = None  # when the virtual queue last drained
        self.adapted: int | None = None  # when C~ last adapted

    def judge(self, packet: Packet, now: int) -> Verdict:
        s = packet.bytes if self.bytewise else 1
        drained = now if self.drained is None else self.drained
        self.vq, self.drained = max(0.0, self.vq - self.c * (now - drained) / 1e9), now
        verdict = PASS
        if self.vq + s > self.buffer:
            verdict = signal("early")
        else:
            self.vq += s
        drops = verdict and not (self.ecn and packet.ecn in MARKABLE)
        if not (self.ns2 and drops):
            self.adapt(s, now)
        return verdict

    def adapt(self, s: float, now: int) -> None:
        elapsed = (now - (now if self.adapted is None else self.adapted)) / 1e9
        self.adapted = now
        gain = self.alpha * self.gamma * self.capacity * elapsed
        if self.ns2:
            self.c = min(max(self.c + gain - self.alpha * s, 0.0), self.capacity)
        else:
            self.c = max(0.0, min(self.capacity, self.c + gain) - self.alpha * s)

    def state(self) -> dict[str, float]:
        bits = 8 if self.bytewise else 8 * self.mean
        return {"virtual_queue": self.vq / self.unit, "virtual_capacity": self.c * bits}


CASES = [
    *grid({}, profile=["paper", "ns2"]),
    *grid({"limit": 6}, profile=["paper", "ns2"], units=["byte", "packet"], ecn=[False, True],
          buflim=[0.5, 1], trial=[{"load": 1.2}]),
    *grid({"limit": 6, "ecn": True, "alpha": 50, "gamma": 0.5, "ecnlim": 1},
          profile=["paper", "ns2"], units=["byte", "packet"], mean_packet_bytes=[500]),
]  # fmt: skip
