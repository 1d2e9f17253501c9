#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares what ibsmctl says of a simulated fabric with what infiniband-diags find in it.

usage: agree.py PAIRS SEED -- IBSMCTL…

Counts (switches, CAs, routers, cables) are held against ibnetdiscover, the ways between PAIRS
random pairs of LIDs against ibtracert, hop by hop. The diagnostics run in this process's
environment, which has to preload umad2sim. Exit status: 0 they agree, 1 they do not.
"""
import json
import os
import random
import re
import subprocess
import sys

PORT_LINE = re.compile(r'^\[(\d+)\](?:\([0-9a-f]+\))?\s+"([SHR]-[0-9a-f]+)"\[(\d+)\]')
NODE_LINE = re.compile(r'^(Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-f]+)"')
FROM_LINE = re.compile(r'^From (?:ca|switch|router) \{.*\} portnum \d+ lid (\d+)-(\d+) ')
HOP_LINE = re.compile(r'^\[(\d+)\] -> (?:ca|switch|router) port \{.*\}\[(\d+)\] lid (\d+)-(\d+) ')


def count_by_ibnetdiscover():
    text = subprocess.run(['ibnetdiscover'], check=True, capture_output=True, text=True,
                          errors='replace').stdout
    kinds = {'Switch': 0, 'Ca': 0, 'Rt': 0}
    cables, node = set(), None
    for line in text.splitlines():
        if match := NODE_LINE.match(line):
            kinds[match[1]] += 1
            node = match[2]
        elif match := PORT_LINE.match(line):
            cables.add(frozenset(((node, int(match[1])), (match[2], int(match[3])))))
    return {'switches': kinds['Switch'], 'cas': kinds['Ca'], 'routers': kinds['Rt'],
            'links': len(cables)}


def way_by_ibtracert(source, destination):
    """List of (base LID, in-port, out-port) a node, or None when it does not arrive."""
    run = subprocess.run(['ibtracert', str(source), str(destination)], capture_output=True,
                         text=True, errors='replace', check=False)
    way = []
    for line in run.stdout.splitlines():
        if match := FROM_LINE.match(line):
            way.append([int(match[1]), None, None])
        elif match := HOP_LINE.match(line):
            way[-1][2] = int(match[1])
            way.append([int(match[3]), int(match[2]), None])
    return way if run.returncode == 0 else None


class Ibsmctl:
    def __init__(self, command):
        self.command = command

    def ask(self, *words):
        # Without the preloaded library: ibsmctl talks to ibsmd alone.
        environment = {k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'}
        run = subprocess.run([*self.command, '--json=short', *words], env=environment, check=False,
                             capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f'ibsmctl {" ".join(words)}: status {run.returncode}: {run.stderr.strip()}')
        return json.loads(run.stdout)

    def way(self, source, destination):
        answer = self.ask('route', str(source), str(destination))
        if answer['result'] != 'delivered':
            return None
        return [[hop.get('lid'), hop.get('in_port'), hop.get('out_port')]
                for hop in answer['hops']]


def main():
    pairs, seed = int(sys.argv[1]), int(sys.argv[2])
    ctl = Ibsmctl(sys.argv[sys.argv.index('--') + 1:])
    wrong = 0

    theirs = count_by_ibnetdiscover()
    fabric = ctl.ask('status')['fabric']
    ours = {key: fabric[key] for key in theirs}
    print(f'ibnetdiscover counts {theirs}')
    if ours != theirs:
        print(f'ibsmctl counts       {ours}')
        wrong += 1
    nodes = ctl.ask('nodes')['nodes']
    if len(nodes) != theirs['switches'] + theirs['cas'] + theirs['routers']:
        print(f'ibsmctl nodes lists {len(nodes)} nodes')
        wrong += 1
    links = ctl.ask('links')['links']
    if len(links) != theirs['links']:
        print(f'ibsmctl links lists {len(links)} links')
        wrong += 1

    lids = sorted({lid for node in nodes for lid in node['lids']})
    chance = random.Random(seed)
    delivered = 0
    for _ in range(pairs):
        source, destination = chance.sample(lids, 2)
        theirs, ours = way_by_ibtracert(source, destination), ctl.way(source, destination)
        delivered += theirs is not None
        if theirs != ours:
            print(f'{source} -> {destination}: ibtracert {theirs}, ibsmctl {ours}')
            wrong += 1
    print(f'{pairs} pairs, {delivered} delivered, {wrong} disagreements (seed {seed})')
    sys.exit(wrong > 0)


main()
