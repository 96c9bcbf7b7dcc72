# Somebody has a capture of a network and wants to know what another queue would do for its connections.
aqmlab run example:ns3-red --set duration=10s --set warmup=2s --seed 1 --pcap day.pcap
aqmlab learn day.pcap --figures
test -s day.html
aqmlab run day.replay.toml --set 'link.0.rate=8 Mbit/s' --set 'link.0.forward={ aqm = "fq_codel" }'
