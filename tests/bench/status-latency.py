#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Asks ibsmd for its status again and again, until told to stop, and says how long it took.

usage: status-latency.py SOCKET   (ends at SIGTERM)

One connection, one call at a time, 1 ms between calls. Prints, as shell assignments, the number of
calls and the median, 99th percentile and maximum in microseconds; LATENCY_GENERATIONS is how many
snapshots arrived meanwhile.
"""
import json
import signal
import socket
import sys
import time


def main():
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(sys.argv[1])
    call = json.dumps({'method': 'io.ibsm.Monitor.GetStatus'}).encode() + b'\0'
    took, generations = [], set()
    while not stop:
        begin = time.monotonic()
        peer.sendall(call)
        reply = b''
        while not reply.endswith(b'\0'):
            part = peer.recv(1 << 16)
            if not part:
                sys.exit('ibsmd closed the connection')
            reply += part
        took.append(time.monotonic() - begin)
        generations.add(json.loads(reply[:-1])['parameters']['fabric'].get('generation'))
        time.sleep(0.001)
    took.sort()
    print(f'LATENCY_CALLS={len(took)}')
    for name, share in (('MEDIAN', 0.5), ('P99', 0.99), ('MAX', 1)):
        print(f'LATENCY_{name}={round(took[min(len(took) - 1, int(share * len(took)))] * 1e6)}')
    print(f'LATENCY_GENERATIONS={len(generations)}')


main()
