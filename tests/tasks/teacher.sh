# A teacher wants a picture for the class, a page on the projector, and homework whose numbers all can check.
aqmlab run example:bufferbloat --out results/bufferbloat --report
aqmlab plot results/bufferbloat trace --out teeth.svg
test -s teeth.svg
aqmlab describe codel | grep interval
aqmlab run example:ns3-red --seed 7 --set duration=8s --set warmup=2s --out results/one | grep -o 'fingerprint [0-9a-f]*' > first.txt
aqmlab run example:ns3-red --seed 7 --set duration=8s --set warmup=2s --out results/two | grep -o 'fingerprint [0-9a-f]*' > second.txt
test -s first.txt && cmp first.txt second.txt
