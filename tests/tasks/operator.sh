# An operator wants to know which queue an aggregation link of 3,000 homes should have, with senders of today and L4S.
aqmlab new scenario homes.toml --from homes
aqmlab run homes.toml --set duration=2s --set warmup=1s --set traffic.0.users=280 --out results/homes --report
grep -q 'fq_codel, CUBIC' results/homes/report.html
grep -q 'dualpi2, Prague' results/homes/report.html
aqmlab describe fq_codel --rate "1 Gbit/s" --tc | grep '^tc qdisc replace'
