# An ns-3 user runs the RED dumbbell that ns-3 has, names its attributes, and lays own numbers beside it.
aqmlab new scenario dumbbell.toml --from ns3-red
aqmlab run dumbbell.toml --set duration=15s --set warmup=5s --seeds 3 --out results/dumbbell
aqmlab describe dumbbell.toml --ns3 | grep RedQueueDisc
printf 'queue_mean_packets,drop_rate\n29.6,0.0121\n30.4,0.0118\n30.1,0.0124\n' > ns3.csv
aqmlab compare results/dumbbell ns3.csv --margin 10% > verdict.txt
grep -Eq 'equivalent|different|inconclusive' verdict.txt
