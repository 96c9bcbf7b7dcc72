# A household on DSL wants calls to be understood while somebody uploads: which queue, and what to type.
aqmlab advise ${HOME_LINE:---rate 20/4mbit --access dsl} --objective "calls ok" --target tc --dev eth0 --quick > answer.txt
grep -q '^advised: ' answer.txt
grep -q 'tc qdisc replace dev ifb4eth0 root .* 18mbit' answer.txt       # what comes down
grep -q 'tc qdisc replace dev eth0 root .* 3800kbit' answer.txt         # what goes up
