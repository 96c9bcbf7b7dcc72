# Bulk TCP over one congested link in ns-2 2.35, for validation/ns2/compare.py.
#
#   servers -- rate, 0 ms --> router -- each flow's round-trip time --> client
#   All of a flow's propagation delay lies at its client's entrance; nothing else delays, and only
#   the link to the router is slower than 100 Gb/s.
#
# Use: ns bulk.tcl name value ..., the names being those of `given` below.
# Prints one line of names and values; counters are those of the time after the warm-up.

array set given {
    flows 1           recovery sack     queue red         rate 10e6
    rtt_min 0.007     rtt_max 0.137     window 10000      every 2
    ecn 0             min_rto 1         tick 0.0001       initial_window 3
    min_th 30         max_th 90         w_q 0.001953125   max_p 0.1
    limit 480         seed 1            warmup 50         end 350
    exit_fix 1
}
array set given $argv
foreach name [array names given] { set $name $given($name) }

remove-all-packet-headers
add-packet-header IP TCP Flags
ns-random $seed

# 1,460 bytes of payload and 40 of headers in both programs.
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ $window
Agent/TCP set windowInit_ $initial_window
Agent/TCP set minrto_ $min_rto
Agent/TCP set maxrto_ 60
# aqmlab's profile plain does not round times.
Agent/TCP set tcpTick_ $tick
Agent/TCP set overhead_ 0
Agent/TCP set ecn_ $ecn
# Recovery ends with cwnd = min(ssthresh, what is outstanding + 1 segment), as RFC 6582 has it and
# aqmlab's profile plain does. Off in ns-2's own defaults, where a burst follows each recovery: with 50 NewReno flows
# that means 12 % more drops behind drop-tail, and 11 % more drops and a 6 % longer queue behind RED.
Agent/TCP/Newreno set exit_recovery_fix_ $exit_fix
# Both classes have their own default of 100 ms, which a setting of Agent/TCPSink leaves as it is.
Agent/TCPSink/DelAck set interval_ 200ms
Agent/TCPSink/Sack1/DelAck set interval_ 200ms

# All counted in packets of 1,500 B, so that no packet's size matters.
proc red {gentle adaptive} {
    global min_th max_th w_q max_p ecn
    Queue/RED set thresh_ $min_th
    Queue/RED set maxthresh_ $max_th
    Queue/RED set linterm_ [expr {1.0 / $max_p}]
    Queue/RED set q_weight_ $w_q
    Queue/RED set gentle_ $gentle
    Queue/RED set adaptive_ $adaptive
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set mean_pktsize_ 1500
    Queue/RED set setbit_ $ecn
    Queue/RED set wait_ true
    return RED
}

# Makes the queue's settings; returns its class and the limit that holds `limit` packets.
proc discipline {queue} {
    global limit ecn
    switch $queue {
        droptail { return [list DropTail [expr {$limit + 1}]] }
        red      { return [list [red false 0] $limit] }
        gentle   { return [list [red true 0] $limit] }
        ared     { return [list [red true 1] $limit] }
        pi {
            # Ten times the default gains, which take minutes to settle at 10 Mbit/s.
            Queue/PI set a_ 0.0001822
            Queue/PI set b_ 0.0001816
            Queue/PI set w_ 170
            Queue/PI set qref_ 50
            Queue/PI set bytes_ false
            Queue/PI set queue_in_bytes_ false
            Queue/PI set mean_pktsize_ 1500
            Queue/PI set setbit_ $ecn
            return [list PI $limit]
        }
        rem {
            Queue/REM set gamma_ 0.001
            Queue/REM set phi_ 1.001
            Queue/REM set inw_ 1
            Queue/REM set pupdtime_ 0.002
            Queue/REM set pbo_ 20
            Queue/REM set mean_pktsize_ 1500
            Queue/REM set qib_ false
            Queue/REM set markpkts_ $ecn
            return [list REM $limit]
        }
        avq {
            Queue/Vq set ecnlim_ 0.8
            Queue/Vq set buflim_ 1.0
            Queue/Vq set gamma_ 0.98
            Queue/Vq set queue_in_bytes_ true
            Queue/Vq set mean_pktsize_ 1500
            Queue/Vq set markpkts_ $ecn
            return [list Vq $limit]
        }
    }
    error "queue: $queue"
}

set ns [new Simulator]
set server [$ns node]
set router [$ns node]
lassign [discipline $queue] class room
$ns simplex-link $server $router $rate 0ms $class
$ns queue-limit $server $router $room
$ns simplex-link $router $server 100Gb 0ms DropTail
$ns queue-limit $router $server 100000

set monitor [$ns monitor-queue $server $router ""]

set starts [new RNG]
$starts seed $seed
for {set i 0} {$i < $flows} {incr i} {
    # Evenly spread, as `rtt` of compare.py.
    set rtt [expr {$rtt_min + ($rtt_max - $rtt_min) * ($i + 0.5) / $flows}]
    set client [$ns node]
    $ns simplex-link $router $client 100Gb $rtt DropTail
    $ns simplex-link $client $router 100Gb 0ms DropTail
    $ns queue-limit $router $client 100000
    $ns queue-limit $client $router 100000
    set sink [expr {$every == 1 ? "" : "/DelAck"}]
    if {$recovery eq "sack"} {
        set tcp($i) [new Agent/TCP/Sack1]
        set sink [new Agent/TCPSink/Sack1$sink]
    } else {
        set tcp($i) [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink$sink]
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
        [$waiting set sum_] [$monitor set pmarks_]]
    for {set i 0} {$i < $flows} {incr i} {
        lappend list [$tcp($i) set ack_]
    }
    return $list
}

proc finish {} {
    global before warmup end flows rate
    set now [counters]
    foreach a $now b $before { lappend change [expr {$a - $b}] }
    lassign $change arrivals drops departures waited marks
    set goodputs [lrange $change 5 end]
    set sum 0.0
    set squares 0.0
    foreach g $goodputs {
        set sum [expr {$sum + $g}]
        set squares [expr {$squares + double($g) * $g}]
    }
    set seconds [expr {$end - $warmup}]
    puts "drop_rate [expr {double($drops) / $arrivals}]\
        mark_rate [expr {double($marks) / $arrivals}]\
        queue_time_mean_packets [expr {$waited / $seconds}]\
        utilisation [expr {1500.0 * 8 * $departures / $seconds / $rate}]\
        goodput_mbit_per_s [expr {1460.0 * 8 * $sum / $seconds / 1e6}]\
        jain_index [expr {$sum * $sum / ($flows * $squares)}]"
    exit 0
}

$ns at $warmup "set before \[counters\]"
$ns at $end finish
$ns run
