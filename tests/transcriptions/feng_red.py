"""Self-configuring RED: Feng, Kandlur, Saha and Shin, INFOCOM 1999, figure 3.

Each time the average leaves the band, max_p is scaled once: divided by alpha below min_th,
multiplied by beta above max_th. ns-3 starts "above", so that its first packet divides max_p.
"""

from ._red_ns import NsRed
from ._red_paper import PaperRed, RedFifo
from .base import Parameters, grid


class FengRed(RedFifo):
    def setup(self, p: Parameters) -> None:
        profile = p.choice("profile", "fj93")
        simulators = profile != "fj93"
        self.ecn, self.limit = p.flag("ecn"), p.get("limit", 60)
        self.alpha, self.beta = p.get("alpha", 3), p.get("beta", 2)
        self.status = "above" if profile == "ns3" else "below"
        self.low, self.high, w = p.get("min_th", 5), p.get("max_th", 15), p.get("w_q", 0.002)
        max_p = p.get("max_p", 0.02 if profile == "ns3" else 0.1)
        gentle = p.flag("gentle", simulators)
        mean = p.get("mean_packet_bytes", 500 if simulators else 1000)
        s = self.packet_seconds(mean)
        if simulators:
            self.red = NsRed(
                self.draws, self.low, self.high, w, max_p, gentle=gentle, hard=True, s=s,
                wait=True, mean=mean, forgets=("forced", "overflow") if profile == "ns2" else (),
            )  # fmt: skip
            self.red.gentle_max_p = max_p
        else:
            self.red = PaperRed(
                self.draws, self.low, self.high, w, max_p, gentle=gentle, hard=True, s=s
            )
        self.red.adapt = self.adapt

    def adapt(self, avg: float, now: int) -> None:
        if self.low < avg < self.high:
            self.status = "between"
        elif avg < self.low and self.status != "below":
            self.status = "below"
            self.red.max_p /= self.alpha
        elif avg > self.high and self.status != "above":
            self.status = "above"
            self.red.max_p = min(self.red.max_p * self.beta, 1)

    def state(self) -> dict[str, float]:
        return {**super().state(), "max_p": self.red.max_p}


BUSY = {"min_th": 2, "max_th": 6, "w_q": 1 / 16}
CASES = [
    # The line idles while arrivals are dropped, closer together than packets of the idle clock.
    {"min_th": 2, "max_th": 4, "w_q": 0.01, "trial": {"load": 8}},
    *grid({}, profile=["fj93", "ns2", "ns3"]),
    *grid({**BUSY, "w_q": 1}, profile=["fj93", "ns3"], max_p=[0.3]),
    *grid(BUSY, profile=["fj93", "ns2", "ns3"], ecn=[False, True], gentle=[False, True]),
    *grid({**BUSY, "limit": 9, "max_p": 0.6}, profile=["fj93", "ns2", "ns3"], alpha=[1.5],
          beta=[4], mean_packet_bytes=[300]),
]  # fmt: skip
