# Benchmark scenario A (python/aqmlab/bench/simulator.py) in ns-2 2.35 (Debian package ns2):
#   50 bulk SACK flows, 1,460 + 40 byte packets, one duplex link of 100 Mb/s and 50 ms each way
#   with all agents directly at its two ends (no access links), gentle RED (60, 180) counting
#   packets over 300 packets, delayed acknowledgements, no traces.
# Use: ns scenario_a.tcl [simulated seconds [check]]
# Prints: data_packets <sent by all flows> delivered <acknowledged> simulated_s <seconds>
# The senders' own counters are read at the end, so that nothing is measured during the run.
# With `check` the queue is measured, which costs time, and a second line tells
#   utilisation <share> drop_rate <share> queue_mean_packets <packets>

set flows 50
set seconds [expr {$argc > 0 ? [lindex $argv 0] : 300}]
set check [expr {$argc > 1 && [lindex $argv 1] eq "check"}]

# Only the headers in use: ns-2 otherwise carries every protocol's in every packet.
remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ 1460
# 65,535 bytes, as profile plain has it.
Agent/TCP set window_ 44
Agent/TCP set overhead_ 0.00001
Agent/TCPSink set interval_ 200ms
Queue/RED set gentle_ true
Queue/RED set thresh_ 60
Queue/RED set maxthresh_ 180
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.002
Queue/RED set adaptive_ 0
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set setbit_ false

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right 100Mb 50ms RED
$ns simplex-link $right $left 100Mb 50ms DropTail
$ns queue-limit $left $right 300
$ns queue-limit $right $left 10000
if {$check} {
    set monitor [$ns monitor-queue $left $right ""]
}

set starts [new RNG]
$starts seed 1
for {set i 0} {$i < $flows} {incr i} {
    set tcp($i) [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $left $tcp($i)
    $ns attach-agent $right $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [$starts uniform 0 1] "$ftp start"
}

proc finish {} {
    global tcp flows seconds check monitor
    set sent 0
    set delivered 0
    for {set i 0} {$i < $flows} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr delivered [$tcp($i) set ack_]
    }
    puts "data_packets $sent delivered $delivered simulated_s $seconds"
    if {$check} {
        set waiting [$monitor get-pkts-integrator]
        set mean [expr {[$waiting set sum_] / $seconds}]
        set used [expr {1500.0 * 8 * [$monitor set pdepartures_] / $seconds / 100e6}]
        set lost [expr {double([$monitor set pdrops_]) / [$monitor set parrivals_]}]
        puts "utilisation $used drop_rate $lost queue_mean_packets $mean"
    }
    exit 0
}

$ns at $seconds finish
$ns run
