# The cases of validation/dumbbell.py in ns-2 2.35, for python -m validation.ns2.
#
#   server -- rate, 0 ms --> router -- each connection's round-trip time --> client
#   server -- rate, 0 ms --> middle -- rate, 0 ms --> router ...            (with `cross`)
#   All of a connection's propagation delay lies at its client's entrance; nothing else delays, and
#   only the links to the routers are slower than 100 Gb/s.
#
# Use: ns dumbbell.tcl name value ... < transfers, the names being those of `given` below; a line of
# `transfers` is a start in seconds, a station and a number of segments.
# Prints one line of names and values; counters are those of the time after the warm-up, those of
# transfers of the whole run.

array set given {
    flows 1           recovery sack     queue red         rate 10e6
    rtt_min 0.007     rtt_max 0.137     window 10000      every 2
    ecn 0             min_rto 1         tick 0.0001       initial_window 3
    min_th 30         max_th 90         w_q 0.001953125   max_p 0.1
    limit 480         seed 1            warmup 50         end 350
    exit_fix 1        mss 1460          streams 0         cross 0
    stations 20
}
array set given $argv
foreach name [array names given] { set $name $given($name) }

remove-all-packet-headers
add-packet-header IP TCP Flags RTP
ns-random $seed

# The payload; 40 bytes of headers are added.
Agent/TCP set packetSize_ $mss
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

# A congested link with its monitor.
proc link {from to} {
    global ns rate class room
    $ns simplex-link $from $to $rate 0ms $class
    $ns queue-limit $from $to $room
    $ns simplex-link $to $from 100Gb 0ms DropTail
    $ns queue-limit $to $from 100000
    return [$ns monitor-queue $from $to ""]
}

if {$cross > 0} {
    set middle [$ns node]
    set monitors [list [link $server $middle] [link $middle $router]]
} else {
    set monitors [list [link $server $router]]
}

# A client behind a router, number i of n: evenly spread, as `rtt` of dumbbell.py.
proc client {router i n} {
    global ns rtt_min rtt_max
    set rtt [expr {$rtt_min + ($rtt_max - $rtt_min) * ($i + 0.5) / $n}]
    set client [$ns node]
    $ns simplex-link $router $client 100Gb $rtt DropTail
    $ns simplex-link $client $router 100Gb 0ms DropTail
    $ns queue-limit $router $client 100000
    $ns queue-limit $client $router 100000
    return $client
}

# A sender from one node to another.
proc connection {from to} {
    global ns every recovery sink
    set delayed [expr {$every == 1 ? "" : "/DelAck"}]
    if {$recovery eq "sack"} {
        set tcp [new Agent/TCP/Sack1]
        set sink($tcp) [new Agent/TCPSink/Sack1$delayed]
    } else {
        set tcp [new Agent/TCP/Newreno]
        set sink($tcp) [new Agent/TCPSink$delayed]
    }
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink($tcp)
    $ns connect $tcp $sink($tcp)
    return $tcp
}

# Starts a sender without end, within the first second.
proc bulk {tcp} {
    global ns starts
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$starts uniform 0 1] "$ftp start"
}

set starts [new RNG]
$starts seed $seed
for {set i 0} {$i < $flows} {incr i} {
    set tcp($i) [connection $server [client $router $i $flows]]
    bulk $tcp($i)
}
# The round trips of cross traffic are those of the first senders.
for {set i 0} {$i < $cross} {incr i} {
    bulk [connection $server [client $middle $i $flows]]
    bulk [connection $middle [client $router $i $flows]]
}

for {set i 0} {$i < $streams} {incr i} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 1500
    set heard($i) [new Agent/LossMonitor]
    $ns attach-agent $server $udp
    $ns attach-agent [client $router 0 1] $heard($i)
    $ns connect $udp $heard($i)
    set stream [new Application/Traffic/CBR]
    # 1 Mb/s in 1,000 bytes of payload, and 28 of headers; gaps of 0.5 to 1.5 times the mean.
    $stream set packetSize_ 1028
    $stream set interval_ 0.008
    $stream set random_ 1
    $stream attach-agent $udp
    $ns at [$starts uniform 0 1] "$stream start"
}

# Transfers: their number, and the sum of the times from a SYN to the last acknowledgement.
set finished 0
set elapsed 0.0
# Senders of a station that are through and lost nothing are used again, for to make one takes 2 ms.
# The others are not: after a lost SYN `reset` leaves wnd_init_ at 1, and a mean transfer took 4 % longer.
array set idle {}
proc transfer {start station segments} {
    global server places began idle sink at
    if {[llength $idle($station)]} {
        set tcp [lindex $idle($station) 0]
        set idle($station) [lrange $idle($station) 1 end]
        $tcp reset
        $sink($tcp) reset
    } else {
        set tcp [connection $server $places($station)]
        set at($tcp) $station
    }
    set began($tcp) $start
    $tcp advanceby $segments
}
Agent/TCP instproc done {} {
    global ns began finished elapsed
    if {[info exists began($self)]} {
        incr finished
        set elapsed [expr {$elapsed + [$ns now] - $began($self)}]
        unset began($self)
        # By then nothing of it is under way.
        if {[$self set nrexmitpack_]} { return }
        $ns at [expr {[$ns now] + 2}] "rests $self"
    }
}
proc rests {tcp} {
    global idle at
    lappend idle($at($tcp)) $tcp
}
if {![eof stdin] && [gets stdin line] >= 0} {
    for {set i 0} {$i < $stations} {incr i} {
        set places($i) [client $router $i $stations]
        set idle($i) {}
    }
    while {$line ne ""} {
        lassign $line start
        $ns at $start "transfer $line"
        gets stdin line
    }
}

# Datagrams that were lost and that came.
proc heard {} {
    global streams heard
    set lost 0
    set came 0
    for {set i 0} {$i < $streams} {incr i} {
        incr lost [$heard($i) set nlost_]
        incr came [$heard($i) set npkts_]
    }
    return [list $lost $came]
}

proc counters {} {
    global monitors tcp flows
    set list {}
    foreach monitor $monitors {
        set waiting [$monitor get-pkts-integrator]
        $waiting newpoint [[Simulator instance] now] [$monitor set pkts_]
        lappend list [$monitor set parrivals_] [$monitor set pdrops_] [$monitor set pdepartures_] \
            [$waiting set sum_] [$monitor set pmarks_] [$monitor set bdepartures_]
    }
    for {set i 0} {$i < $flows} {incr i} {
        lappend list [$tcp($i) set ack_]
    }
    lappend list {*}[heard]
    return $list
}

# Names and values of a queue, from what its counters grew by.
proc of_queue {change suffix} {
    global warmup end rate
    lassign $change arrivals drops departures waited marks bytes
    set seconds [expr {$end - $warmup}]
    return "drop_rate$suffix [expr {double($drops) / $arrivals}]\
        mark_rate$suffix [expr {double($marks) / $arrivals}]\
        queue_time_mean_packets$suffix [expr {$waited / $seconds}]\
        utilisation$suffix [expr {8.0 * $bytes / $seconds / $rate}]"
}

# The same of the bulk senders, from the segments that were acknowledged of each.
proc of_senders {goodputs} {
    global warmup end mss flows
    set sum 0.0
    set squares 0.0
    foreach g $goodputs {
        set sum [expr {$sum + $g}]
        set squares [expr {$squares + double($g) * $g}]
    }
    return "goodput_mbit_per_s [expr {8e-6 * $mss * $sum / ($end - $warmup)}]\
        jain_index [expr {$sum * $sum / ($flows * $squares)}]"
}

proc finish {} {
    global before flows streams monitors finished elapsed
    foreach a [counters] b $before { lappend change [expr {$a - $b}] }
    set told [of_queue $change ""]
    if {[llength $monitors] == 2} { append told " " [of_queue [lrange $change 6 end] "_second"] }
    if {$flows} { append told " " [of_senders [lrange $change [expr {6 * [llength $monitors]}] end-2]] }
    if {$streams} {
        lassign [lrange $change end-1 end] lost came
        append told " stream_loss_rate [expr {double($lost) / ($lost + $came)}]"
    }
    if {$finished} { append told " transfer_mean_s [expr {$elapsed / $finished}] transfers $finished" }
    puts $told
    exit 0
}

$ns at $warmup "set before \[counters\]"
$ns at $end finish
$ns run
