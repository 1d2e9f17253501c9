# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs ibsmctl against ctl-fake, with and without a terminal, in an environment of its own."""

import contextlib
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = os.environ.get('IBSM_SRCDIR') or os.path.abspath(
    os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.environ.get('IBSM_BUILDDIR') or os.getcwd()
CTL = os.path.join(BUILD, 'ibsmctl')
DATA = os.path.join(SOURCE, 'tests', 'unit', 'ctl-data')
PATIENCE = 60  # seconds, for what takes milliseconds

ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in (
    'COLUMNS', 'LINES', 'NO_COLOR', 'PAGER', 'SYSTEMD_PAGER', 'SYSTEMD_LESS', 'LESS', 'IBSM_SOCKET',
    'LANG', 'LC_CTYPE')}
ENVIRONMENT.update(LC_ALL='C.UTF-8', TZ='CET-1', TERM='xterm')

# A test that runs in the background may have inherited that it is ignored, and would hand that on.
signal.signal(signal.SIGINT, signal.default_int_handler)

failures = 0


def check(condition, what, detail=''):
    """Note a failure, and go on."""
    global failures
    if condition:
        return
    failures += 1
    line = sys._getframe(1).f_lineno
    print(f'FAIL, line {line}: {what}\n{detail}'.rstrip())


def check_equal(got, wanted, what):
    if got != wanted:
        global failures
        failures += 1
        line = sys._getframe(1).f_lineno
        print(f'FAIL, line {line}: {what}\n--- got\n{got}\n--- wanted\n{wanted}')


def finish():
    print('failed' if failures else 'passed')
    sys.exit(failures > 0)


class Directory:
    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='ibsm-ctl.')
        os.chmod(self.path, 0o755)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)


class Fake(Directory):
    """ctl-fake with one scenario; self.socket is where it listens."""

    def __init__(self, scenario):
        self.scenario = os.path.join(DATA, scenario + '.json')

    def __enter__(self):
        super().__enter__()
        self.socket = os.path.join(self.path, 'socket')
        self.process = subprocess.Popen(
            [os.path.join(BUILD, 'tests', 'unit', 'ctl-fake'),
             os.path.join(SOURCE, 'daemon', 'io.ibsm.Monitor.varlink'), self.scenario, self.socket],
            stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != 'ready\n':
            sys.exit('ctl-fake did not start')
        return self

    def stop(self):
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        check(status == 0, f'ctl-fake ended with {status}')

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()
        super().__exit__()

    def run(self, *words, **options):
        return run(f'--socket={self.socket}', *words, **options)

    def start(self, *words, **options):
        return start(f'--socket={self.socket}', *words, **options)

    def terminal(self, *words, **options):
        return terminal(f'--socket={self.socket}', *words, **options)


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return f'status {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}'


def environment(extra):
    return {**ENVIRONMENT, **(extra or {})}


def run(*words, env=None, **options):
    """To its end, standard output and error apart."""
    done = subprocess.run([CTL, *words], env=environment(env), check=False, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL,
                          **{'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options})
    return Result(done.returncode, *((text or b'').decode() for text in (done.stdout, done.stderr)))


def start(*words, env=None, **options):
    return subprocess.Popen([CTL, *words], env=environment(env), text=True,
                            stdin=subprocess.DEVNULL,
                            **{'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options})


class Terminal:
    """ibsmctl on a terminal of its own."""

    def __init__(self, words, columns, lines, env):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
        self.fd = ours
        self.text = ''
        self.raw = b''
        self.process = subprocess.Popen([CTL, *words], env=environment(env), stdin=theirs,
                                        stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)

    def read(self):
        """What comes next; False at the end."""
        ready, _, _ = select.select([self.fd], [], [], PATIENCE)
        if not ready:
            sys.exit(f'nothing more after {self.text!r}')
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b''
        self.raw += data
        self.text = self.raw.decode(errors='replace').replace('\r\n', '\n')
        return bool(data)

    def read_until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition(self.text):
            if time.monotonic() > deadline or not self.read():
                sys.exit(f'it never came: {self.text!r}')

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self):
        deadline = time.monotonic() + PATIENCE
        while self.read():
            if time.monotonic() > deadline:
                self.process.kill()
                sys.exit(f'it never ends: {self.text[-2000:]!r}')
        os.close(self.fd)
        return Result(self.process.wait(PATIENCE), self.text, '')


def terminal(*words, columns=80, lines=24, env=None, until=None, interrupt=False):
    """On a terminal; standard error is in the output, too."""
    it = Terminal(words, columns, lines, env)
    if until:
        it.read_until(until)
    if interrupt:
        it.interrupt()
    return it.finish()


@contextlib.contextmanager
def ended(process):
    """A started ibsmctl that does not outlive the block."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
