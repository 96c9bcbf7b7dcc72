# Somebody wants one file simulated and on real TCP stacks, and the difference of the two.
aqmlab live --check
cat > pair.toml <<'TOML'
duration = "4 s"
warmup = "1 s"
network.rtt = "20 ms"
[[link]]
name = "line"
rate = "10 Mbit/s"
forward = "codel"
[[traffic]]
app = "bulk"
flows = 2
tcp = "linux"
TOML
aqmlab run pair.toml --out results/simulated
aqmlab live pair.toml --out results/live | grep 'in real time'
