// The cases of validation/dumbbell.py in ns-3: told by --name=value, answers with names and numbers on
// one line. Transfers come on standard input: a start in seconds, a station, a number of segments.
//
// Senders -- access line, half the round trip -- router == link == router -- one receiver, or
// senders -- router == link == router == link == router -- receiver, where each link has senders of its
// own too (`cross`), those of the first with a receiver, those of the second with access lines at the
// router between.
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
#include <vector>

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
    uint32_t mss = 1460;
    uint32_t streams = 0;
    uint32_t cross = 0;
    uint32_t stations = 20;
    uint32_t seed = 1;
    double warmup = 50;
    double end = 250;
};

const uint32_t QUEUE = 100000; // packets, where nothing shall be lost

/// TcpNewReno with three rules of RFC 5681, where ns-3 has its own:
///
/// - What is halved is FlightSize (section 3.1, equation 4): all that is sent and not acknowledged
///   cumulatively, but for what limited transmit sent (section 3.2, step 2). ns-3 subtracts what is
///   selectively acknowledged or taken for lost.
/// - FlightSize is of whole segments, the congestion window is not.
/// - The acknowledgement that ends a recovery leaves the window at the threshold (step 6); in ns-3 it
///   makes the window grow as well.
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
        uint32_t segment = state->m_segmentSize;
        uint32_t window = state->m_cWnd.Get() / segment * segment;
        return std::max(2 * segment, std::min(flight, window) / 2);
    }

    void CongestionStateSet(Ptr<TcpSocketState> state,
                            const TcpSocketState::TcpCongState_t next) override
    {
        m_ends = m_now == TcpSocketState::CA_RECOVERY && next == TcpSocketState::CA_OPEN;
        m_now = next;
        TcpNewReno::CongestionStateSet(state, next);
    }

    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t segments) override
    {
        if (!m_ends)
        {
            TcpNewReno::IncreaseWindow(state, segments);
        }
        m_ends = false;
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Rfc5681>(this);
    }

  private:
    TcpSocketState::TcpCongState_t m_now = TcpSocketState::CA_OPEN;
    bool m_ends = false; ///< the acknowledgement at hand ends a recovery
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
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(100)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(c.ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(c.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(c.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(c.every));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(c.window * c.mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * c.window * c.mss));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue(std::to_string(QUEUE) + "p"));
}

/// One connection that sends so many bytes and ends.
class Transfer : public Object
{
  public:
    Transfer(Ptr<Node> from, InetSocketAddress to, uint64_t bytes)
        : m_from(from),
          m_to(to),
          m_left(bytes)
    {
    }

    void Start()
    {
        m_begun = Simulator::Now();
        m_socket = Socket::CreateSocket(m_from, TcpSocketFactory::GetTypeId());
        m_socket->SetSendCallback(MakeCallback(&Transfer::Room, this));
        m_socket->Connect(m_to);
    }

    /// From the SYN to the acknowledgement of the last byte; 0 if that has not come.
    double Elapsed() const
    {
        return m_elapsed.GetSeconds();
    }

  private:
    void Room(Ptr<Socket> socket, uint32_t)
    {
        if (m_left > 0)
        {
            m_empty = std::max(m_empty, socket->GetTxAvailable());
            uint32_t now = std::min<uint64_t>(m_left, socket->GetTxAvailable());
            int sent = socket->Send(Create<Packet>(now));
            m_left -= sent > 0 ? sent : 0;
            if (m_left == 0)
            {
                // After what it has just been given is sent, as a program that writes and closes:
                // ns-3 sends a time step later, and would put the FIN on a last segment that a
                // write of ours has sent by then.
                Simulator::Schedule(MicroSeconds(1), [socket]() { socket->Close(); });
            }
        }
        else if (m_elapsed.IsZero() && socket->GetTxAvailable() >= m_empty)
        {
            m_elapsed = Simulator::Now() - m_begun;
        }
    }

    Ptr<Node> m_from;
    InetSocketAddress m_to;
    uint64_t m_left;
    uint32_t m_empty = 0; ///< room of a send buffer with nothing in it
    Ptr<Socket> m_socket;
    Time m_begun;
    Time m_elapsed;
};

/// A stream of datagrams: 1,000 B of payload at 1 Mbit/s; gaps of half to one and a half of the mean.
class Stream : public Object
{
  public:
    Stream(Ptr<Node> from, InetSocketAddress to)
    {
        m_socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        m_socket->Connect(to);
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(1000));
        ++m_sent;
        Simulator::Schedule(MilliSeconds(8) * m_share->GetValue(0.5, 1.5), &Stream::Send, this);
    }

    uint64_t m_sent = 0;

  private:
    Ptr<Socket> m_socket;
    Ptr<UniformRandomVariable> m_share = CreateObject<UniformRandomVariable>();
};

/// The whole: nodes, links, senders, and what is read at the end.
class Dumbbell
{
  public:
    explicit Dumbbell(const Case& c);
    /// Names and numbers.
    std::string Run();

  private:
    /// A congested link with its discipline; packets in it are counted.
    struct Link
    {
        NetDeviceContainer devices;
        Ptr<QueueDisc> disc;
        QueueLength length;
        QueueDisc::Stats before;
    };

    void Congested(Link& link, Ptr<Node> from, Ptr<Node> to);
    /// Address of a new receiver behind a router.
    Ipv4Address Receiver(Ptr<Node> router, Ptr<Node>& node);
    /// A new sender before a router, number i of so many.
    Ptr<Node> Sender(Ptr<Node> router, uint32_t i, uint32_t of);
    NetDeviceContainer Access(Ptr<Node> a, Ptr<Node> b, double delay);
    void Bulk(Ptr<Node> from, Ipv4Address to, Ptr<Node> at, bool counted);
    void ReadTransfers();
    void AddStreams();
    void Received(uint32_t flow, Ptr<const Packet> packet, const Address&)
    {
        m_bytes[flow] += packet->GetSize();
    }
    std::string OfQueue(Link& link, const std::string& suffix);
    std::string OfSenders();
    std::string OfTransfers();
    /// Datagrams of all streams.
    uint64_t Sent() const;

    const Case c;
    NodeContainer m_routers;
    std::vector<Link> m_links;
    Ptr<Node> m_receiver;
    Ipv4Address m_there;
    Ipv4AddressHelper m_address{"10.1.0.0", "255.255.255.0"};
    Ptr<UniformRandomVariable> m_start = CreateObject<UniformRandomVariable>();
    uint16_t m_port = 5000;
    uint32_t m_counted = 0;
    std::map<uint32_t, uint64_t> m_bytes;
    std::map<uint32_t, uint64_t> m_bytesBefore;
    std::vector<Ptr<Transfer>> m_transfers;
    std::vector<Ptr<Stream>> m_streams;
    uint64_t m_heard = 0;
    uint64_t m_heardBefore = 0;
    uint64_t m_sentBefore = 0;
};

Dumbbell::Dumbbell(const Case& given)
    : c(given),
      m_routers(c.cross ? 3 : 2),
      m_links(c.cross ? 2 : 1)
{
    InternetStackHelper().Install(m_routers);
    for (uint32_t i = 0; i < m_links.size(); ++i)
    {
        Congested(m_links[i], m_routers.Get(i), m_routers.Get(i + 1));
    }
    Ptr<Node> first = m_routers.Get(0);
    Ptr<Node> last = m_routers.Get(m_links.size());
    m_there = Receiver(last, m_receiver);
    for (uint32_t i = 0; i < c.flows; ++i)
    {
        Bulk(Sender(first, i, c.flows), m_there, m_receiver, true);
    }
    if (c.cross)
    {
        Ptr<Node> receiver;
        Ptr<Node> middle = m_routers.Get(1);
        Ipv4Address there = Receiver(middle, receiver);
        for (uint32_t i = 0; i < c.cross; ++i)
        {
            Bulk(Sender(first, i, c.flows), there, receiver, false);
            Bulk(Sender(middle, i, c.flows), m_there, m_receiver, false);
        }
    }
    AddStreams();
    ReadTransfers();
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
}

void
Dumbbell::Congested(Link& link, Ptr<Node> from, Ptr<Node> to)
{
    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", DataRateValue(DataRate(c.rate)));
    line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    link.devices = line.Install(from, to);
    // Acknowledgements are not the subject: their line is fast, and its queue long.
    link.devices.Get(1)->SetAttribute("DataRate", StringValue("100Gbps"));
    link.devices.Get(1)->GetObject<PointToPointNetDevice>()->SetQueue(
        CreateObject<DropTailQueue<Packet>>());
    ObjectFactory factory("ns3::" + c.queue + "QueueDisc");
    SetAll(factory, c.attributes);
    link.disc = factory.Create<QueueDisc>();
    from->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(link.devices.Get(0), link.disc);
    m_address.Assign(link.devices);
    m_address.NewNetwork();
    TrafficControlHelper().Uninstall(link.devices.Get(1));
    link.disc->TraceConnectWithoutContext("PacketsInQueue",
                                          MakeCallback(&QueueLength::Changed, &link.length));
}

NetDeviceContainer
Dumbbell::Access(Ptr<Node> a, Ptr<Node> b, double delay)
{
    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    line.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    return line.Install(a, b);
}

Ipv4Address
Dumbbell::Receiver(Ptr<Node> router, Ptr<Node>& node)
{
    node = CreateObject<Node>();
    InternetStackHelper().Install(node);
    NetDeviceContainer devices = Access(router, node, 0);
    Ipv4InterfaceContainer ends = m_address.Assign(devices);
    m_address.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    return ends.GetAddress(1);
}

Ptr<Node>
Dumbbell::Sender(Ptr<Node> router, uint32_t i, uint32_t of)
{
    Ptr<Node> node = CreateObject<Node>();
    InternetStackHelper().Install(node);
    double rtt = c.rttMin + (c.rttMax - c.rttMin) * (i + 0.5) / of;
    NetDeviceContainer devices = Access(node, router, rtt / 2);
    m_address.Assign(devices);
    m_address.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    return node;
}

void
Dumbbell::Bulk(Ptr<Node> from, Ipv4Address to, Ptr<Node> at, bool counted)
{
    InetSocketAddress there(to, m_port++);
    BulkSendHelper("ns3::TcpSocketFactory", there).Install(from).Start(Seconds(m_start->GetValue()));
    auto sink = PacketSinkHelper("ns3::TcpSocketFactory", there).Install(at).Get(0);
    if (counted)
    {
        auto received = MakeCallback(&Dumbbell::Received, this).Bind(m_counted++);
        sink->TraceConnectWithoutContext("Rx", received);
    }
}

void
Dumbbell::AddStreams()
{
    for (uint32_t i = 0; i < c.streams; ++i)
    {
        InetSocketAddress there(m_there, m_port++);
        auto sink = PacketSinkHelper("ns3::UdpSocketFactory", there).Install(m_receiver).Get(0);
        sink->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(
                [this](Ptr<const Packet>, const Address&) { ++m_heard; }));
        auto stream = CreateObject<Stream>(Sender(m_routers.Get(0), 0, 1), there);
        Simulator::Schedule(Seconds(m_start->GetValue()), &Stream::Send, stream);
        m_streams.push_back(stream);
    }
}

void
Dumbbell::ReadTransfers()
{
    double start;
    uint32_t station;
    uint64_t segments;
    std::vector<Ptr<Node>> stations;
    InetSocketAddress there(m_there, m_port++);
    while (std::cin >> start >> station >> segments)
    {
        if (stations.empty())
        {
            PacketSinkHelper("ns3::TcpSocketFactory", there).Install(m_receiver);
            for (uint32_t i = 0; i < c.stations; ++i)
            {
                stations.push_back(Sender(m_routers.Get(0), i, c.stations));
            }
        }
        auto one = CreateObject<Transfer>(stations[station], there, segments * c.mss);
        Simulator::Schedule(Seconds(start), &Transfer::Start, one);
        m_transfers.push_back(one);
    }
}

std::string
Dumbbell::Run()
{
    Simulator::Schedule(Seconds(c.warmup), [this]() {
        for (Link& link : m_links)
        {
            link.length.Restart();
            link.before = link.disc->GetStats();
        }
        m_bytesBefore = m_bytes;
        m_sentBefore = Sent();
        m_heardBefore = m_heard;
    });
    Simulator::Stop(Seconds(c.end));
    Simulator::Run();
    std::ostringstream told;
    told << OfQueue(m_links[0], "");
    if (c.cross)
    {
        told << OfQueue(m_links[1], "_second");
    }
    if (c.flows)
    {
        told << OfSenders();
    }
    if (c.streams)
    {
        double heard = m_heard - m_heardBefore;
        told << " stream_loss_rate " << 1 - heard / (Sent() - m_sentBefore);
    }
    told << OfTransfers();
    return told.str();
}

std::string
Dumbbell::OfQueue(Link& link, const std::string& suffix)
{
    const QueueDisc::Stats& after = link.disc->GetStats();
    // What CoDel drops has been dequeued, so that it is among the dequeued as well.
    auto seen = [](const QueueDisc::Stats& of) -> double {
        return of.nTotalDequeuedPackets + of.nTotalDroppedPacketsBeforeEnqueue;
    };
    double arrived = seen(after) - seen(link.before);
    double dropped = after.nTotalDroppedPackets - link.before.nTotalDroppedPackets;
    double marked = after.nTotalMarkedPackets - link.before.nTotalMarkedPackets;
    std::ostringstream told;
    told << " queue_time_mean_packets" << suffix << ' ' << link.length.Mean() << " drop_rate" << suffix
         << ' ' << dropped / arrived << " mark_rate" << suffix << ' '
         << marked / arrived;
    return told.str();
}

std::string
Dumbbell::OfSenders()
{
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < c.flows; ++i)
    {
        double got = m_bytes[i] - m_bytesBefore[i];
        sum += got;
        squares += got * got;
    }
    std::ostringstream told;
    told << " goodput_mbit_per_s " << sum * 8e-6 / (c.end - c.warmup) << " jain_index "
         << sum * sum / (c.flows * squares);
    return told.str();
}

uint64_t
Dumbbell::Sent() const
{
    uint64_t sent = 0;
    for (auto& stream : m_streams)
    {
        sent += stream->m_sent;
    }
    return sent;
}

std::string
Dumbbell::OfTransfers()
{
    double elapsed = 0;
    uint32_t finished = 0;
    for (auto& transfer : m_transfers)
    {
        elapsed += transfer->Elapsed();
        finished += transfer->Elapsed() > 0;
    }
    std::ostringstream told;
    if (finished)
    {
        told << " transfer_mean_s " << elapsed / finished << " transfers " << finished;
    }
    return told.str();
}

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
    line.AddValue("mss", "payload of a segment, bytes", c.mss);
    line.AddValue("streams", "streams of datagrams", c.streams);
    line.AddValue("cross", "bulk senders over each of two links alone", c.cross);
    line.AddValue("stations", "distances of transfers", c.stations);
    line.AddValue("seed", "of all random streams", c.seed);
    line.AddValue("warmup", "s that do not count", c.warmup);
    line.AddValue("end", "s", c.end);
    line.Parse(argc, argv);

    RngSeedManager::SetSeed(20261122);
    RngSeedManager::SetRun(c.seed);
    SetDefaults(c);

    Dumbbell dumbbell(c);
    std::cout << dumbbell.Run() << std::endl;
    Simulator::Destroy();
    return 0;
}
