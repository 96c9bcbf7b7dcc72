# Somebody who builds routers takes over what a router has, tries CAKE in its place, and gets its configuration.
echo 'qdisc fq_codel 0: dev eth0 root refcnt 2 limit 1000p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64' > shown.txt
aqmlab from-tc shown.txt --rate 10Mbit/s --out mine.toml
aqmlab run mine.toml --set duration=8s --set warmup=2s
aqmlab run mine.toml --set duration=8s --set warmup=2s --set link.0.forward=cake --out results/cake
aqmlab describe mine.toml:link.0.forward --tc | grep 'fq_codel'
aqmlab describe cake rate=9500kbit/s --openwrt | grep cake
