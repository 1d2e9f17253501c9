#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What ibsmctl does when something is wrong: exit codes, one clear line, nothing on stdout."""

import json
import os
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ctl_harness import (CTL, PATIENCE, Directory, Fake, check, ended, finish,  # noqa: E402
                         run, start)

USAGE = [
    (['stauts'], 'unknown verb "stauts": did you mean "status"?'),
    (['node s'], 'unknown verb "node s": did you mean "nodes"?'),
    (['rout', 'a', 'b'], 'unknown verb "rout": did you mean "route"?'),
    (['frobnicate'], 'unknown verb "frobnicate": see ibsmctl --help'),
    (['x' * 5000], 'see ibsmctl --help'),
    (['\x1b[31m'], 'unknown verb "\\x1b[31m": see ibsmctl --help'),
    ([''], 'unknown verb "": see ibsmctl --help'),
    (['--jsn=short'], 'unknown option "--jsn": did you mean "--json"?'),
    (['nodes', '--ful=1'], 'option --full takes no value'),
    (['--no-'], 'unknown option "--no-": did you mean "--no-pager"?'),
    (['--colour'], 'unknown option "--colour": see ibsmctl --help'),
    (['-x'], 'unknown option "-x": see ibsmctl --help'),
    (['-jx'], 'unknown option "-x": see ibsmctl --help'),
    (['--help=1'], 'option --help takes no value'),
    (['--follow=1', 'events'], 'option --follow takes no value'),
    (['--json'], 'option --json needs a value'),
    (['events', '-n'], 'option -n needs a value'),
    (['events', '--lines'], 'needs a value'),
    (['--json=xml'], '--json= is pretty, short or off, not "xml"'),
    (['events', '-n', '0'], '-n takes a number above 0 or "all", not "0"'),
    (['events', '-n', '-1'], '-n takes a number above 0 or "all", not "-1"'),
    (['events', '-n', '9223372036854775808'], '-n takes'),
    (['events', '-n', '1x'], '-n takes'),
    (['events', '--after=x'], '--after= is the number of an event, not "x"'),
    (['nodes', '--type=hub'], '--type= is ca, switch or router, not "hub"'),
    (['--timeout=0'], '--timeout= is a number of seconds, not "0"'),
    (['--timeout=nan'], '--timeout= is a number of seconds, not "nan"'),
    (['--watch=x'], '--watch= is a number of seconds, not "x"'),
    (['nodes', '-f'], '"nodes" takes no -f: only events'),
    (['status', '-n1'], '"status" takes no -n: only events, sweeps and sm'),
    (['nodes', '--kind=trap'], '"nodes" takes no --kind=: only events, silence and ack'),
    (['nodes', '--node=a'], '"nodes" takes no --node= and --after=: only events'),
    (['events', '--all'], '"events" takes no --all: only alerts'),
    (['alerts', '--stats'], '"alerts" takes no --stats and --window=: only sweeps'),
    (['ack', 'a', '--for=1h'], '"ack" takes no --for=: only silence'),
    (['alerts', '--reason=x'], '"alerts" takes no --reason=: only silence and ack'),
    (['sweeps', '--window=1h'], '--window= goes with --stats'),
    (['sweeps', '--stats', '-n1'], '-n does not go with --stats: try --window='),
    (['sweeps', '--stats', '--window=soon'],
     '--window= is a time span such as 90min or 2h, not "soon"'),
    (['sweeps', '--stats', '--window=0'], '--window= is a time span'),
    (['silence', 'a', '--reason=b'], 'for how long? Give silence --for=, such as --for=2h'),
    (['silence', 'a', '--for=2x', '--reason=b'],
     '--for= is a time span such as 90min or 2h, not "2x"'),
    (['silence', 'a', '--for=-1h', '--reason=b'], '--for= is a time span'),
    (['silence', 'a', '--for=99999999999d', '--reason=b'], '--for= is a time span'),
    (['silence', 'a', '--for=1h'], 'why? Give silence --reason=, for those who look later'),
    (['silence', '--for=1h', '--reason=b'],
     'usage: ibsmctl silence SUBJECT|KIND --for=SPAN --reason=TEXT'),
    (['ack', 'a'], 'why? Give ack --reason=, for those who look later'),
    (['ack', 'a', '--reason='], 'why? Give ack --reason='),
    (['ack', '--reason=b'], 'usage: ibsmctl ack ID|SUBJECT|KIND --reason=TEXT'),
    (['unsilence', 'x'], '"x" is no number of a silence: see ibsmctl silences'),
    (['unsilence', '0'], '"0" is no number of a silence'),
    (['unsilence'], 'usage: ibsmctl unsilence ID'),
    (['ack', 'a', b'--reason=\xc3'], '--kind=, --node= and --reason= take UTF-8'),
    (['links', '--type=ca'], '"links" takes no --type=: only nodes'),
    (['events', '--watch'], '"events" takes no --watch: only status'),
    (['status', 'x'], 'usage: ibsmctl status'),
    (['node'], 'usage: ibsmctl node NAME|GUID|LID'),
    (['route', 'a'], 'usage: ibsmctl route SOURCE DESTINATION'),
    (['route', 'a', 'b', 'c'], 'usage: ibsmctl route SOURCE DESTINATION'),
    (['node', b'a\xffb'], '"a\\xffb" is not UTF-8'),
    (['events', b'--kind=\xc3'], '--kind=, --node= and --reason= take UTF-8'),
    (['sweep', 'x'], '"x" is no number of a sweep'),
    (['sweep', '-1'], 'unknown option "-1": see ibsmctl --help'),
]

ERRORS = [
    (['node', 'nobody'], 'no node has the name, GUID or LID "nobody"'),
    (['events', '--node=nobody'], 'no node has the name, GUID or LID "nobody"'),
    (['node', 'twin'], '12 nodes are named "twin"; give a GUID: 0x0000000000000001, '
                       '0x0000000000000002, ...'),
    (['node', 'denied'], 'ibsmd denies GetNode to this user: be root'),
    (['silence', 'denied', '--for=1', '--reason=maintenance'],
     'ibsmd denies Silence to this user: be root'),
    (['silence', 'full', '--for=1', '--reason=maintenance'],
     'there are 128 silences already: end some with ibsmctl unsilence'),
    (['silence', 'long', '--for=1', '--reason=maintenance'], 'a silence lasts from 1 s to a year'),
    (['silence', 'evil', '--for=1', '--reason=maintenance'],
     'a reason is one line of printable text, up to 255 bytes'),
    (['silence', 'x', '--kind=sm-lozt', '--for=1', '--reason=maintenance'],
     'there is no kind of alert "sm-lozt": see ibsmd(8)'),
    (['unsilence', '99'], 'there is no silence 99: see ibsmctl silences'),
    (['ack', 'nobody', '--reason=maintenance'],
     'no open alert has the subject "nobody": see ibsmctl alerts'),
    (['ack', 'abcdef', '--reason=maintenance'],
     '2 open alerts have an id that begins with "abcdef"'),
    (['ack', 'abcdef0', '--reason=maintenance'], 'no open alert has the id "abcdef0"'),
    (['node', 'invalid'], 'ibsmd does not accept the value of "node"'),
    (['events', '--kind=evil'], 'there is no kind of event "evil": see ibsmd(8)'),
    (['nodes', '--type=router'], 'there is no fabric yet: no opensm with the plugin is connected'),
    (['sweep', '9'], 'there is no sweep 9: those from 1 to 5 are kept'),
    (['sweep', '10'], 'no sweep has been seen yet'),
    (['route', 'a', 'nolid'], '"nolid" has no LID: nothing is routed to or from it'),
    (['groups', '0xc00f'], 'no multicast group has the MGID or MLID "0xc00f"'),
    (['node', 'bye'], 'ibsmd closed the connection: did it end? See: journalctl -u ibsmd'),
]


def check_failure(result, status, message, what):
    check(result.status == status, f'{what}: exit code {status}', result)
    check(not result.out, f'{what}: nothing on standard output', result)
    check(result.err.startswith('ibsmctl: ') and result.err.count('\n') == 1 and
          result.err.endswith('\n'), f'{what}: one line', result)
    check(message in result.err, f'{what}: {message}', result)


def check_usage(directory):
    for words, message in USAGE:
        check_failure(run(f'--socket={directory.path}/none', *words), 2, message, words)
    for words in (['--help'], ['-h'], ['nodes', '-h']):
        result = run(*words)
        check(result.status == 0 and 'Verbs:' in result.out and not result.err, words, result)
        check(max(map(len, result.out.splitlines())) <= 80, 'the help fits', result)
    result = run('--version')
    check(result.status == 0 and result.out.startswith('ibsmctl '), '--version', result)


def check_away(directory):
    path = directory.path + '/none'
    check_failure(run(f'--socket={path}'), 1, f'there is no socket {path}: is ibsmd running?',
                  'no socket')
    check_failure(run(env={'IBSM_SOCKET': path}), 1, f'no socket {path}', '$IBSM_SOCKET')
    check_failure(run('--socket=' + directory.path + '/other', env={'IBSM_SOCKET': path}), 1,
                  'other: is ibsmd', '--socket= over $IBSM_SOCKET')
    if not os.path.exists('/run/ibsmd'):
        for env in (None, {'IBSM_SOCKET': ''}):
            check_failure(run('nodes', env=env), 1, 'no socket /run/ibsmd/io.ibsm.Monitor: is '
                          'ibsmd running? Start it with: systemctl start ibsmd', 'the default')
    check_failure(run('--socket=' + '/x' * 100), 1, 'cannot talk to ibsmd', 'a long path')
    check_failure(run(f'--socket={directory.path}'), 1, directory.path, 'a directory')

    dead = directory.path + '/dead'
    with socket.socket(socket.AF_UNIX) as it:
        it.bind(dead)
    check_failure(run(f'--socket={dead}'), 1, f'nobody listens on {dead}: ibsmd has ended',
                  'a dead socket')


def check_permission(directory):
    path = directory.path + '/forbidden'
    with socket.socket(socket.AF_UNIX) as it:
        it.bind(path)
        it.listen()
        os.chmod(path, 0o000)
        options = {'user': 65534, 'group': 65534, 'extra_groups': []} if os.geteuid() == 0 else {}
        try:
            result = run(f'--socket={path}', **options)
        except PermissionError:
            print('the build directory is closed to others: no permission was not tested')
            return
        check_failure(result, 1, f'no permission for {path}: be root, or join its group',
                      'no permission')


def check_strangers(directory):
    """Services that are no ibsmd: an answer of bytes, and what is to be said of it."""
    path = directory.path + '/stranger'
    big = b'{"parameters":{"x":"' + b'x' * (17 << 20) + b'"}}\0'
    for answer, message in (
            (b'HTTP/1.1 400 Bad Request\r\n\r\n\0', 'is not ibsmd, or an incompatible one'),
            (b'[]\0', 'is not ibsmd, or an incompatible one'),
            (b'{"parameters":[]}\0', 'is not ibsmd, or an incompatible one'),
            (big, 'is not ibsmd, or an incompatible one'),
            (b'{"parameters":{}}\0', 'answer to ListNodes has no list "nodes"'),
            (b'{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"x"}}\0',
             'has no ListNodes: is it an older ibsmd?'),
            (b'{"error":"io.ibsm.Monitor.New","parameters":{"a":"\\u001b[2J"}}\0',
             'ibsmd answered ListNodes with io.ibsm.Monitor.New {"a":"\\u001B[2J"}'),
            (b'{"error":"a\\u001b[2J.B"}\0', 'ibsmd'),
            (b'', 'ibsmd closed the connection')):
        with socket.socket(socket.AF_UNIX) as it:
            it.bind(path)
            it.listen()
            with ended(start(f'--socket={path}', '--json=short', 'nodes')) as process:
                connection, _ = it.accept()
                connection.recv(65536)
                try:
                    connection.sendall(answer)
                except BrokenPipeError:
                    pass
                connection.close()
                out, err = process.communicate(timeout=PATIENCE)
                what = answer[:80]
                check(process.returncode == 1, f'{what}: exit code', process.returncode)
                check(not out and message in err and err.count('\n') == 1, what, out + err)
                check('\x1b' not in err, f'{what}: no escape sequence', repr(err))
        os.unlink(path)


def check_errors(fake):
    for words, message in ERRORS:
        for mode in ('off', 'short', 'pretty'):
            check_failure(fake.run(f'--json={mode}', *words), 1, message, words)
    check_failure(fake.run('--timeout=0.2', 'node', 'hang'), 1, 'gave no answer on', 'silence')
    check_failure(fake.run('nodes', 'cut'), 1, 'closed the connection', 'half an answer as text')

    # What was cut short must not look whole.
    result = fake.run('--json=short', 'nodes', 'cut')
    check(result.status == 1 and 'closed the connection' in result.err, 'half an answer', result)
    try:
        json.loads(result.out)
        check(False, 'half an answer is whole JSON', result)
    except ValueError:
        pass


def check_output(fake):
    with open('/dev/full', 'wb') as full:
        for words in (['nodes'], ['-j', 'nodes'], ['events'], ['-j', 'events'], ['status'],
                      ['sweep', '2'], ['-j', 'sweep'], ['--help'], ['events', '-f']):
            result = fake.run(*words, stdout=full)
            check(result.status == 1, f'{words} on a full disk', result)
            check(result.err == 'ibsmctl: cannot write the output: No space left on device\n',
                  f'{words} on a full disk', result)
    for words in (['nodes'], ['-j', 'nodes'], ['events'], ['events', '-f'], ['status', '--watch']):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, 'wb') as gone:
            result = fake.run(*words, stdout=gone)
        check(result.status == 1 and not result.err, f'{words} without a reader', result)


def follow(fake, *words):
    return ended(fake.start('events', '-f', *words, bufsize=1))


def check_follow(fake):
    # What is kept comes first; each event is there at once, and losses are told.
    with follow(fake) as process:
        lines = [process.stdout.readline() for _ in range(3)]
        check('link-removed' in lines[2], 'events as they come', lines)
        check('5 events are missing' in process.stderr.readline(), 'missed events are told')
        process.send_signal(signal.SIGINT)
        status = process.wait(PATIENCE)
        check(status in (0, 130, -signal.SIGINT), 'SIGINT ends it', status)
        check(not process.stdout.read() and not process.stderr.read(), 'without a word')

    with follow(fake, '--json=short', '-n', 'all') as process:
        numbers = [json.loads(process.stdout.readline())['number'] for _ in range(5)]
        check(numbers == [1, 2, 3, 4, 123456], 'one object a line', numbers)

    # The reader goes away although nothing happens any more: ibsmctl notices.
    with follow(fake) as process:
        process.stdout.readline()
        process.stdout.close()
        status = process.wait(PATIENCE)
        check(status == 1, 'it ends with its reader', status)
        process.stdout = None

    result = fake.run('events', '-f', '--after=7')
    check(result.status == 1 and 'ibsmd closed the connection' in result.err, 'the end', result)
    check('plugin-connected' in result.out, 'what came before the end', result)


def check_daemon_ends():
    with Fake('scenario') as fake, follow(fake) as process:
        for _ in range(3):
            process.stdout.readline()
        fake.stop()
        _, err = process.communicate(timeout=PATIENCE)
        check(process.returncode == 1, 'the daemon ends', process.returncode)
        check(err.endswith('ibsmctl: ibsmd closed the connection: did it end? See: journalctl -u '
                           'ibsmd\n'), 'the daemon ends', err)


def check_no_standard_descriptors(fake):
    for closed in ('<&- >&-', '>&-', '>&- 2>&-'):
        for words in ([], ['nodes']):
            result = subprocess.run(['sh', '-c', f'exec "$0" "$@" {closed}', CTL,
                                     f'--socket={fake.socket}', *words],
                                    check=False, timeout=PATIENCE, capture_output=True)
            check(result.returncode == 1, f'no standard output: {closed} {words}', result)


def main():
    with Directory() as directory:
        check_usage(directory)
        check_away(directory)
        check_permission(directory)
        check_strangers(directory)
    with Fake('scenario') as fake:
        check_errors(fake)
        check_output(fake)
        check_follow(fake)
        check_no_standard_descriptors(fake)
    check_daemon_ends()
    finish()


main()
