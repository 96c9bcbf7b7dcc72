# Benchmark scenario A in ns-2 2.35 (Debian package ns2):
#   50 bulk SACK flows, one 100 Mb/s bottleneck, 1,460 + 40 byte packets, base RTT 100 ms,
#   gentle RED (60, 180) over 300 packets, delayed acknowledgements, no traces.
# Use: ns scenario_a.tcl [simulated seconds]
# Prints: data_packets <sent by all flows> delivered <acknowledged> simulated_s <seconds>
# The senders' own counters are read at the end, so that nothing is measured during the run.

set flows 50
set seconds [expr {$argc > 0 ? [lindex $argv 0] : 60}]

# Only the headers in use: ns-2 otherwise carries every protocol's in every packet.
remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 10000
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
$ns simplex-link $left $right 100Mb 40ms RED
$ns simplex-link $right $left 100Mb 40ms DropTail
$ns queue-limit $left $right 300
$ns queue-limit $right $left 10000

set starts [new RNG]
$starts seed 1
for {set i 0} {$i < $flows} {incr i} {
    set from [$ns node]
    set to [$ns node]
    $ns duplex-link $from $left 1Gb 5ms DropTail
    $ns duplex-link $right $to 1Gb 5ms DropTail
    foreach {a b} [list $from $left $left $from $right $to $to $right] {
        $ns queue-limit $a $b 10000
    }
    set tcp($i) [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $from $tcp($i)
    $ns attach-agent $to $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [$starts uniform 0 1] "$ftp start"
}

proc finish {} {
    global tcp flows seconds
    set sent 0
    set delivered 0
    for {set i 0} {$i < $flows} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr delivered [$tcp($i) set ack_]
    }
    puts "data_packets $sent delivered $delivered simulated_s $seconds"
    exit 0
}

$ns at $seconds finish
$ns run
