# A data scientist wants tables, differences with intervals and a picture, from Python.
cat > look.py <<'PY'
import aqmlab
import polars as pl

short = {"duration": "20 s", "warmup": "5 s", "traffic.0.users": 300, "link.0.rate": "1 Mbit/s"}
fifo = aqmlab.run("example:fifo", seeds=3, set=short, progress=False)
red = aqmlab.run("example:red", seeds=3, set=short, progress=False)
print(red.statistics())
print(aqmlab.paired(fifo, red).head())
responses = red.table("responses")
assert isinstance(responses, pl.DataFrame) and len(responses) > 100
print(responses.group_by("seed").agg(pl.col("duration_ns").median() / 1e9))
red.plot.cdf().figure.savefig("cdf.svg")
PY
python3 look.py
test -s cdf.svg
