#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes made-up InfiniBand fabrics in ibnetdiscover's format, for ibsim to simulate.

Shapes:
  tree2   two levels: every leaf is cabled to every spine
  tree3   three levels of K-port switches: K pods, K*K/4 cores, K*K*K/4 hosts at full size
  ring    switches in a circle
  torus   switches on an X by Y grid that closes on itself

The file lists switches first (leaves before spines), then hosts, each with the GUID lines that
make the simulator use exactly these GUIDs, and the width and speed of each link as ibnetdiscover
prints them. The same arguments always give the same file.
"""

import argparse
import re
import sys

SWITCH_GUID = 0x0002_C902_0000_0000
HOST_GUID = 0x0002_C903_0000_0000
GUID_STEP = 0x10  # a host's ports are numbered upwards from its node GUID
MAX_PORTS = 254
MAX_NODES = 48_000  # LIDs 1 to 0xbfff
LINK_TYPE = re.compile(r"^(1|2|4|8|12)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)$")


class Node:
    """A switch or a host: its GUID, what it is called, and where its ports lead."""

    def __init__(self, kind, guid, name):
        self.kind = kind
        self.guid = guid
        self.name = name
        self.lid = 0
        self.ports = {}  # own port number -> (node, its port number, link type)

    @property
    def node_id(self):
        return f"{self.kind}-{self.guid:016x}"

    def next_port(self):
        return max(self.ports, default=0) + 1


class Fabric:
    """Nodes and the cables between them."""

    def __init__(self, prefix=""):
        self.prefix = prefix
        self.switches = []
        self.hosts = []

    def add_switch(self, name):
        node = Node("S", SWITCH_GUID + len(self.switches) * GUID_STEP, self.prefix + name)
        self.switches.append(node)
        return node

    def add_host(self, switch, link_type):
        """A host with one adapter on the next free port of switch."""
        number = len(self.hosts) + 1
        node = Node("H", HOST_GUID + number * GUID_STEP, f"{self.prefix}node{number:04d} HCA-1")
        self.hosts.append(node)
        self.cable(switch, switch.next_port(), node, 1, link_type)
        return node

    @staticmethod
    def cable(one, one_port, other, other_port, link_type):
        if one_port in one.ports or other_port in other.ports:
            raise ValueError(f"{one.name}[{one_port}]-{other.name}[{other_port}]: port in use")
        one.ports[one_port] = (other, other_port, link_type)
        other.ports[other_port] = (one, one_port, link_type)

    def number_lids(self):
        for lid, node in enumerate(self.switches + self.hosts, start=1):
            node.lid = lid

    def write(self, out, comment, switch_ports=None):
        out.write(f"#\n# Topology file: {comment}\n#\n")
        for node in self.switches:
            size = switch_ports or max(node.ports, default=1)
            out.write("\nvendid=0x2c9\ndevid=0xcb20\n")
            out.write(f"sysimgguid=0x{node.guid:016x}\n")
            out.write(f"switchguid=0x{node.guid:016x}({node.guid:x})\n")
            out.write(f'Switch\t{size} "{node.node_id}"\t\t# "{node.name}"')
            out.write(f" enhanced port 0 lid {node.lid} lmc 0\n")
            for port, (peer, peer_port, link_type) in sorted(node.ports.items()):
                guid = f"({peer.guid + peer_port:x})" if peer.kind == "H" else ""
                out.write(f'[{port}]\t"{peer.node_id}"[{peer_port}]{guid} \t\t# "{peer.name}"')
                out.write(f" lid {peer.lid} {link_type}\n")
        for node in self.hosts:
            out.write("\nvendid=0x2c9\ndevid=0x1017\n")
            out.write(f"sysimgguid=0x{node.guid:016x}\n")
            out.write(f"caguid=0x{node.guid:016x}\n")
            out.write(f'Ca\t{max(node.ports)} "{node.node_id}"\t\t# "{node.name}"\n')
            for port, (peer, peer_port, link_type) in sorted(node.ports.items()):
                out.write(f'[{port}]({node.guid + port:x}) \t"{peer.node_id}"[{peer_port}]')
                out.write(f"\t\t# lid {node.lid} lmc 0")
                out.write(f' "{peer.name}" lid {peer.lid} {link_type}\n')


def tree2(fabric, args):
    """Leaves with hosts on their low ports; spine s takes leaf l's cables on consecutive ports."""
    leaves = [fabric.add_switch(f"leaf{i + 1:02d}") for i in range(args.leaves)]
    spines = [fabric.add_switch(f"spine{i + 1:02d}") for i in range(args.spines)]
    for leaf in leaves:
        for _ in range(args.hosts):
            fabric.add_host(leaf, args.host_link)
    for leaf in leaves:
        for spine in spines:
            for _ in range(args.links):
                fabric.cable(leaf, leaf.next_port(), spine, spine.next_port(), args.link)


def tree3(fabric, args):
    """The full three-level tree of K-port switches, or its first --pods pods."""
    half = args.radix // 2
    pods = args.pods or args.radix
    leaves = [[fabric.add_switch(f"leaf{p + 1:02d}-{i + 1:02d}") for i in range(half)]
              for p in range(pods)]
    aggs = [[fabric.add_switch(f"agg{p + 1:02d}-{i + 1:02d}") for i in range(half)]
            for p in range(pods)]
    cores = [[fabric.add_switch(f"core{i + 1:02d}-{j + 1:02d}") for j in range(half)]
             for i in range(half)]
    for pod in leaves:
        for leaf in pod:
            for _ in range(half if args.hosts is None else args.hosts):
                fabric.add_host(leaf, args.host_link)
    for p in range(pods):
        for i, leaf in enumerate(leaves[p]):
            for j, agg in enumerate(aggs[p]):
                fabric.cable(leaf, half + j + 1, agg, i + 1, args.link)
        # Aggregation switch i of every pod sees the cores of row i, and no others.
        for i, agg in enumerate(aggs[p]):
            for j, core in enumerate(cores[i]):
                fabric.cable(agg, half + j + 1, core, p + 1, args.link)


def ring(fabric, args):
    switches = [fabric.add_switch(f"switch{i + 1:02d}") for i in range(args.switches)]
    for switch in switches:
        for _ in range(args.hosts):
            fabric.add_host(switch, args.host_link)
    for i, switch in enumerate(switches):
        after = switches[(i + 1) % len(switches)]
        for _ in range(args.links):
            fabric.cable(switch, switch.next_port(), after, after.next_port(), args.link)


def torus(fabric, args):
    columns, rows = args.size
    grid = [[fabric.add_switch(f"switch{x + 1:02d}-{y + 1:02d}") for y in range(rows)]
            for x in range(columns)]
    for column in grid:
        for switch in column:
            for _ in range(args.hosts):
                fabric.add_host(switch, args.host_link)
    for x in range(columns):
        for y in range(rows):
            here = grid[x][y]
            for there in (grid[(x + 1) % columns][y], grid[x][(y + 1) % rows]):
                for _ in range(args.links):
                    fabric.cable(here, here.next_port(), there, there.next_port(), args.link)


def count(least):
    """An argparse type: a whole number of at least this much."""
    def parse(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least {least}")
        return value
    return parse


def link_type(text):
    if not LINK_TYPE.match(text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a width and speed as ibnetdiscover prints them, such as 4xEDR")
    return text


def size(text):
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match or min(int(match[1]), int(match[2])) < 3:
        raise argparse.ArgumentTypeError(f"'{text}' is not XxY with both at least 3, such as 4x4")
    return int(match[1]), int(match[2])


def name_prefix(text):
    if len(text) > 32 or not text.isprintable() or '"' in text:
        raise argparse.ArgumentTypeError("the prefix is longer than 32, unprintable or has a quote")
    return text


class Parser(argparse.ArgumentParser):
    """One line for a wrong call, not a page of usage."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def parse_args(argv):
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--link", type=link_type, default="4xEDR", metavar="TYPE",
                        help="links between switches (default %(default)s)")
    common.add_argument("--host-link", type=link_type, default=None, metavar="TYPE",
                        help="links to hosts (default: as --link)")
    common.add_argument("--prefix", type=name_prefix, default="",
                        help="what every node's name begins with")
    common.add_argument("--switch-ports", type=count(1), default=None, metavar="N",
                        help="ports each switch has (default: as many as are cabled)")
    common.add_argument("--lids", action="store_true",
                        help="give LIDs in file order, as a swept fabric has them (default: 0)")
    common.add_argument("-o", "--output", metavar="FILE", help="default: standard output")

    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shapes = parser.add_subparsers(dest="shape", required=True, metavar="SHAPE",
                                   parser_class=Parser)

    shape = shapes.add_parser("tree2", parents=[common], help="a two-level tree")
    shape.add_argument("--leaves", type=count(1), default=4, help="default %(default)s")
    shape.add_argument("--spines", type=count(1), default=2, help="default %(default)s")
    shape.add_argument("--hosts", type=count(0), default=4, help="per leaf, default %(default)s")
    shape.add_argument("--links", type=count(1), default=1,
                       help="between each leaf and spine, default %(default)s")
    shape.set_defaults(build=tree2)

    shape = shapes.add_parser("tree3", parents=[common], help="a three-level tree")
    shape.add_argument("--radix", type=count(4), default=4,
                       help="K, even: ports a switch uses, default %(default)s")
    shape.add_argument("--pods", type=count(1), default=None, help="default: K")
    shape.add_argument("--hosts", type=count(0), default=None, help="per leaf, default K/2")
    shape.set_defaults(build=tree3)

    shape = shapes.add_parser("ring", parents=[common], help="switches in a circle")
    shape.add_argument("--switches", type=count(3), default=6, help="default %(default)s")
    shape.add_argument("--hosts", type=count(0), default=1, help="per switch, default %(default)s")
    shape.add_argument("--links", type=count(1), default=1,
                       help="between neighbours, default %(default)s")
    shape.set_defaults(build=ring)

    shape = shapes.add_parser("torus", parents=[common], help="a two-dimensional torus")
    shape.add_argument("--size", type=size, default=(4, 4), metavar="XxY", help="default 4x4")
    shape.add_argument("--hosts", type=count(0), default=1, help="per switch, default %(default)s")
    shape.add_argument("--links", type=count(1), default=1,
                       help="between neighbours, default %(default)s")
    shape.set_defaults(build=torus)

    args = parser.parse_args(argv)
    args.host_link = args.host_link or args.link
    if args.shape == "tree3":
        if args.radix % 2:
            parser.error("--radix must be even")
        if args.pods and args.pods > args.radix:
            parser.error(f"--pods is more than the {args.radix} ports of a core switch")
        if args.hosts is not None and args.hosts > args.radix // 2:
            parser.error(f"--hosts is more than the {args.radix // 2} down ports of a leaf")
    return parser, args


def expected_size(args):
    """(nodes, ports of the largest switch), known before anything is built."""
    if args.shape == "tree2":
        return (args.leaves * (1 + args.hosts) + args.spines,
                max(args.hosts + args.spines * args.links, args.leaves * args.links))
    if args.shape == "tree3":
        half = args.radix // 2
        pods = args.pods or args.radix
        hosts = half if args.hosts is None else args.hosts
        return pods * half * (2 + hosts) + half * half, args.radix
    if args.shape == "ring":
        return args.switches * (1 + args.hosts), args.hosts + 2 * args.links
    return args.size[0] * args.size[1] * (1 + args.hosts), args.hosts + 4 * args.links


def main(argv=None):
    parser, args = parse_args(argv)
    nodes, ports = expected_size(args)
    if nodes > MAX_NODES:
        parser.error(f"{nodes} nodes are more than {MAX_NODES}: a subnet has no LIDs for them")
    if ports > MAX_PORTS:
        parser.error(f"a switch would have {ports} ports: more than {MAX_PORTS}")
    if args.switch_ports and not ports <= args.switch_ports <= MAX_PORTS:
        parser.error(f"--switch-ports must be between the {ports} that are cabled and {MAX_PORTS}")

    fabric = Fabric(args.prefix)
    args.build(fabric, args)
    if args.lids:
        fabric.number_lids()

    comment = (f"generated by netgen.py: {args.shape}, {len(fabric.switches)} switches,"
               f" {len(fabric.hosts)} hosts")
    try:
        if args.output:
            with open(args.output, "w", encoding="utf-8") as out:
                fabric.write(out, comment, args.switch_ports)
        else:
            fabric.write(sys.stdout, comment, args.switch_ports)
            sys.stdout.flush()
    except OSError as error:
        parser.exit(1, f"{parser.prog}: {args.output or 'standard output'}: {error.strerror}\n")


if __name__ == "__main__":
    main()
