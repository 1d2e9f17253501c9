#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Speaks include/ibsm/probe.h to an ibsm-probe, from what the header says and no code of ours.

As a program it starts the command that its arguments give with a socket, reads orders from stdin,
one a line, and prints each reply as one line of NAME=VALUE fields with tabs between:

    ping | ports | port [CA/N|0xGUID] | local | sm_info LID | node_info LID | node_desc LID |
    port_info LID PORT | counters LID PORT | counters_ext LID PORT
"""

import socket
import struct
import subprocess
import sys

MAGIC = 0x50534249
VERSION = 1
REPLY = 0x8000
TYPES = {"ping": 1, "ports": 2, "port": 3, "local": 16, "sm_info": 17, "node_info": 18,
         "node_desc": 19, "port_info": 20, "counters": 32, "counters_ext": 33}
STATUS = ["ok", "timeout", "send_error", "receive_error", "mad_status", "bad_answer", "busy",
          "bad_order", "no_device", "no_port", "not_infiniband", "open_error", "port_lost"]
HEADER = "<IHHIIQ"
RESULT = "<HHHHB3xIII"
HEAD = struct.calcsize(HEADER) + struct.calcsize(RESULT)

PORT = "<QQQ24sIIHH8B4x"
PORT_NAMES = ("port_guid gid_prefix node_guid ca_name capability_mask rate_gbps lid sm_lid port "
              "state physical_state link_layer node_type lmc sm_sl chosen")
PORT_INFO = ("<QIHH20BHHHBB4x",
             "gid_prefix capability_mask lid sm_lid state physical_state lmc sm_sl source "
             "local_port width_active width_enabled width_supported speed_active speed_enabled "
             "speed_supported speed_ext_active speed_ext_enabled speed_ext_supported mtu_active "
             "mtu_supported vl_supported vl_operational subnet_timeout m_key_violations "
             "p_key_violations q_key_violations local_phy_errors overrun_errors")
BODIES = {
    "ping": ("<9Q6I32s", "orders bad_orders sent answered timeouts errors busy late ports_lost pid "
                         "outstanding outstanding_max mads_per_sec timeout_msec reserved version"),
    "port": (PORT + "B3xI", PORT_NAMES + " found outstanding_max"),
    "local": PORT_INFO,
    "port_info": PORT_INFO,
    "sm_info": ("<QIBB2x", "guid act_count priority state"),
    "node_info": ("<QQQIIHH5B7x", "system_image_guid node_guid port_guid revision vendor_id "
                                  "partition_cap device_id base_version class_version node_type "
                                  "ports local_port"),
    "node_desc": ("<64s", "description"),
    "counters": ("<18I", "symbol_errors link_recovers link_downed receive_errors "
                         "receive_remote_physical_errors receive_switch_relay_errors "
                         "transmit_discards transmit_constraint_errors receive_constraint_errors "
                         "local_link_integrity_errors excessive_buffer_overruns vl15_dropped "
                         "transmit_data receive_data transmit_packets receive_packets "
                         "transmit_wait port"),
    "counters_ext": ("<9Q", "transmit_data receive_data transmit_packets receive_packets "
                            "unicast_transmit_packets unicast_receive_packets "
                            "multicast_transmit_packets multicast_receive_packets port"),
}


def order(name, number, lid=0, port=0, choice=0, ca_name="", guid=0, timeout=0):
    """The bytes of an order."""
    return struct.pack(HEADER + "Q24sHBBI", MAGIC, VERSION, TYPES[name], 64, 0, number, guid,
                       ca_name.encode(), lid, port, choice, timeout)


def port_order(number, wish=""):
    if wish.startswith("0x"):
        return order("port", number, choice=2, guid=int(wish, 16))
    if wish and wish != "auto":
        name, port = wish.rsplit("/", 1)
        return order("port", number, choice=1, ca_name=name, port=int(port))
    return order("port", number)


def unpack(layout, names, data):
    fields = dict(zip(names.split(), struct.unpack(layout, data)))
    for name, value in fields.items():
        if isinstance(value, bytes):
            fields[name] = value.rstrip(b"\0").decode("latin-1")
    return fields


def reply(data):
    """A reply as a dictionary; raises ValueError where it is none."""
    if len(data) < HEAD:
        raise ValueError(f"{len(data)} bytes are too few")
    magic, version, kind, length, reserved, number = struct.unpack_from(HEADER, data)
    if (magic, version, length, reserved) != (MAGIC, VERSION, len(data), 0) or not kind & REPLY:
        raise ValueError(f"bad header: {data[:24].hex()}")
    names = [name for name, value in TYPES.items() if value == kind & ~REPLY]
    result = unpack(RESULT, "status detail mad_status lid port error round_trip_usec reserved",
                    data[24:HEAD])
    answer = {"type": names[0] if names else "none", "number": number,
              "status": STATUS[result["status"]], "result": result}
    body = data[HEAD:]
    if answer["type"] == "ports":
        count, total = struct.unpack_from("<II", body)
        size = struct.calcsize(PORT)
        answer["total"] = total
        answer["ports"] = [unpack(PORT, PORT_NAMES, body[8 + i * size:8 + (i + 1) * size])
                           for i in range(count)]
    elif names:
        answer.update(unpack(*BODIES[answer["type"]], body))
    return answer


class Probe:
    """An ibsm-probe of one's own."""

    def __init__(self, command, **popen):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = subprocess.Popen(
            [*command, f"--socket-fd={theirs.fileno()}"], pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, **popen)
        theirs.close()
        self.socket.settimeout(60)
        self.number = 0

    def ask(self, name, *words):
        self.number += 1
        if name == "port":
            self.socket.send(port_order(self.number, *words))
        else:
            numbers = [int(word, 0) for word in words] + [0, 0]
            self.socket.send(order(name, self.number, lid=numbers[0], port=numbers[1]))
        answer = reply(self.socket.recv(16384))
        if answer["number"] != self.number or answer["type"] != name:
            raise ValueError(f"not the answer to order {self.number}: {answer}")
        return answer

    def close(self):
        """Its exit status, once it saw that nobody orders any more."""
        self.socket.close()
        return self.process.wait(timeout=60)


def flat(answer):
    """One level deep; the result's fields have its name before theirs, ports their row."""
    for name, value in answer.items():
        if isinstance(value, list):
            for row, port in enumerate(value):
                yield from ((f"{row}.{key}", field) for key, field in port.items())
        elif name == "result":
            yield from ((f"result.{key}", field) for key, field in value.items())
        else:
            yield name, value


def main():
    probe = Probe(sys.argv[1:])
    for line in sys.stdin:
        answer = probe.ask(*line.split())
        print("\t".join(f"{name}={value}" for name, value in flat(answer)), flush=True)
    sys.exit(probe.close())


if __name__ == "__main__":
    main()
