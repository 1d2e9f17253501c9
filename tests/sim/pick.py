#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Chooses from a fabric, read as ibsmctl's JSON list of links on standard input.

  pick.py pair                 two adapters as far apart as any: GUID GUID
  pick.py cable KEEP-GUID      a cable whose loss leaves the node KEEP-GUID in touch with the rest:
                               GUID PORT GUID PORT NAME NAME, with tabs between them. One between
                               two switches that no node depends on, else an adapter's.
"""

import json
import sys


def neighbours(links):
    graph = {}
    for link in links:
        a, b = link["a"]["guid"], link["b"]["guid"]
        graph.setdefault(a, set()).add(b)
        graph.setdefault(b, set()).add(a)
    return graph


def distances(graph, start):
    """Hops from start to all that can be reached, nearest first."""
    reached = {start: 0}
    queue = [start]
    for node in queue:
        for peer in sorted(graph.get(node, ())):
            if peer not in reached:
                reached[peer] = reached[node] + 1
                queue.append(peer)
    return reached


def farthest(graph, start, adapters):
    reached = distances(graph, start)
    there = [guid for guid in reached if guid in adapters and guid != start]
    return max(there, key=lambda guid: reached[guid], default=None)


def pick_pair(links):
    graph = neighbours(links)
    adapters = {end["guid"] for link in links for end in (link["a"], link["b"])
                if end["type"] == "ca"}
    for start in sorted(adapters):
        one = farthest(graph, start, adapters)
        if one:
            return one, farthest(graph, one, adapters)
    return None


def pick_cable(links, keep):
    here = distances(neighbours(links), keep)
    spare = None
    for number, link in enumerate(links):
        a, b = link["a"], link["b"]
        if a["guid"] not in here or a["guid"] == b["guid"]:
            continue
        found = a["guid"], a["port"], b["guid"], b["port"], a["name"], b["name"]
        if a["type"] == b["type"] == "switch":
            rest = neighbours(links[:number] + links[number + 1:])
            if len(distances(rest, keep)) == len(here):
                return found
        elif keep not in (a["guid"], b["guid"]):
            spare = spare or found
    return spare


def main():
    links = json.load(sys.stdin)["links"]
    if sys.argv[1:] == ["pair"]:
        found = pick_pair(links)
    elif len(sys.argv) == 3 and sys.argv[1] == "cable":
        found = pick_cable(links, sys.argv[2])
    else:
        sys.exit(__doc__)
    if not found:
        sys.exit(1)
    print(*found, sep="\t")


if __name__ == "__main__":
    main()
