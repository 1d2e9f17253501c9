#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""netfile.py: what it makes of good, odd, cut and hostile ibnetdiscover files."""

import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "netfile.py")

GOOD = """\
#
# Topology file: generated on Mon Jul 25 11:30:26 2016
#
# Initiated from node 0002c90300000010 port 0002c90300000011

vendid=0x2c9
devid=0xcb20
sysimgguid=0x2c90200000000
switchguid=0x2c90200000000(2c90200000000)
Switch\t36 "S-0002c90200000000"\t\t# "leaf # 1" enhanced port 0 lid 7 lmc 1
[1]\t"H-0002c90300000010"[1](2c90300000011) \t\t# "one HCA-1" lid 1 4xEDR
[2]\t"H-0002c90300000020"[2](2c90300000022) \t\t# "two HCA-1" lid 2 4xEDR
[5]\t"S-0002c90200000000"[6] \t\t# "leaf # 1" lid 7 4xEDR
[6]\t"S-0002c90200000000"[5] \t\t# "leaf # 1" lid 7 4xEDR

vendid=0x2c9
devid=0x1017
sysimgguid=0x2c90300000010
caguid=0x2c90300000020
Ca\t2 "H-0002c90300000020"\t\t# "two HCA-1"
[2](2c90300000022) \t"S-0002c90200000000"[2]\t\t# lid 2 lmc 1 "leaf # 1" lid 7 4xEDR

caguid=0x2c90300000010
Ca\t1 "H-0002c90300000010"\t\t# "one HCA-1"
[1](2c90300000011) \t"S-0002c90200000000"[1]\t\t# lid 1 lmc 1 "leaf # 1" lid 7 4xEDR
"""


class NetFile(unittest.TestCase):
    """Each test gives it one text and looks at copy, facts and notes."""

    def run_tool(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        with tempfile.TemporaryDirectory() as folder:
            source, copy = os.path.join(folder, "in.txt"), os.path.join(folder, "out.net")
            with open(source, "wb") as file:
                file.write(data)
            result = subprocess.run([sys.executable, TOOL, source, copy], check=False,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.notes = result.stderr.decode()
            self.facts = dict(line.split("=", 1) for line in result.stdout.decode().splitlines())
            self.copy = ""
            if result.returncode == 0:
                with open(copy, encoding="latin-1") as file:
                    self.copy = file.read()
            return result.returncode

    def accept(self, text):
        self.assertEqual(self.run_tool(text), 0, self.notes)

    def refuse(self, text, reason):
        self.assertEqual(self.run_tool(text), 1)
        self.assertEqual(self.notes.count("\n"), 1, self.notes)
        self.assertIn(reason, self.notes)

    def counts(self):
        return tuple(int(self.facts[f"NET_{name}"])
                     for name in ("SWITCHES", "CAS", "ROUTERS", "LINKS"))

    def test_good(self):
        self.accept(GOOD)
        self.assertEqual(self.notes, "")
        self.assertEqual(self.counts(), (1, 2, 0, 3))
        self.assertIn('Switch\t36 "S-0002c90200000000"\t# "leaf # 1" enhanced port 0 lid 7 lmc 1',
                      self.copy)
        self.assertIn('[2]\t"S-0002c90200000000"[2]\t# lid 2 lmc 1 "" lid 0 4xEDR', self.copy)
        self.assertIn("caguid=0x0002c90300000020", self.copy)
        self.assertEqual(self.facts["NET_IBSIM_ARGS"], "'-S 1 -N 3 -P 42 -L 1024'")

    def test_sm_goes_to_a_host_whose_first_port_is_cabled(self):
        self.accept(GOOD)
        self.assertEqual(self.facts["NET_SIM_HOST"], "H-0002c90300000010")
        self.assertNotIn("H-0002c90300000010", self.facts["NET_SPARE_HOSTS"])

    def test_sm_goes_to_the_host_that_the_file_was_written_on(self):
        both = GOOD.replace('"H-0002c90300000020"[2](2c90300000022)', '"H-0002c90300000020"[1]')
        both = both.replace("[2](2c90300000022)", "[1](2c90300000021)")
        self.accept(both.replace("# Initiated", "#"))
        self.assertEqual(self.facts["NET_SIM_HOST"], "H-0002c90300000020")
        self.accept(both)
        self.assertEqual(self.facts["NET_SIM_HOST"], "H-0002c90300000010")

    def test_sm_goes_to_a_switch_where_no_host_will_do(self):
        self.accept(GOOD[:GOOD.index("caguid=0x2c90300000010\n")])
        self.assertEqual(self.facts["NET_SIM_HOST"], "S-0002c90200000000")

    def test_sm_goes_to_the_largest_island(self):
        island = ('Ca 1 "H-1"\n[1] "H-2"[1]\n\nCa 1 "H-2"\n[1] "H-1"[1]\n\n')
        self.accept(island + GOOD)
        self.assertEqual(self.facts["NET_SIM_HOST"], "H-0002c90300000010")

    def test_terminal_capture(self):
        """CRLF, tabs lost, a banner above and a prompt below."""
        capture = "Last login: Tue\n[admin@sm ~]$ ibnetdiscover\n"
        capture += GOOD.replace("\t", "") + "[admin@sm ~]$\n"
        self.accept(capture.replace("\n", "\r\n"))
        self.assertEqual(self.counts(), (1, 2, 0, 3))
        self.assertIn("not ibnetdiscover's (3, first: Last login", self.notes)

    def test_nothing_is_executed(self):
        self.accept('do Quit\ndo!/etc/passwd\ninclude "/etc/passwd"\n' + GOOD)
        self.assertIn("would have executed (3,", self.notes)
        self.assertNotIn("passwd", self.copy)
        self.assertNotIn("Quit", self.copy)

    def test_hostile_descriptions_stay_descriptions(self):
        evil = GOOD.replace("two HCA-1", 'a" lid 3 w=1 s=9\x1b[31m"b' + "x" * 300)
        self.accept(evil)
        self.assertEqual(self.counts(), (1, 2, 0, 3))
        self.assertLess(max(map(len, self.copy.splitlines())), 200)
        for line in self.copy.splitlines():
            if line.startswith("["):
                self.assertNotIn("s=9", line)
        self.assertNotIn("\x1b", self.notes)

    def test_cut_file(self):
        self.accept(GOOD[:GOOD.index('[2](2c90300000022) \t"S-')] + "[2](2c903000000")
        self.assertIn("completing cables", self.notes)
        self.assertIn("to a node that the file does not hold (1,", self.notes)
        self.assertEqual(self.counts(), (1, 1, 0, 2))

    def test_lids_that_no_port_can_have(self):
        self.accept(GOOD.replace("# lid 1 lmc", "# lid 65535 lmc"))
        self.assertNotIn("65535", self.copy)

    def test_high_lids_raise_the_linear_cap(self):
        self.accept(GOOD.replace("# lid 1 lmc", "# lid 40000 lmc"))
        self.assertIn("-L 40960", self.facts["NET_IBSIM_ARGS"])

    def test_speeds_that_ibsim_does_not_know(self):
        self.accept(GOOD.replace("4xEDR", "4xNDR"))
        self.assertIn("4xHDR", self.copy)
        self.assertIn("showing as HDR", self.notes)
        self.accept(GOOD.replace("4xEDR", "4x ???"))
        self.assertNotIn("??", self.copy)

    def test_widths_with_nothing_in_common(self):
        one_end = GOOD.replace('(2c90300000011) \t\t# "one HCA-1" lid 1 4xEDR',
                               '(2c90300000011) \t\t# "one HCA-1" lid 1 2xHDR')
        self.accept(one_end)
        self.assertIn("no width in common", self.notes)
        self.assertEqual(self.copy.count("2xHDR"), 2)

    def test_router(self):
        router = ('Rt 1 "R-0002c90400000000" # "router"\n'
                  '[1] "S-0002c90200000000"[9] # lid 9 lmc 0 "leaf # 1" lid 7 1xSDR\n\n')
        self.accept(router + GOOD.replace('[5]\t"S-', '[9]\t"R-0002c90400000000"[1] '
                                          '# "router" lid 9 1xSDR\n[5]\t"S-'))
        self.assertEqual(self.counts(), (1, 2, 1, 4))
        self.assertNotIn("1xSDR", self.copy)

    def test_contradictions(self):
        self.accept(GOOD.replace('[5]\t"S-0002c90200000000"[6]', '[5]\t"S-0002c90200000000"[1]'))
        self.assertIn("two ends say different things", self.notes)
        self.accept(GOOD.replace('[5]\t"S-0002c90200000000"[6]', '[5]\t"S-0002c90200000000"[5]'))
        self.assertIn("from a port to itself", self.notes)
        self.accept(GOOD.replace('[5]\t"S-0002c90200000000"[6]', '[37]\t"S-0002c90200000000"[6]'))
        self.assertIn("a port that the node does not have", self.notes)
        self.accept(GOOD + GOOD)
        self.assertIn("holds twice", self.notes)

    def test_names_instead_of_guids(self):
        self.accept('Switch 8 "Sw1" # "a"\n[1] "Host1"[1]\n\nCa 2 "Host1"\n[1] "Sw1"[1]\n')
        self.assertEqual(self.counts(), (1, 1, 0, 1))
        self.assertRegex(self.facts["NET_SIM_HOST"], "^H-[0-9a-f]{16}$")

    def test_port_guids_are_told_apart(self):
        """ibsim numbers a CA's ports upwards from its GUID: neighbours may collide."""
        self.accept(GOOD.replace("0002c90300000010", "0002c90300000021")
                    .replace("caguid=0x2c90300000010", "caguid=0x2c90300000021"))
        self.assertIn("giving new GUIDs", self.notes)
        guids = [line for line in self.copy.splitlines() if line.startswith("caguid")]
        self.assertEqual(len(set(guids)), 2)

    def test_refusals(self):
        self.refuse("", "not what ibnetdiscover prints")
        self.refuse("hello\nworld\n", "not what ibnetdiscover prints")
        self.refuse('CA    17  1 0x003048ffffcb28f1 4x DDR - SW     1  3 0x000b8cffff004939\n',
                    "ibnetdiscover -p")
        self.refuse(b"\x7fELF\0\0", "not a text file")
        self.refuse('Ca 1 "H-1" # "alone"\n', "nowhere to put an SM")
        self.refuse('Switch 0 "S-1"\n', "not between 1 and 254")
        self.refuse('switchguid=0x5\nSwitch 1 "S-5"\n\nswitchguid=0x5\nSwitch 1 "S-6"\n',
                    "has the GUID of another node")

    def test_folder_and_missing_file(self):
        for path, reason in (("/", "a directory"), ("/nonexistent", "No such file")):
            result = subprocess.run([sys.executable, TOOL, path, "/dev/null"], check=False,
                                    stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 1)
            self.assertIn(reason, result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
