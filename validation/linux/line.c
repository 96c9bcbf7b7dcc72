// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Two network devices joined by a line, for comparisons with the kernel's own queue disciplines.
 *
 * What line0 sends is received by line1, and the other way round. A device takes one packet at a
 * time, sends it at its rate, and then asks its queue discipline for the next, as a network card
 * with a ring of one packet does: so a discipline at the root of the device is the only queue.
 * (Under tbf or htb, RED is never asked while it is empty and never ages its average.) A packet is
 * received one propagation delay after its last bit was sent.
 *
 * Parameters, in /sys/module/aqmlab_line/parameters, one value for each device:
 *   rate     bit/s; a packet counts with its Ethernet header, as the disciplines count it
 *   delay    propagation, ns
 *   slot     period of line0's slots and the time for which each is open at its begin, ns; a period of 0
 *            keeps it open. What does not fit in a slot goes on in the next one, at the same rate.
 *   drop     numbers of the TCP segments with data (from 1) that come to line0 and are lost there
 *            before it sends them, so that they take none of its time
 *   mark     numbers of those that get the congestion-experienced code point there
 *   fresh    whether line1 receives every packet into memory of its own, as a card does; else it keeps
 *            the memory of its sender, and what that takes of a receive buffer
 *   marked   packets that left line0 with this code point; to be read
 *   flow_packets, flow_marked, flow_waited
 *            TCP segments with data that left line0, by the port of their sender (from FIRST), those
 *            of them with this code point, and how long they waited for the line, ns; to be read. A
 *            sender stamps each segment when it sends it, and router and queues keep the stamp.
 */
#include <linux/hrtimer.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/version.h>
#include <net/inet_ecn.h>

static ulong rate[2] = { 10000000, 1000000000 };
static ulong delay[2];
module_param_array(rate, ulong, NULL, 0644);
module_param_array(delay, ulong, NULL, 0644);

static ulong slot[2];
module_param_array(slot, ulong, NULL, 0644);

static ulong drop[256], mark[256], marked, segments;
static int drops, marks;
module_param_array(drop, ulong, &drops, 0644);
module_param_array(mark, ulong, &marks, 0644);
module_param(marked, ulong, 0444);
static uint fresh;
module_param(fresh, uint, 0644);

#define FIRST 10000 /* the port of the first bulk sender (guest/bulk.py) */
#define FLOWS 64
static ulong flow_packets[FLOWS], flow_marked[FLOWS], flow_waited[FLOWS];
module_param_array(flow_packets, ulong, NULL, 0444);
module_param_array(flow_marked, ulong, NULL, 0444);
module_param_array(flow_waited, ulong, NULL, 0444);

struct line {
	struct net_device *dev, *peer;
	struct hrtimer sent, arrived;
	struct sk_buff *sending;
	struct sk_buff_head flying; /* each with the time of its arrival in skb->tstamp */
	ktime_t free; /* when the last packet was or will have been sent */
	int end;
};

static struct net_device *devices[2];

/*
 * How late a timer may end. The clock of user-mode Linux has steps of 256 ns; a line whose packets
 * each began where the last one's timer ended would be slower than its rate, by 380 ppm at 10 Mbit/s.
 */
#define LATE_NS 1000

/* Bytes of data that a TCP segment carries; 0 for every other packet. */
static int data_of(struct sk_buff *skb)
{
	struct iphdr *ip = (struct iphdr *)(skb->data + ETH_HLEN);
	struct tcphdr *tcp = (struct tcphdr *)((u8 *)ip + ip->ihl * 4);

	if (skb->protocol != htons(ETH_P_IP) || ip->protocol != IPPROTO_TCP)
		return 0;
	return ntohs(ip->tot_len) - ip->ihl * 4 - tcp->doff * 4;
}

/* Counts what a flow gets from the queue before line0. */
static void count(struct sk_buff *skb)
{
	struct iphdr *ip = (struct iphdr *)(skb->data + ETH_HLEN);
	struct tcphdr *tcp = (struct tcphdr *)((u8 *)ip + ip->ihl * 4);
	unsigned int flow;

	if (data_of(skb) <= 0 || skb->tstamp_type != SKB_CLOCK_MONOTONIC)
		return;
	flow = ntohs(tcp->source) - FIRST;
	if (flow >= FLOWS)
		return;
	flow_packets[flow]++;
	flow_marked[flow] += INET_ECN_is_ce(ip->tos);
	flow_waited[flow] += max_t(s64, ktime_get_ns() - ktime_to_ns(skb->tstamp), 0);
}

static bool listed(const ulong *numbers, int count, ulong number)
{
	while (count--)
		if (numbers[count] == number)
			return true;
	return false;
}

/* Loses or marks what is listed; true where the packet is lost. */
static bool line_lost(struct sk_buff *skb)
{
	if (data_of(skb) <= 0)
		return false;
	segments++;
	if (listed(drop, drops, segments))
		return true;
	if (listed(mark, marks, segments)) {
		skb_set_network_header(skb, ETH_HLEN);
		INET_ECN_set_ce(skb);
	}
	return false;
}

/* When the line has sent what begins then and takes it so long (ns). */
static ktime_t sent(struct line *line, ktime_t begins, u64 ns)
{
	u64 period = slot[0], open = slot[1], into, needed, whole;

	if (line->end || !period)
		return ktime_add_ns(begins, ns);
	/* Open time from the begin of the clock to the packet's end, of which whole slots pass before it. */
	needed = div64_u64_rem(begins, period, &into) * open + min(into, open) + ns;
	whole = div64_u64(needed - 1, open);
	return ns_to_ktime(whole * period + needed - whole * open);
}

static netdev_tx_t line_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct line *line = netdev_priv(dev);
	u64 ns = div64_u64((u64)skb->len * 8 * NSEC_PER_SEC, rate[line->end]);
	ktime_t begins = ktime_get();

	if (line->end == 0 && line_lost(skb)) {
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	if (ktime_sub(begins, line->free) < LATE_NS)
		begins = line->free;
	line->free = sent(line, begins, ns);
	netif_stop_queue(dev);
	if (line->end == 0)
		count(skb);
	skb_orphan(skb);
	line->sending = skb;
	hrtimer_start(&line->sent, line->free, HRTIMER_MODE_ABS);
	return NETDEV_TX_OK;
}

static enum hrtimer_restart line_sent(struct hrtimer *timer)
{
	struct line *line = container_of(timer, struct line, sent);
	struct sk_buff *skb = line->sending;

	line->sending = NULL;
	dev_sw_netstats_tx_add(line->dev, 1, skb->len);
	netif_wake_queue(line->dev);
	if (line->end == 0 && skb->protocol == htons(ETH_P_IP) &&
	    INET_ECN_is_ce(((struct iphdr *)(skb->data + ETH_HLEN))->tos))
		marked++;
	skb->tstamp = ktime_add_ns(hrtimer_get_expires(timer), delay[line->end]);
	__skb_queue_tail(&line->flying, skb);
	if (skb_queue_len(&line->flying) == 1)
		hrtimer_start(&line->arrived, skb->tstamp, HRTIMER_MODE_ABS);
	return HRTIMER_NORESTART;
}

/* The packet in memory as a card's driver gives it; as it was where there is none. */
static struct sk_buff *received(struct sk_buff *skb, struct net_device *dev)
{
	struct sk_buff *copy = netdev_alloc_skb_ip_align(dev, skb->len);

	if (!copy)
		return skb;
	skb_copy_bits(skb, 0, skb_put(copy, skb->len), skb->len);
	copy->ip_summed = CHECKSUM_UNNECESSARY;
	consume_skb(skb);
	return copy;
}

static enum hrtimer_restart line_arrived(struct hrtimer *timer)
{
	struct line *line = container_of(timer, struct line, arrived);
	struct sk_buff *skb = __skb_dequeue(&line->flying);
	struct sk_buff *next = skb_peek(&line->flying);

	skb->tstamp = 0;
	skb_scrub_packet(skb, true);
	if (fresh && line->end == 0)
		skb = received(skb, line->peer);
	skb->protocol = eth_type_trans(skb, line->peer);
	netif_rx(skb);
	if (!next)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, next->tstamp);
	return HRTIMER_RESTART;
}

static const struct net_device_ops line_ops = {
	.ndo_start_xmit = line_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static void line_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &line_ops;
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	eth_hw_addr_random(dev);
}

static void set_up(struct hrtimer *timer, enum hrtimer_restart (*rings)(struct hrtimer *))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = rings;
#else
	hrtimer_setup(timer, rings, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#endif
}

static int __init line_init(void)
{
	int end, error;

	for (end = 0; end < 2; end++) {
		devices[end] = alloc_netdev(sizeof(struct line), "line%d", NET_NAME_ENUM, line_setup);
		if (!devices[end])
			return -ENOMEM;
	}
	for (end = 0; end < 2; end++) {
		struct line *line = netdev_priv(devices[end]);

		line->dev = devices[end];
		line->peer = devices[!end];
		line->end = end;
		set_up(&line->sent, line_sent);
		set_up(&line->arrived, line_arrived);
		__skb_queue_head_init(&line->flying);
		error = register_netdev(devices[end]);
		if (error)
			return error;
	}
	return 0;
}
module_init(line_init);
MODULE_DESCRIPTION("Two devices joined by a line of a given rate and delay");
MODULE_LICENSE("Dual MIT/GPL");
