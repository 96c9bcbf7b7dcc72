// Bulk TCP over one link in ns-3: told by --name=value, answers with names and numbers on one line.
//
// Senders -- access line, half the round trip -- router == bottleneck == router -- one receiver.
// The discipline under test is the root of the bottleneck's device, whose own queue holds one packet
// (the least that ns-3 allows) and is not counted. The point-to-point header of 2 B is made up for by
// the caller, who raises the rate so that a full packet takes the time of its 1,500 B.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

struct Case
{
    std::string queue = "red";
    std::string attributes;
    std::string control = "Rfc5681";
    uint32_t flows = 10;
    double rate = 10e6;
    double rttMin = 0.007;
    double rttMax = 0.137;
    bool sack = true;
    uint32_t window = 10000;
    uint32_t every = 2;
    bool ecn = false;
    uint32_t initialWindow = 3;
    uint32_t seed = 1;
    double warmup = 50;
    double end = 250;
};

const uint32_t MSS = 1460;

/// TcpNewReno that halves what RFC 5681 (section 3.1, equation 4) calls FlightSize: all that is sent and
/// not acknowledged cumulatively. ns-3 subtracts what is selectively acknowledged or taken for lost.
class Rfc5681 : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("ns3::Rfc5681").SetParent<TcpNewReno>().AddConstructor<Rfc5681>();
        return id;
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        uint32_t flight = state->m_highTxMark.Get() - state->m_lastAckedSeq;
        // Without what limited transmit sent (section 3.2, step 2).
        return std::max(2 * state->m_segmentSize, std::min(flight, state->m_cWnd.Get()) / 2);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Rfc5681>(this);
    }
};

NS_OBJECT_ENSURE_REGISTERED(Rfc5681);

/// Packets in the queue, weighted by time from the end of the warm-up on.
class QueueLength
{
  public:
    void Changed(uint32_t before, uint32_t after)
    {
        Add(before);
        m_now = after;
    }

    void Restart()
    {
        m_area = 0;
        m_since = m_last = Simulator::Now();
    }

    double Mean()
    {
        Add(m_now);
        return m_area / (Simulator::Now() - m_since).GetSeconds();
    }

  private:
    void Add(uint32_t length)
    {
        m_area += length * (Simulator::Now() - m_last).GetSeconds();
        m_last = Simulator::Now();
    }

    uint32_t m_now = 0;
    double m_area = 0;
    Time m_since;
    Time m_last;
};

/// "MinTh=30,MaxTh=90" for a factory.
void
SetAll(ObjectFactory& factory, const std::string& attributes)
{
    std::istringstream pairs(attributes);
    for (std::string pair; std::getline(pairs, pair, ',');)
    {
        auto at = pair.find('=');
        factory.Set(pair.substr(0, at), StringValue(pair.substr(at + 1)));
    }
}

void
SetDefaults(const Case& c)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + c.control));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(c.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(100)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(c.ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(c.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(c.every));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(c.window * MSS));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * c.window * MSS));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("100000p"));
}

struct Bytes
{
    std::map<uint32_t, uint64_t> of;

    void Received(uint32_t flow, Ptr<const Packet> packet, const Address&)
    {
        of[flow] += packet->GetSize();
    }
};

} // namespace

int
main(int argc, char* argv[])
{
    Case c;
    CommandLine line(__FILE__);
    line.AddValue("queue", "name of the queue disc without QueueDisc", c.queue);
    line.AddValue("attributes", "its attributes, NAME=VALUE with commas", c.attributes);
    line.AddValue("control", "congestion control", c.control);
    line.AddValue("flows", "bulk senders", c.flows);
    line.AddValue("rate", "of the bottleneck, bit/s", c.rate);
    line.AddValue("rtt_min", "shortest round trip, s", c.rttMin);
    line.AddValue("rtt_max", "longest round trip, s", c.rttMax);
    line.AddValue("sack", "selective acknowledgements", c.sack);
    line.AddValue("window", "receive window, segments", c.window);
    line.AddValue("every", "segments to an acknowledgement", c.every);
    line.AddValue("ecn", "explicit congestion notification", c.ecn);
    line.AddValue("initial_window", "segments", c.initialWindow);
    line.AddValue("seed", "of all random streams", c.seed);
    line.AddValue("warmup", "s that do not count", c.warmup);
    line.AddValue("end", "s", c.end);
    line.Parse(argc, argv);

    RngSeedManager::SetSeed(20261122);
    RngSeedManager::SetRun(c.seed);
    SetDefaults(c);

    NodeContainer routers(2);
    NodeContainer senders(c.flows);
    Ptr<Node> receiver = CreateObject<Node>();
    InternetStackHelper internet;
    internet.Install(routers);
    internet.Install(senders);
    internet.Install(receiver);

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(c.rate)));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    NetDeviceContainer middle = bottleneck.Install(routers);
    // Acknowledgements are not the subject: their line is fast, and its queue long.
    middle.Get(1)->SetAttribute("DataRate", StringValue("100Gbps"));
    middle.Get(1)->GetObject<PointToPointNetDevice>()->SetQueue(
        CreateObject<DropTailQueue<Packet>>());

    ObjectFactory factory("ns3::" + c.queue + "QueueDisc");
    SetAll(factory, c.attributes);
    Ptr<QueueDisc> disc = factory.Create<QueueDisc>();
    auto control = routers.Get(0)->GetObject<TrafficControlLayer>();
    control->SetRootQueueDiscOnDevice(middle.Get(0), disc);

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    NetDeviceContainer last = access.Install(routers.Get(1), receiver);
    Ipv4AddressHelper address("10.1.0.0", "255.255.255.0");
    TrafficControlHelper none;
    address.Assign(middle);
    address.NewNetwork();
    none.Uninstall(middle.Get(1));
    Ipv4InterfaceContainer ends = address.Assign(last);
    none.Uninstall(last);
    for (uint32_t i = 0; i < c.flows; ++i)
    {
        double rtt = c.rttMin + (c.rttMax - c.rttMin) * (i + 0.5) / c.flows;
        access.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
        NetDeviceContainer devices = access.Install(senders.Get(i), routers.Get(0));
        address.NewNetwork();
        address.Assign(devices);
        none.Uninstall(devices);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Bytes bytes;
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < c.flows; ++i)
    {
        InetSocketAddress there(ends.GetAddress(1), 5000 + i);
        BulkSendHelper bulk("ns3::TcpSocketFactory", there);
        bulk.Install(senders.Get(i)).Start(Seconds(start->GetValue()));
        PacketSinkHelper sink("ns3::TcpSocketFactory", there);
        sink.Install(receiver).Get(0)->TraceConnectWithoutContext(
            "Rx",
            MakeCallback(&Bytes::Received, &bytes).Bind(i));
    }

    QueueLength length;
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&QueueLength::Changed, &length));
    QueueDisc::Stats before;
    std::map<uint32_t, uint64_t> bytesBefore;
    Simulator::Schedule(Seconds(c.warmup), [&]() {
        length.Restart();
        before = disc->GetStats();
        bytesBefore = bytes.of;
    });
    Simulator::Stop(Seconds(c.end));
    Simulator::Run();

    const QueueDisc::Stats& after = disc->GetStats();
    double passed = after.nTotalDequeuedPackets - before.nTotalDequeuedPackets;
    double dropped = after.nTotalDroppedPackets - before.nTotalDroppedPackets;
    double marked = after.nTotalMarkedPackets - before.nTotalMarkedPackets;
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < c.flows; ++i)
    {
        double got = bytes.of[i] - bytesBefore[i];
        sum += got;
        squares += got * got;
    }
    std::cout << "queue_time_mean_packets " << length.Mean() << " goodput_mbit_per_s "
              << sum * 8e-6 / (c.end - c.warmup) << " drop_rate " << dropped / (passed + dropped)
              << " mark_rate " << marked / (passed + dropped) << " jain_index "
              << sum * sum / (c.flows * squares) << std::endl;
    Simulator::Destroy();
    return 0;
}
