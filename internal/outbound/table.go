package outbound

import "net/netip"

// A block is a range that is never dialled.
type block struct {
	prefix netip.Prefix
	name   string // as its registry calls it
	source string // the RFC or the vendor that set it aside
}

// refused lists every row of the IANA IPv4 and IPv6 special-purpose address
// registries (as of October 2025), multicast, and what no registry lists. Rows
// that the registries call globally reachable (anycast services such as PCP,
// TURN or AS112 inside 192.0.0.0/24, 2001::/23 and elsewhere) are refused too:
// no webhook receiver is there. Rows inside larger rows stay, so that the
// table can be compared with the registries line by line.
//
// Two rows of the IPv6 registry are missing on purpose, because [Policy.Check]
// unwraps them and checks the IPv4 address inside: ::ffff:0:0/96 (IPv4-mapped,
// which the kernel dials as IPv4) and 64:ff9b::/96 (NAT64, the only way to IPv4
// receivers from an IPv6-only network).
var refused = []block{
	// IANA IPv4 Special-Purpose Address Registry.
	{netip.MustParsePrefix("0.0.0.0/8"), "This network", "RFC 791"},
	{netip.MustParsePrefix("0.0.0.0/32"), "This host on this network", "RFC 1122"},
	{netip.MustParsePrefix("10.0.0.0/8"), "Private-Use", "RFC 1918"},
	{netip.MustParsePrefix("100.64.0.0/10"), "Shared Address Space", "RFC 6598"},
	{netip.MustParsePrefix("127.0.0.0/8"), "Loopback", "RFC 1122"},
	{netip.MustParsePrefix("169.254.0.0/16"), "Link Local", "RFC 3927"},
	{netip.MustParsePrefix("172.16.0.0/12"), "Private-Use", "RFC 1918"},
	{netip.MustParsePrefix("192.0.0.0/24"), "IETF Protocol Assignments", "RFC 6890"},
	{netip.MustParsePrefix("192.0.0.0/29"), "IPv4 Service Continuity Prefix", "RFC 7335"},
	{netip.MustParsePrefix("192.0.0.8/32"), "IPv4 dummy address", "RFC 7600"},
	{netip.MustParsePrefix("192.0.0.9/32"), "Port Control Protocol Anycast", "RFC 7723"},
	{netip.MustParsePrefix("192.0.0.10/32"), "Traversal Using Relays around NAT Anycast", "RFC 8155"},
	{netip.MustParsePrefix("192.0.0.170/32"), "NAT64/DNS64 Discovery", "RFC 8880"},
	{netip.MustParsePrefix("192.0.0.171/32"), "NAT64/DNS64 Discovery", "RFC 8880"},
	{netip.MustParsePrefix("192.0.2.0/24"), "Documentation (TEST-NET-1)", "RFC 5737"},
	{netip.MustParsePrefix("192.31.196.0/24"), "AS112-v4", "RFC 7535"},
	{netip.MustParsePrefix("192.52.193.0/24"), "AMT", "RFC 7450"},
	{netip.MustParsePrefix("192.88.99.0/24"), "Deprecated (6to4 Relay Anycast)", "RFC 7526"},
	{netip.MustParsePrefix("192.88.99.2/32"), "6a44-relay anycast address", "RFC 6751"},
	{netip.MustParsePrefix("192.168.0.0/16"), "Private-Use", "RFC 1918"},
	{netip.MustParsePrefix("192.175.48.0/24"), "Direct Delegation AS112 Service", "RFC 7534"},
	{netip.MustParsePrefix("198.18.0.0/15"), "Benchmarking", "RFC 2544"},
	{netip.MustParsePrefix("198.51.100.0/24"), "Documentation (TEST-NET-2)", "RFC 5737"},
	{netip.MustParsePrefix("203.0.113.0/24"), "Documentation (TEST-NET-3)", "RFC 5737"},
	{netip.MustParsePrefix("240.0.0.0/4"), "Reserved", "RFC 1112"},
	{netip.MustParsePrefix("255.255.255.255/32"), "Limited Broadcast", "RFC 919"},

	// IANA IPv6 Special-Purpose Address Registry.
	{netip.MustParsePrefix("::1/128"), "Loopback Address", "RFC 4291"},
	{netip.MustParsePrefix("::/128"), "Unspecified Address", "RFC 4291"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "IPv4-IPv6 Translation, local use", "RFC 8215"},
	{netip.MustParsePrefix("100::/64"), "Discard-Only Address Block", "RFC 6666"},
	{netip.MustParsePrefix("100:0:0:1::/64"), "Dummy IPv6 Prefix", "RFC 9780"},
	{netip.MustParsePrefix("2001::/23"), "IETF Protocol Assignments", "RFC 2928"},
	{netip.MustParsePrefix("2001::/32"), "TEREDO", "RFC 4380"},
	{netip.MustParsePrefix("2001:1::1/128"), "Port Control Protocol Anycast", "RFC 7723"},
	{netip.MustParsePrefix("2001:1::2/128"), "Traversal Using Relays around NAT Anycast", "RFC 8155"},
	{netip.MustParsePrefix("2001:1::3/128"), "DNS-SD Service Registration Protocol Anycast", "RFC 9665"},
	{netip.MustParsePrefix("2001:2::/48"), "Benchmarking", "RFC 5180"},
	{netip.MustParsePrefix("2001:3::/32"), "AMT", "RFC 7450"},
	{netip.MustParsePrefix("2001:4:112::/48"), "AS112-v6", "RFC 7535"},
	{netip.MustParsePrefix("2001:10::/28"), "Deprecated (previously ORCHID)", "RFC 4843"},
	{netip.MustParsePrefix("2001:20::/28"), "ORCHIDv2", "RFC 7343"},
	{netip.MustParsePrefix("2001:30::/28"), "Drone Remote ID Protocol Entity Tags", "RFC 9374"},
	{netip.MustParsePrefix("2001:db8::/32"), "Documentation", "RFC 3849"},
	{netip.MustParsePrefix("2002::/16"), "6to4", "RFC 3056"},
	{netip.MustParsePrefix("2620:4f:8000::/48"), "Direct Delegation AS112 Service", "RFC 7534"},
	{netip.MustParsePrefix("3fff::/20"), "Documentation", "RFC 9637"},
	{netip.MustParsePrefix("5f00::/16"), "Segment Routing (SRv6) SIDs", "RFC 9602"},
	{netip.MustParsePrefix("fc00::/7"), "Unique-Local", "RFC 4193"},
	{netip.MustParsePrefix("fe80::/10"), "Link-Local Unicast", "RFC 4291"},

	// Not in those registries.
	{netip.MustParsePrefix("224.0.0.0/4"), "Multicast", "RFC 5771"},
	{netip.MustParsePrefix("ff00::/8"), "Multicast", "RFC 4291"},
	{netip.MustParsePrefix("::/96"), "IPv4-compatible, deprecated", "RFC 4291"},
	{netip.MustParsePrefix("fec0::/10"), "Site-local, deprecated", "RFC 3879"},

	// Metadata services of clouds: the first is a public address, the others
	// are in refused ranges and have rows so that the log can name them.
	{netip.MustParsePrefix("168.63.129.16/32"), "Azure platform services", "Microsoft Azure"},
	{netip.MustParsePrefix("169.254.169.254/32"), "instance metadata", "several clouds"},
	{netip.MustParsePrefix("169.254.170.2/32"), "task metadata", "Amazon ECS"},
	{netip.MustParsePrefix("100.100.100.200/32"), "instance metadata", "Alibaba Cloud"},
	{netip.MustParsePrefix("192.0.0.192/32"), "instance metadata", "Oracle Cloud"},
	{netip.MustParsePrefix("fd00:ec2::254/128"), "instance metadata", "Amazon EC2"},
	{netip.MustParsePrefix("fd20:ce::254/128"), "instance metadata", "Google Cloud"},
}

var (
	// nat64 is the well-known prefix of RFC 6052; its last 32 bits are an IPv4 address.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")

	// globalUnicast is all of IPv6 that IANA has opened for assignment (RFC 4291 2.4).
	globalUnicast = netip.MustParsePrefix("2000::/3")
)
