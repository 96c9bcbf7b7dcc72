// An access point and its stations in ns-3 (802.11n, 5 GHz, 20 MHz): options are --name=value, the answer is names and numbers
// on one line. Datagrams of 1,500 B (IP) go from the access point to each station, or from each station to it, at even
// distances; what is measured is what arrives after the warm-up, and how long each datagram took.
//
// All devices send at one rate of the physical layer (HtMcs0 to HtMcs7, long guard interval), control frames at 24 Mbit/s;
// nothing is lost on the air but by collisions. There is no queue discipline; the queue of the MAC layer holds `limit`
// packets for all stations, and keeps them as long as they wait. Aggregates (A-MPDU) have 65,535 B at most.
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
#include <vector>

using namespace ns3;

namespace
{

double warmup = 2;
double end = 12;
uint64_t bytes = 0;
std::vector<double> delays;

/// A datagram has arrived; its header says when it was sent.
void Received(Ptr<const Packet> packet)
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
        delays.push_back(now - header.GetTs().GetSeconds());
    }
}

double Quantile(double share)
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
    std::string mode = "HtMcs7";
    std::string direction = "down";
    double rate = 1e6; // of each station's datagrams, IP bits/s
    uint32_t limit = 400;
    uint32_t seed = 1;
    CommandLine command;
    command.AddValue("stations", "stations", stations);
    command.AddValue("mode", "rate of the physical layer", mode);
    command.AddValue("direction", "down or up", direction);
    command.AddValue("rate", "bit/s of each station", rate);
    command.AddValue("limit", "packets of the queue", limit);
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
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(mode),
                                 "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    const Ssid ssid("case");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(65535));
    NetDeviceContainer ends = wifi.Install(phy, mac, others);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(65535));
    NetDeviceContainer own = wifi.Install(phy, mac, point);

    // Everybody is near: a metre apart, at the same place as the others.
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(point);
    mobility.Install(others);
    for (uint32_t i = 0; i < stations; i++)
    {
        others.Get(i)->GetObject<MobilityModel>()->SetPosition(Vector(1, 0.1 * i, 0));
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

    const Time interval = Seconds(1500 * 8 / rate);
    for (uint32_t i = 0; i < stations; i++)
    {
        const bool down = direction == "down";
        Ptr<Node> from = down ? point.Get(0) : others.Get(i);
        Ptr<Node> to = down ? others.Get(i) : point.Get(0);
        UdpServerHelper server(5000 + i);
        ApplicationContainer sink = server.Install(to);
        sink.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
        sink.Start(Seconds(0));
        UdpClientHelper client(down ? ofOthers.GetAddress(i) : ofPoint.GetAddress(0), 5000 + i);
        client.SetAttribute("MaxPackets", UintegerValue(0));
        client.SetAttribute("Interval", TimeValue(interval));
        client.SetAttribute("PacketSize", UintegerValue(1472));
        ApplicationContainer source = client.Install(from);
        source.Start(Seconds(1) + interval * (i + 0.37) / stations);
    }
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    std::sort(delays.begin(), delays.end());
    std::cout << "throughput_mbit_per_s " << bytes * 8 / (end - warmup) / 1e6 << " delay_p50_ms "
              << Quantile(0.5) * 1e3 << " delay_p90_ms " << Quantile(0.9) * 1e3 << " delay_p99_ms "
              << Quantile(0.99) * 1e3 << std::endl;
    Simulator::Destroy();
    return 0;
}
