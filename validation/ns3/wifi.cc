// An access point and its stations in ns-3 (802.11n or ac, 5 GHz): options are --name=value, the answer is names and numbers
// on one line. Datagrams go from the access point to each station, from each station to it, or both; what is measured is
// what arrives after the warm-up, and how long each datagram took that was sent after it.
//
// `modes` are the rates of the physical layer (HtMcs0 to HtMcs7, long guard interval, VhtMcs0 to VhtMcs9), one for all
// stations or one for each; control frames go at 24 Mbit/s; on the air a datagram is lost by collisions, and else with
// the probability `error`. There is no queue discipline; the queue of the MAC layer holds `limit` packets of
// a station, and `shared` of the access point for all of them, and keeps them as long as they wait.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

double warmup = 2;
double end = 12;
uint64_t bytes = 0;
std::vector<double> downstream;
std::vector<double> upstream;

/// A datagram has arrived; its header says when it was sent.
void Received(std::vector<double>* delays, Ptr<const Packet> packet)
{
    const double now = Simulator::Now().GetSeconds();
    if (now < warmup || now > end)
    {
        return;
    }
    SeqTsHeader header;
    packet->Copy()->RemoveHeader(header);
    if (packet->PeekHeader(header) > 0)
    {
        bytes += packet->GetSize() + 28;
        const double sent = header.GetTs().GetSeconds();
        if (sent >= warmup)
        {
            delays->push_back(now - sent);
        }
    }
}

/// Datagrams are lost, and nothing else is: acknowledgements and what manages the network are short.
class Noise : public ErrorModel
{
  public:
    double share = 0;
    Ptr<UniformRandomVariable> draw = CreateObject<UniformRandomVariable>();

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return packet->GetSize() >= 150 && draw->GetValue() < share;
    }

    void DoReset() override
    {
    }
};

/// Sends datagrams at even distances or, as a Poisson process, at random ones.
class Sender : public Object
{
  public:
    Ptr<Socket> socket;
    uint32_t payload = 1472;
    Time interval;
    bool poisson = false;
    uint32_t sent = 0;
    Ptr<ExponentialRandomVariable> draw = CreateObject<ExponentialRandomVariable>();

    void SendOne()
    {
        SeqTsHeader header;
        header.SetSeq(sent++);
        Ptr<Packet> packet = Create<Packet>(payload - header.GetSerializedSize());
        packet->AddHeader(header);
        socket->Send(packet);
    }

    void Send()
    {
        SendOne();
        const Time next = poisson ? Seconds(draw->GetValue() * interval.GetSeconds()) : interval;
        Simulator::Schedule(next, &Sender::Send, this);
    }
};

double Quantile(const std::vector<double>& delays, double share)
{
    if (delays.empty())
    {
        return std::nan("");
    }
    const auto place = static_cast<size_t>(std::ceil(share * delays.size())) - 1;
    return delays[std::min(place, delays.size() - 1)];
}

} // namespace

int main(int argc, char* argv[])
{
    uint32_t stations = 1;
    std::string modes = "HtMcs7";
    uint32_t width = 20;
    uint32_t aggregate = 65535;
    uint32_t payload = 1472;
    double error = 0;
    bool poisson = false;
    std::string direction = "down";
    double rate = 1e6; // of each station's datagrams in a direction, IP bits/s
    uint32_t limit = 400;
    uint32_t shared = 400;
    uint32_t seed = 1;
    CommandLine command;
    command.AddValue("stations", "stations", stations);
    command.AddValue("modes", "rates of the physical layer, with commas between", modes);
    command.AddValue("width", "MHz of the channel", width);
    command.AddValue("aggregate", "bytes of an aggregate at most", aggregate);
    command.AddValue("payload", "bytes of a datagram", payload);
    command.AddValue("error", "share of datagrams that are lost on the air", error);
    command.AddValue("poisson", "whether distances are random", poisson);
    command.AddValue("direction", "down, up or both", direction);
    command.AddValue("rate", "bit/s of each station", rate);
    command.AddValue("limit", "packets of a station's queue", limit);
    command.AddValue("shared", "packets of the access point's queue", shared);
    command.AddValue("seed", "run number", seed);
    command.AddValue("warmup", "s", warmup);
    command.AddValue("end", "s", end);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, limit)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));

    NodeContainer point;
    point.Create(1);
    NodeContainer others;
    others.Create(stations);
    YansWifiPhyHelper phy;
    // Every device is received by every other one with the same power: of frames that collide none survives (no capture).
    YansWifiChannelHelper air;
    air.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    air.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-40));
    phy.SetChannel(air.Create());
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    Ptr<Noise> noise = CreateObject<Noise>();
    noise->share = error;
    phy.Set("PostReceptionErrorModel", PointerValue(noise));
    std::vector<std::string> of;
    std::istringstream names(modes);
    for (std::string name; std::getline(names, name, ',');)
    {
        of.push_back(name);
    }
    WifiHelper wifi;
    wifi.SetStandard(of[0].starts_with("Vht") ? WIFI_STANDARD_80211ac : WIFI_STANDARD_80211n);
    WifiMacHelper mac;
    const Ssid ssid("case");
    mac.SetType("ns3::StaWifiMac",
                "Ssid",
                SsidValue(ssid),
                "MaxMissedBeacons",
                UintegerValue(1000000),
                "BE_MaxAmpduSize",
                UintegerValue(aggregate));
    NetDeviceContainer ends;
    for (uint32_t i = 0; i < stations; i++)
    {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(of[i % of.size()]),
                                     "ControlMode",
                                     StringValue("OfdmRate24Mbps"));
        ends.Add(wifi.Install(phy, mac, others.Get(i)));
    }
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, shared)));
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(aggregate));
    NetDeviceContainer own = wifi.Install(phy, mac, point);

    // Stations are a metre from the access point, on a circle, which counts for the propagation delay alone.
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(point);
    mobility.Install(others);
    for (uint32_t i = 0; i < stations; i++)
    {
        const double angle = 2 * M_PI * i / stations;
        others.Get(i)->GetObject<MobilityModel>()->SetPosition(Vector(std::cos(angle), std::sin(angle), 0));
    }

    InternetStackHelper internet;
    internet.Install(point);
    internet.Install(others);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer ofPoint = address.Assign(own);
    Ipv4InterfaceContainer ofOthers = address.Assign(ends);
    TrafficControlHelper control;
    control.Uninstall(own);
    control.Uninstall(ends);

    const Time interval = Seconds((payload + 28) * 8 / rate);
    std::vector<Ptr<Sender>> senders;
    const auto stream = [&](Ptr<Node> from, Ptr<Node> to, Ipv4Address there, uint16_t port, double begin) {
        UdpServerHelper server(port);
        ApplicationContainer sink = server.Install(to);
        sink.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Received, from == point.Get(0) ? &downstream : &upstream));
        sink.Start(Seconds(0));
        Ptr<Sender> sender = CreateObject<Sender>();
        sender->socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        sender->socket->Connect(InetSocketAddress(there, port));
        sender->payload = payload;
        sender->interval = interval;
        sender->poisson = poisson;
        senders.push_back(sender);
        // Before the load its addresses are resolved and block acknowledgements agreed on, which else contend with it.
        for (const double at : {0.4, 0.4, 0.4, 0.7, 0.7, 0.7})
        {
            Simulator::Schedule(Seconds(at + 0.01 * begin * stations), &Sender::SendOne, sender);
        }
        Simulator::Schedule(Seconds(1) + interval * begin, &Sender::Send, sender);
    };
    for (uint32_t i = 0; i < stations; i++)
    {
        const double begin = (i + 0.37) / stations;
        if (direction != "up")
        {
            stream(point.Get(0), others.Get(i), ofOthers.GetAddress(i), 5000 + i, begin);
        }
        if (direction != "down")
        {
            stream(others.Get(i), point.Get(0), ofPoint.GetAddress(0), 6000 + i, begin);
        }
    }
    // Stations have found the access point by then; its beacons would contend with the load.
    Simulator::Schedule(Seconds(0.95), [own] {
        DynamicCast<WifiNetDevice>(own.Get(0))->GetMac()->SetAttribute("BeaconGeneration", BooleanValue(false));
    });
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    std::cout << "throughput_mbit_per_s " << bytes * 8 / (end - warmup) / 1e6;
    for (auto [name, delays] : {std::pair("down", &downstream), std::pair("up", &upstream)})
    {
        std::sort(delays->begin(), delays->end());
        for (const auto percent : {50, 90, 99})
        {
            std::cout << " " << name << "_delay_p" << percent << "_ms " << Quantile(*delays, percent / 100.0) * 1e3;
        }
    }
    std::cout << std::endl;
    Simulator::Destroy();
    return 0;
}
