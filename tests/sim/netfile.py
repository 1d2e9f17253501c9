#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes a private copy of an ibnetdiscover file that ibsim can load, and says what is in it.

ibsim runs lines of its net file that begin with "do" or "include", stops at the first cable whose
far end the file does not hold, and misreads long lines, lost tabs and terminal noise. So nothing
of the input is passed on: it is parsed, and the copy is written anew from what was understood.
What was left out or changed is told on standard error. Nodes are called "S-GUID", "H-GUID" and
"R-GUID" in the copy, with the GUIDs that the simulated fabric has.

Standard output holds shell assignments: NET_SWITCHES, NET_CAS, NET_ROUTERS, NET_LINKS,
NET_SIM_HOST (where an SM can be attached), NET_SPARE_HOSTS (a few more of the kind, far from it in
the file) and NET_IBSIM_ARGS (the sizes ibsim needs).
"""

import argparse
import os
import re
import sys

MAX_LID = 0xBFFF
MAX_PORTS = 254
MADE_UP_GUID = {"S": 0x0000_1B53_4D00_0000, "H": 0x0000_1B53_4D10_0000, "R": 0x0000_1B53_4D20_0000}
SPARE_HOSTS = 4
DESCRIPTION_BYTES = 63

KINDS = {"Switch": "S", "Ca": "H", "Hca": "H", "Rt": "R"}
NODE = re.compile(r'^(Switch|Ca|Hca|Rt)\s*(\d+)\s*"([^"]*)"\s*(.*)$')
PORT = re.compile(r'^\[(\d+)\]\s*(?:\([0-9a-fA-F]*\))?\s*"([^"]*)"\s*\[(\d+)\](.*)$')
GUID = re.compile(r"^(switch|ca|hca|rt)guids?=\s*(?:0x)?([0-9a-fA-F]{1,16})\b")
NUMBER = re.compile(r"^(vendid|devid|sysimgguid)=\s*(0x[0-9a-fA-F]{1,16}|\d+)")
NODE_ID = re.compile(r"^[SHR]-(?:0x)?([0-9a-fA-F]{1,16})$")
QUOTED = re.compile(r'^#\s*"(.*)"(.*)$')
UNQUOTED = re.compile(r"^#\s*(.*?)((?:\s+(?:enhanced|base) port 0|\s+lid \d).*)?$")
LINK_TYPE = re.compile(r"\blid\s+\d+\s+(\d+)x\s?([A-Z]+\d*)")
EXECUTED = re.compile(r"^(do|include)")
INITIATED = re.compile(r"^# Initiated from node ([0-9a-fA-F]{16})\b")
PORTS_REPORT = re.compile(r"^(SW|CA|RT)\s+\d+\s+\d+\s+0x[0-9a-fA-F]+\s")
# What ibnetdiscover prints around the nodes.
FURNITURE = re.compile(
    r"^(#|\s*$|Chassis\b|Non-Chassis|chassisguid=|(Spine|Line|SRBD|SFB)\s*\d)")

# Bits of LinkWidthEnabled that ibsim derives from an annotation. It stops at a cable whose ends
# share none.
WIDTHS = {"1": 0x1, "2": 0x10, "4": 0x3, "8": 0x4, "12": 0xB}
DEFAULT_WIDTH = 0x2
SPEEDS = ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR")


class Unusable(Exception):
    """ibsim cannot load this input, and the message says why."""


class Node:
    """One switch, channel adapter or router."""

    def __init__(self, kind, size, source_id):
        self.kind = kind
        self.size = size
        self.source_id = source_id
        self.guid = 0
        self.description = ""
        self.port0 = ""
        self.lid = 0
        self.lmc = 0
        self.numbers = {}
        self.ports = {}

    @property
    def node_id(self):
        return f"{self.kind}-{self.guid:016x}"

    def port_guids(self):
        if self.kind == "S":
            return [self.guid]
        return [self.guid + number for number in range(1, self.size + 1)]


class Port:
    """One end of a cable."""

    def __init__(self, peer_id, peer_port, link, lid=0, lmc=0):
        self.peer_id = peer_id
        self.peer_port = peer_port
        self.link = link  # (width, speed), or None where the file says nothing
        self.lid = lid
        self.lmc = lmc
        self.peer = None


class Notes:
    """What happened to the input, counted, with the first example of each."""

    def __init__(self):
        self.seen = {}

    def add(self, what, example):
        entry = self.seen.setdefault(what, [0, example])
        entry[0] += 1

    def print(self, name):
        for what, (times, example) in self.seen.items():
            example = "".join(c if c.isprintable() else "?" for c in example.strip())[:60]
            print(f"{name}: {what} ({times}, first: {example})", file=sys.stderr)


def lid_of(text):
    """The LID in "lid N", 0 if there is none or none that a port can have."""
    match = re.search(r"\blid\s+(\d+)", text)
    lid = int(match[1]) if match else 0
    return lid if lid <= MAX_LID else 0


def lmc_of(text):
    match = re.search(r"\blmc\s+([0-7])\b", text)
    return int(match[1]) if match else 0


def parse_node(match):
    kind, size, source_id, rest = match.groups()
    node = Node(KINDS[kind], int(size), source_id)
    if not 1 <= node.size <= MAX_PORTS:
        raise Unusable(f'"{source_id}" has {size} ports: not between 1 and {MAX_PORTS}')
    named = QUOTED.match(rest) or UNQUOTED.match(rest)
    if named:
        node.description, tail = named[1], named[2] or ""
        port0 = re.search(r"\b(enhanced|base) port 0\b", tail)
        node.port0 = port0[0] if port0 else ""
        node.lid, node.lmc = lid_of(tail), lmc_of(tail)
    return node


def parse_port(node, match, notes):
    number, peer_id, peer_port, rest = match.groups()
    own = rest.split('"')[0] if node.kind != "S" else ""
    link = None
    for width, speed in LINK_TYPE.findall(rest):
        link = (width, speed)
    if link and link[1] not in SPEEDS:
        newer = link[1] in ("NDR", "XDR")
        notes.add(("showing as HDR" if newer else "leaving to ibsim's default") +
                  " link ends of a speed that it does not know", "x".join(link))
        link = (link[0], "HDR") if newer else None
    if link and link[0] not in WIDTHS:
        notes.add("leaving to ibsim's default link ends of a width that it does not know",
                  "x".join(link))
        link = None
    return int(number), Port(peer_id, int(peer_port), link, lid_of(own), lmc_of(own))


def parse(lines, notes):
    """The nodes of an ibnetdiscover file, and the GUID of the one that it was written on, or 0."""
    nodes = {}
    origin = 0
    node = None
    guid = None
    numbers = {}
    reports = 0

    for line in lines:
        if match := NODE.match(line):
            node = parse_node(match)
            if guid and guid[0] == node.kind:
                node.guid = guid[1]
            elif named := NODE_ID.match(node.source_id):
                node.guid = int(named[1], 16)
            node.numbers = numbers
            guid, numbers = None, {}
            if node.source_id in nodes:
                notes.add("leaving out nodes that the file holds twice", line)
            else:
                nodes[node.source_id] = node
        elif match := PORT.match(line):
            if node is None:
                notes.add("leaving out cables that belong to no node", line)
                continue
            number, port = parse_port(node, match, notes)
            if not 1 <= number <= node.size:
                notes.add("leaving out cables at a port that the node does not have", line)
            elif number in node.ports:
                notes.add("leaving out cables at a port that has one already", line)
            else:
                node.ports[number] = port
        elif match := GUID.match(line):
            guid = ({"s": "S", "r": "R"}.get(match[1][0], "H"), int(match[2], 16))
        elif match := NUMBER.match(line):
            numbers[match[1]] = match[2]
        elif match := INITIATED.match(line):
            origin = int(match[1], 16)
        elif EXECUTED.match(line):
            notes.add("leaving out lines that ibsim would have executed", line)
        elif not FURNITURE.match(line):
            reports += bool(PORTS_REPORT.match(line))
            notes.add("leaving out lines that are not ibnetdiscover's", line)

    if not nodes and reports:
        raise Unusable("a ports report (ibnetdiscover -p): "
                       "ibsim needs what ibnetdiscover prints without -p")
    if not nodes:
        raise Unusable("no Switch, Ca or Rt line in it: not what ibnetdiscover prints")
    return list(nodes.values()), origin


def give_guids(nodes, notes):
    """Make every node GUID and port GUID one of its own, as opensm wants them."""
    taken = set()
    free = dict(MADE_UP_GUID)

    for node in sorted(nodes, key=lambda node: node.guid == 0):
        if node.guid and not taken.isdisjoint([node.guid, *node.port_guids()]):
            if any(other.guid == node.guid for other in nodes if other is not node):
                raise Unusable(f'"{node.source_id}" has the GUID of another node')
            notes.add("giving new GUIDs to nodes whose ports ibsim would number like another's",
                      node.source_id)
            node.guid = 0
        while not node.guid or not taken.isdisjoint([node.guid, *node.port_guids()]):
            node.guid = free[node.kind]
            free[node.kind] += MAX_PORTS + 1
        taken.update([node.guid, *node.port_guids()])


def join_ends(nodes, notes):
    """Resolve what cables lead to; leave out those that do not have two ends."""
    by_id = {node.source_id: node for node in nodes}

    for node in nodes:
        for number, port in list(node.ports.items()):
            where = f'"{node.source_id}"[{number}] - "{port.peer_id}"[{port.peer_port}]'
            peer = by_id.get(port.peer_id)
            if peer is None:
                notes.add("leaving out cables to a node that the file does not hold", where)
            elif not 1 <= port.peer_port <= peer.size:
                notes.add("leaving out cables to a port that the node does not have", where)
            elif peer is node and port.peer_port == number:
                notes.add("leaving out cables from a port to itself", where)
            else:
                back = peer.ports.get(port.peer_port)
                if back is None:
                    back = peer.ports[port.peer_port] = Port(node.source_id, number, port.link)
                    notes.add("completing cables that the file shows at one end only", where)
                if (back.peer_id, back.peer_port) == (node.source_id, number):
                    port.peer, back.peer = peer, node
                    agree(node, port, peer, back, where, notes)
                    continue
                notes.add("leaving out cables whose two ends say different things", where)
            del node.ports[number]


def width_mask(node, port):
    """LinkWidthEnabled as ibsim will set it; it reads no annotation at a router."""
    return WIDTHS[port.link[0]] if port.link and node.kind != "R" else DEFAULT_WIDTH


def agree(node, port, peer, back, where, notes):
    if width_mask(node, port) & width_mask(peer, back):
        return
    notes.add("making alike the ends of links that have no width in common", where)
    if "R" in (node.kind, peer.kind) or not (port.link and back.link):
        port.link = back.link = None
    else:
        back.link = port.link


def largest_island(nodes):
    """The nodes of the largest part that hangs together."""
    best = []
    seen = set()
    for start in nodes:
        if start in seen:
            continue
        seen.add(start)
        island = [start]
        for node in island:
            for port in node.ports.values():
                if port.peer not in seen:
                    seen.add(port.peer)
                    island.append(port.peer)
        if len(island) > len(best):
            best = island
    return best


def choose_sim_hosts(nodes, origin):
    """Where SMs work: on adapters' first ports that are cabled, or else on a switch."""
    island = set(largest_island(nodes))
    # The host that the file was written on is a better guess than any other.
    hosts = [node for node in sorted(nodes, key=lambda node: node.guid != origin)
             if node in island and node.kind == "H" and 1 in node.ports]
    if hosts:
        return hosts
    for node in nodes:
        if node in island and node.kind == "S":
            return [node]
    raise Unusable("no adapter with a cable at its first port, and no switch: nowhere to put an SM")


def write(nodes, out):
    for node in nodes:
        out.write("\n")
        for key, value in node.numbers.items():
            out.write(f"{key}={value}\n")
        keyword, guid_key = {"S": ("Switch", "switchguid"), "H": ("Ca", "caguid"),
                             "R": ("Rt", "rtguid")}[node.kind]
        description = node.description.replace('"', "'")[:DESCRIPTION_BYTES]
        out.write(f"{guid_key}=0x{node.guid:016x}\n")
        out.write(f'{keyword}\t{node.size} "{node.node_id}"\t# "{description}"')
        if node.kind == "S":
            out.write(f" {node.port0} lid {node.lid} lmc {node.lmc}")
        out.write("\n")
        for number, port in sorted(node.ports.items()):
            out.write(f'[{number}]\t"{port.peer.node_id}"[{port.peer_port}]\t#')
            if node.kind == "H":
                out.write(f' lid {port.lid} lmc {port.lmc} ""')
            if port.link:
                out.write(f" lid 0 {port.link[0]}x{port.link[1]}")
            out.write("\n")


def ibsim_args(nodes):
    switches = sum(node.kind == "S" for node in nodes)
    ports = sum(node.size + 1 for node in nodes)
    lids = 64
    for node in nodes:
        for lid, lmc in [(node.lid, node.lmc)] + [(p.lid, p.lmc) for p in node.ports.values()]:
            lids = max(lids, lid + (1 << lmc))
    lids = max(lids, 2 * sum(1 << max([node.lmc] + [p.lmc for p in node.ports.values()])
                             for node in nodes))
    lids = min((lids + 1023) // 1024 * 1024, MAX_LID + 1)
    return f"-S {max(switches, 1)} -N {len(nodes)} -P {ports} -L {lids}"


def read_lines(path):
    try:
        if os.path.isdir(path):
            raise Unusable("a directory, not a file")
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unusable(error.strerror) from error
    if b"\0" in data:
        raise Unusable("not a text file")
    # Latin-1 carries every byte of a node description through unchanged.
    return [line.rstrip("\r") for line in data.decode("latin-1").split("\n")]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", metavar="FILE")
    parser.add_argument("output", metavar="COPY")
    args = parser.parse_args()
    name = os.path.basename(args.input) or args.input
    notes = Notes()

    try:
        nodes, origin = parse(read_lines(args.input), notes)
        give_guids(nodes, notes)
        join_ends(nodes, notes)
        sim_hosts = choose_sim_hosts(nodes, origin)
        with open(args.output, "w", encoding="latin-1") as out:
            write(nodes, out)
    except (Unusable, OSError) as error:
        parser.exit(1, f"{args.input}: {error}\n")

    notes.print(name)
    for variable, kind in (("NET_SWITCHES", "S"), ("NET_CAS", "H"), ("NET_ROUTERS", "R")):
        print(f"{variable}={sum(node.kind == kind for node in nodes)}")
    print(f"NET_LINKS={sum(len(node.ports) for node in nodes) // 2}")
    print(f"NET_SIM_HOST={sim_hosts[0].node_id}")
    print(f"NET_SPARE_HOSTS='{' '.join(node.node_id for node in sim_hosts[:0:-1][:SPARE_HOSTS])}'")
    print(f"NET_IBSIM_ARGS='{ibsim_args(nodes)}'")


if __name__ == "__main__":
    main()
