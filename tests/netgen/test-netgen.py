#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""netgen.py: every shape has the nodes and cables it should, and wrong arguments one line."""

import os
import re
import subprocess
import sys
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "netgen.py")


def run(*args):
    return subprocess.run([sys.executable, TOOL, *args], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def parse(text):
    """{node id: (keyword, ports, {port: (peer, peer port)})} of a net file."""
    nodes = {}
    for line in text.splitlines():
        if match := re.match(r'(Switch|Ca)\t(\d+) "([^"]+)"', line):
            nodes[match[3]] = (match[1], int(match[2]), {})
            ports = nodes[match[3]][2]
        elif match := re.match(r'\[(\d+)\](?:\([0-9a-f]+\))? ?\t"([^"]+)"\[(\d+)\]', line):
            ports[int(match[1])] = (match[2], int(match[3]))
    return nodes


class NetGen(unittest.TestCase):
    """Counts follow from the shape's arguments; every cable has two ends that agree."""

    def check_shape(self, switches, hosts, links, *args):
        result = run(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        nodes = parse(result.stdout)
        kinds = [keyword for keyword, _, _ in nodes.values()]
        self.assertEqual((kinds.count("Switch"), kinds.count("Ca")), (switches, hosts))
        self.assertEqual(sum(len(ports) for _, _, ports in nodes.values()), 2 * links)
        for node_id, (_, size, ports) in nodes.items():
            for port, (peer, peer_port) in ports.items():
                self.assertLessEqual(port, size)
                self.assertEqual(nodes[peer][2][peer_port], (node_id, port))
        return nodes

    def test_shapes(self):
        self.check_shape(6, 16, 16 + 8, "tree2")
        self.check_shape(4 + 3, 8, 8 + 4 * 3 * 2, "tree2", "--leaves=4", "--spines=3",
                         "--hosts=2", "--links=2")
        self.check_shape(20, 16, 16 * 3, "tree3")
        self.check_shape(80, 128, 128 * 3, "tree3", "--radix", "8")
        self.check_shape(2 * 8 + 16, 2 * 4 * 1, 8 + 2 * 32, "tree3", "--radix", "8", "--pods", "2",
                         "--hosts", "1")
        self.check_shape(6, 6, 12, "ring")
        self.check_shape(3, 0, 6, "ring", "--switches", "3", "--hosts", "0", "--links", "2")
        self.check_shape(12, 12, 12 + 24, "torus", "--size", "3x4")

    def test_full_tree3_is_non_blocking(self):
        nodes = self.check_shape(80, 128, 384, "tree3", "--radix", "8")
        for keyword, size, ports in nodes.values():
            if keyword == "Switch":
                self.assertEqual((size, len(ports)), (8, 8))

    def test_link_types_lids_prefix_and_size(self):
        text = run("tree2", "--link", "4xHDR", "--host-link", "2xHDR", "--lids", "--prefix", "x-",
                   "--switch-ports", "40").stdout
        self.assertEqual(len(re.findall(r"^\[\d+\].*4xHDR$", text, re.M)), 16)
        self.assertEqual(len(re.findall(r"^\[\d+\].*2xHDR$", text, re.M)), 32)
        self.assertIn('# "x-leaf01" enhanced port 0 lid 1 lmc 0', text)
        self.assertIn('Switch\t40 ', text)
        lids = re.findall(r"^Switch.* lid (\d+) |^\[1\]\([0-9a-f]+\).*# lid (\d+) ", text, re.M)
        self.assertEqual(sorted(int(a or b) for a, b in lids), list(range(1, 23)))

    def test_same_arguments_same_file(self):
        self.assertEqual(run("torus").stdout, run("torus").stdout)

    def test_wrong_arguments(self):
        for args, reason in (
                ([], "SHAPE"),
                (["star"], "invalid choice"),
                (["tree2", "--leaves", "0"], "at least 1"),
                (["tree2", "--leaves", "x"], "at least 1"),
                (["tree2", "--leaves", "300"], "more than 254"),
                (["tree2", "--link", "4xABC"], "such as 4xEDR"),
                (["tree2", "--switch-ports", "5"], "between the 6"),
                (["tree2", "--prefix", 'a"b'], "quote"),
                (["tree3", "--radix", "5"], "even"),
                (["tree3", "--radix", "4", "--pods", "5"], "--pods"),
                (["tree3", "--radix", "4", "--hosts", "3"], "--hosts"),
                (["tree3", "--radix", "64"], "no LIDs"),
                (["ring", "--switches", "2"], "at least 3"),
                (["torus", "--size", "2x9"], "XxY"),
                (["tree2", "-o", "/nonexistent/file"], "No such file")):
            result = run(*args)
            self.assertNotEqual(result.returncode, 0, args)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(reason, result.stderr)


if __name__ == "__main__":
    unittest.main()
