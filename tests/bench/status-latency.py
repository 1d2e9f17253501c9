#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Asks ibsmd for its status again and again, until told to stop, and says how long it took.

usage: status-latency.py SOCKET   (ends at SIGTERM)

One connection, one call at a time, 5 ms between calls. Prints, as shell assignments, the number of
calls and the median, 99th percentile and maximum in microseconds: LATENCY_… of all, ARRIVING_… of
those in the ARRIVING_SECONDS up to the first answer that told of another snapshot: while it was
read, indexed, compared and adopted. ARRIVING_SNAPSHOTS is how many snapshots those were.
"""
import json
import signal
import socket
import sys
import time

ARRIVING_SECONDS = 1.0


def report(name, took):
    took = sorted(took) or [0]
    print(f'{name}_CALLS={len(took)}')
    for word, share in (('MEDIAN', 0.5), ('P99', 0.99), ('MAX', 1)):
        print(f'{name}_{word}={round(took[min(len(took) - 1, int(share * len(took)))] * 1e6)}')


def main():
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(sys.argv[1])
    call = json.dumps({'method': 'io.ibsm.Monitor.GetStatus'}).encode() + b'\0'
    calls, arrivals, generation = [], [], None
    while not stop:
        begin = time.monotonic()
        peer.sendall(call)
        reply = b''
        while not reply.endswith(b'\0'):
            part = peer.recv(1 << 16)
            if not part:
                sys.exit('ibsmd closed the connection')
            reply += part
        end = time.monotonic()
        calls.append((end, end - begin))
        now = json.loads(reply[:-1])['parameters']['fabric'].get('generation')
        if now != generation:
            generation = now
            if now is not None:
                arrivals.append(end)
        time.sleep(0.005)
    report('LATENCY', [took for _, took in calls])
    report('ARRIVING', [took for end, took in calls
                        if any(a - ARRIVING_SECONDS <= end <= a for a in arrivals)])
    print(f'ARRIVING_SNAPSHOTS={len(arrivals)}')


main()
