# Bulk TCP over one congested link in ns-2 2.35, for validation/ns2/compare.py.
#
#   servers -- 10 Mb/s, 0 ms --> router -- each flow's round-trip time --> client
#   All of a flow's propagation delay lies at its client's entrance; nothing else delays, and only
#   the link to the router is slower than 100 Gb/s.
#
# Use: ns bulk.tcl flows newreno|sack droptail|red seed warmup_s end_s min_rto_s
# Prints one line of names and values; counters are those of the time after the warm-up.

foreach {flows recovery queue seed warmup end min_rto} $argv {}

remove-all-packet-headers
add-packet-header IP TCP Flags
ns-random $seed

# 1,460 bytes of payload and 40 of headers in both programs.
Agent/TCP set packetSize_ 1460
# 65,535 bytes, the largest window without scaling.
Agent/TCP set window_ 44
Agent/TCP set windowInit_ 3
Agent/TCP set minrto_ $min_rto
Agent/TCP set maxrto_ 60
# aqmlab does not round times.
Agent/TCP set tcpTick_ 0.0001
Agent/TCP set overhead_ 0
# Recovery ends with cwnd = min(ssthresh, what is outstanding + 1 segment), as RFC 6582 has it and
# aqmlab does. Off in ns-2's own defaults, where a burst follows each recovery: with 50 NewReno flows
# that means 12 % more drops behind drop-tail, and 11 % more drops and a 6 % longer queue behind RED.
Agent/TCP/Newreno set exit_recovery_fix_ 1
Agent/TCPSink set interval_ 200ms
Queue/RED set thresh_ 30
Queue/RED set maxthresh_ 90
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.001953125
Queue/RED set gentle_ false
Queue/RED set adaptive_ 0
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1500
Queue/RED set setbit_ false
Queue/RED set wait_ true

set ns [new Simulator]
set server [$ns node]
set router [$ns node]
# DropTail refuses the packet that would make limit packets: 121 holds 120.
if {$queue eq "red"} {
    $ns simplex-link $server $router 10Mb 0ms RED
    $ns queue-limit $server $router 480
} else {
    $ns simplex-link $server $router 10Mb 0ms DropTail
    $ns queue-limit $server $router 121
}
$ns simplex-link $router $server 100Gb 0ms DropTail
$ns queue-limit $router $server 100000

set monitor [$ns monitor-queue $server $router ""]

set starts [new RNG]
$starts seed $seed
for {set i 0} {$i < $flows} {incr i} {
    # Evenly spread over 7..137 ms, as `rtt` of compare.py.
    set rtt [expr {0.007 + 0.130 * ($i + 0.5) / $flows}]
    set client [$ns node]
    $ns simplex-link $router $client 100Gb $rtt DropTail
    $ns simplex-link $client $router 100Gb 0ms DropTail
    $ns queue-limit $router $client 100000
    $ns queue-limit $client $router 100000
    if {$recovery eq "sack"} {
        set tcp($i) [new Agent/TCP/Sack1]
        set sink [new Agent/TCPSink/Sack1/DelAck]
    } else {
        set tcp($i) [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink/DelAck]
    }
    $ns attach-agent $server $tcp($i)
    $ns attach-agent $client $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [$starts uniform 0 1] "$ftp start"
}

proc counters {} {
    global monitor tcp flows
    set waiting [$monitor get-pkts-integrator]
    $waiting newpoint [[Simulator instance] now] [$monitor set pkts_]
    set list [list [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set pdepartures_] \
        [$waiting set sum_]]
    for {set i 0} {$i < $flows} {incr i} {
        lappend list [$tcp($i) set ack_]
    }
    return $list
}

proc finish {} {
    global before warmup end flows
    set now [counters]
    foreach a $now b $before { lappend change [expr {$a - $b}] }
    lassign $change arrivals drops departures waited
    set goodputs [lrange $change 4 end]
    set sum 0.0
    set squares 0.0
    foreach g $goodputs {
        set sum [expr {$sum + $g}]
        set squares [expr {$squares + double($g) * $g}]
    }
    set seconds [expr {$end - $warmup}]
    puts "drop_rate [expr {double($drops) / $arrivals}]\
        queue_time_mean_packets [expr {$waited / $seconds}]\
        utilisation [expr {1500.0 * 8 * $departures / $seconds / 10e6}]\
        jain_index [expr {$sum * $sum / ($flows * $squares)}]"
    exit 0
}

$ns at $warmup "set before \[counters\]"
$ns at $end finish
$ns run
