#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ibsm-probe as a program: options, sockets, activation, how it ends, what it gives up."""

import os
import signal
import socket
import subprocess
import tempfile
import unittest

import probe_orders

PROGRAM = os.path.join(os.environ.get("IBSM_BUILDDIR", "."), "ibsm-probe")
HAS_DEVICE = os.path.exists("/sys/class/infiniband_mad")
SANITIZED = bool(os.environ.get("IBSM_SANITIZERS"))


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60,
                          check=False, **{"stdin": subprocess.DEVNULL, **options})


class Options(unittest.TestCase):
    def test_mistakes_exit_2(self):
        for arguments in (["--nonsense"], ["word"], ["--port=mlx5_0"], ["--port=0x"],
                          ["--timeout=0"], ["--timeout=99999"], ["--timeout=1s"], ["--rate=0"],
                          ["--sminfo=0"], ["--sminfo=0xc000"], ["--sminfo=x"], ["--sminfo=-1"],
                          ["--socket-fd=-1"], ["--socket-fd="]):
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2)
                self.assertNotEqual(result.stderr, "")
                self.assertEqual(result.stdout, "")

    def test_help_and_version(self):
        self.assertIn("--sminfo", run("--help").stdout)
        self.assertRegex(run("--version").stdout, r"^ibsm-probe \d+\.\d+")
        self.assertEqual(run("--help").returncode, 0)

    def test_no_socket(self):
        result = run()
        self.assertEqual(result.returncode, 2)
        self.assertIn("SOCK_SEQPACKET", result.stderr)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with ours, theirs:
            self.assertEqual(run(stdin=theirs).returncode, 2)

    @unittest.skipIf(HAS_DEVICE, "this host has MAD devices")
    def test_no_device(self):
        for arguments in (["--sminfo"], ["--sminfo=1", "--json"], ["--ports"],
                          ["--ports", "--json"], ["--sminfo", "--port=mlx5_0/1"]):
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, "")
                # One line, and nothing of libibumad's.
                self.assertRegex(result.stderr, r"^ibsm-probe: .*: no MAD device\n$")


class Serving(unittest.TestCase):
    def test_ends_when_the_socket_closes(self):
        probe = probe_orders.Probe([PROGRAM])
        self.assertEqual(probe.ask("ping")["pid"], probe.process.pid)
        self.assertEqual(probe.close(), 0)

    def test_ends_on_sigterm(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            probe = probe_orders.Probe([PROGRAM])
            probe.ask("ping")
            probe.process.send_signal(number)
            self.assertEqual(probe.close(), 0)

    def test_stdin_is_a_socket(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with subprocess.Popen([PROGRAM], stdin=theirs) as process:
            theirs.close()
            ours.send(probe_orders.order("ping", 42))
            self.assertEqual(probe_orders.reply(ours.recv(16384))["number"], 42)
            ours.close()
            self.assertEqual(process.wait(timeout=60), 0)

    def test_options_reach_it(self):
        probe = probe_orders.Probe([PROGRAM, "--timeout=1234", "--rate=56"])
        answer = probe.ask("ping")
        self.assertEqual((answer["timeout_msec"], answer["mads_per_sec"]), (1234, 56))
        self.assertEqual(probe.close(), 0)

    @unittest.skipIf(HAS_DEVICE, "this host has MAD devices")
    def test_no_device_is_told_each_time_and_it_lives_on(self):
        probe = probe_orders.Probe([PROGRAM], stderr=subprocess.PIPE)
        for name, *words in (["port"], ["ports"], ["local"], ["sm_info", "1"], ["port", "mlx5_0/1"],
                             ["counters", "1", "1"]):
            self.assertEqual(probe.ask(name, *words)["status"], "no_device")
        self.assertEqual(probe.close(), 0)
        self.assertEqual(probe.process.stderr.read(), b"")
        probe.process.stderr.close()

    def test_descriptors_and_rights(self):
        with open(os.devnull, "rb") as inherited:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with subprocess.Popen([PROGRAM, f"--socket-fd={theirs.fileno()}"],
                                  pass_fds=[theirs.fileno(), inherited.fileno()]) as process:
                ours.send(probe_orders.order("ping", 1))
                ours.recv(16384)
                if os.geteuid() == 0:
                    self.assertEqual(sorted(map(int, os.listdir(f"/proc/{process.pid}/fd"))),
                                     [0, 1, 2, theirs.fileno()])
                with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                    status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
                self.assertEqual(status["NoNewPrivs"].strip(), "1")
                if not SANITIZED:
                    for name in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
                        self.assertEqual(int(status[name], 16), 0, name)
                theirs.close()
                ours.close()
                self.assertEqual(process.wait(timeout=60), 0)


class Activation(unittest.TestCase):
    """As a service manager does it: descriptor 3 listens, and LISTEN_PID is its own."""

    def start(self, path):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(path)
        listener.listen(4)
        return listener, self.serve(listener)

    @staticmethod
    def serve(listener, count="1"):
        def become():
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)

        # The shell's number is the one that the program gets by exec.
        return subprocess.Popen(
            ["sh", "-c", 'LISTEN_PID=$$ exec "$0"', PROGRAM], preexec_fn=become, close_fds=False,
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "LISTEN_FDS": count})

    def test_one_connection_after_the_other(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "probe.sock")
            listener, process = self.start(path)
            with listener:
                for number in (7, 8):
                    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
                        client.settimeout(60)
                        client.connect(path)
                        client.send(probe_orders.order("ping", number))
                        self.assertEqual(probe_orders.reply(client.recv(16384))["number"], number)
                    self.assertEqual(process.wait(timeout=60), 0)
                    process = self.serve(listener)
                # This one may not even have got as far as its signal handler.
                process.terminate()
                self.assertIn(process.wait(timeout=60), (0, -signal.SIGTERM))

    def test_another_pid_or_count_is_not_meant(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with listener:
            process = self.serve(listener, "2")
            self.assertEqual(process.wait(timeout=60), 2)
        meant_for_another = {**os.environ, "LISTEN_PID": "1", "LISTEN_FDS": "1"}
        self.assertEqual(run(env=meant_for_another).returncode, 2)


if __name__ == "__main__":
    unittest.main()
