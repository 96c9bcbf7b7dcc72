# An operator asks which queue an aggregation link of 3,000 homes should have in its busy hour.
aqmlab new scenario homes.toml --from homes
aqmlab run homes.toml --set duration=3s --set warmup=1s --set traffic.0.users=280 --out results/homes --report
grep -q 'fq_codel' results/homes/report.html
aqmlab describe fq_codel --rate "1 Gbit/s" --tc | grep '^tc qdisc replace'
