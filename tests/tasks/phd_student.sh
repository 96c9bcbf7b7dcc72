# A PhD student has an idea for a discipline, holds it against three others, and takes a figure and a file to share.
aqmlab new aqm mine
aqmlab describe mine/mine.py | grep fields
cat > idea.toml <<'TOML'
[scenario]
duration = "6 s"
warmup = "2 s"
network.rtt = "40 ms"
[[scenario.link]]
name = "line"
rate = "10 Mbit/s"
[[scenario.traffic]]
app = "bulk"
flows = 4
[sweep]
"link.0.forward" = [
    { label = "FIFO", aqm = "droptail", limit = 100 },
    { label = "CoDel", aqm = "codel" },
    { label = "mine", aqm = "mine/mine.py" },
]
TOML
aqmlab run idea.toml --seeds 2 --out results/idea --report --trust
grep -q 'mine' results/idea/report.html
aqmlab plot results/idea trace --out idea.svg
aqmlab export results/idea --out idea.aqm
aqmlab reproduce idea.aqm --most 1 --trust
