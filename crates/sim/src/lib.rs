//! A world of hosts, ports and wires, moved by an agenda of future events.
