#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ibsmctl on a terminal: widths, colours, the pager, --watch, and names that attack it."""

import json
import os
import re
import signal
import sys
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ctl_harness import Fake, Terminal, check, check_equal, finish  # noqa: E402

COLOUR = re.compile(r'\033\[[0-9;]*m')
VERBS = [['status'], ['nodes'], ['node', 'leaf-1'], ['node', '9'], ['links'], ['sweeps'],
         ['sweep', '2'], ['events'], ['route', 'a', 'b'], ['route', 'a', 'c'], ['sms'],
         ['alerts'], ['alerts', '--all', '--full'], ['silences'], ['sm'], ['sweeps', '--stats'],
         ['groups'], ['groups', '0xc000'], ['partitions'], ['options']]
# A table is cut only in its longest columns: so wide are the others.
TABLES = [(['nodes'], 50), (['links'], 80), (['route', 'a', 'b'], 50), (['sweeps'], 90),
          (['node', 'leaf-1'], 90), (['sms'], 70), (['sm'], 80), (['sweeps', '--stats'], 70),
          (['silences'], 70), (['partitions'], 40)]


def width(text):
    wide = sum(unicodedata.east_asian_width(c) in 'WF' for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def check_harmless(result, words):
    rest = COLOUR.sub('', result.out)
    found = re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]', rest)
    check(not found, f'{words} prints control characters', repr(result.out))


def check_colours(fake):
    for words in VERBS:
        result = fake.terminal('--no-pager', *words)
        check(result.status == 0, f'{words} on a terminal', result)
        check_harmless(result, words)
        for env in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
            result = fake.terminal('--no-pager', *words, env=env)
            check('\033' not in result.out, f'{words} with {env}', repr(result.out))
        result = fake.terminal('--json=short', *words)
        check_harmless(result, words)
        check('\033' not in result.out, f'{words}: JSON has no colours', repr(result.out))
        json.loads(result.out)
    result = fake.terminal('status')
    check('\033[1;33m● warning\033[0m: ' in result.out, 'a warning is yellow', repr(result.out))
    result = fake.terminal('status', env={'NO_COLOR': ''})
    check('\033[' in result.out, 'an empty NO_COLOR is none', repr(result.out))
    result = fake.terminal('-j', 'sms')
    check(result.out.startswith('{\n  "sms": [\n    {\n'), '-j is pretty on a terminal', result)


def check_widths(fake):
    for words, least in TABLES:
        for columns in (least, 100, 300):
            result = fake.terminal('--no-pager', *words, columns=columns, env={'NO_COLOR': '1'})
            widths = [width(line) for line in result.out.splitlines()]
            check(max(widths) <= columns, f'{words} in {columns} columns', result)
            if words == ['nodes']:
                check(('…' in result.out) == (columns < 90), f'cut at {columns}', result)
                check(' switch ' in result.out and '7,8' in result.out, 'others are whole', result)
        result = fake.terminal('--no-pager', *words, columns=40, env={'COLUMNS': '300'})
        check('…' not in result.out, f'{words}: $COLUMNS counts', result)
        result = fake.run(*words, env={'COLUMNS': '40'})
        check('…' not in result.out, f'{words}: a file is not cut', result)
    full = fake.terminal('--no-pager', 'nodes', '--full', columns=80)
    check('0x0000000000100030  0x0000000000100033' in full.out, 'GUIDs are never cut', full)
    text = fake.terminal('--no-pager', 'events', columns=40, env={'NO_COLOR': '1'}).out
    check_equal(text, fake.run('events').out, 'events are not cut')


def check_one_screen():
    for scenario in ('scenario', 'alerts', 'empty'):
        with Fake(scenario) as fake:
            for lines in (24, 60):
                result = fake.terminal('status', lines=lines, env={'NO_COLOR': '1'})
                rows = result.out.splitlines()
                check(len(rows) < lines, f'{scenario} fits {lines} lines', result)
                check(max(map(width, rows)) <= 80, f'{scenario} fits 80 columns', result)
                too_many = scenario == 'alerts' and lines == 24
                check(('more; all of them:' in result.out) == too_many,
                      f'{scenario} in {lines} lines tells of more', result)


def check_pager(fake):
    paged = {'SYSTEMD_PAGER': 'sed s/^/P:/', 'PAGER': 'false'}
    for words in VERBS:
        lines = fake.terminal(*words, env=paged).out.splitlines()
        long_list = words[0] not in ('status', 'route')
        check(all(line.startswith('P:') == long_list for line in lines), f'{words} paged', lines)
        result = fake.terminal(*words, '--no-pager', env=paged)
        check('P:' not in result.out, f'{words} --no-pager', result)
        result = fake.run(*words, env=paged)
        check('P:' not in result.out, f'{words} in a file', result)
    for env in ({'PAGER': 'sed s/^/P:/'}, {'SYSTEMD_PAGER': '', 'PAGER': 'sed s/^/P:/'},
                {'SYSTEMD_PAGER': 'cat', 'PAGER': 'sed s/^/P:/'}):
        result = fake.terminal('sms', env=env)
        check(('P:' in result.out) == ('SYSTEMD_PAGER' not in env), f'{env}', result)
    tell = 'echo "$LESS $LESSCHARSET"; cat >/dev/null'
    result = fake.terminal('sms', env={'SYSTEMD_PAGER': tell})
    check_equal(result.out, 'FRSXMK utf-8\n', "less's options")
    result = fake.terminal('sms', env={'SYSTEMD_LESS': 'FR', 'PAGER': tell})
    check_equal(result.out, 'FR utf-8\n', '$SYSTEMD_LESS')

    for term in ('dumb', ''):
        result = fake.terminal('nodes', env={'PAGER': 'sed s/^/P:/', 'TERM': term})
        check('P:' not in result.out, f'TERM={term}: no pager', result)

    # A pager that is quit early is no error; one that cannot run is.
    for words in (['nodes'], ['events']):
        result = fake.terminal(*words, env={'PAGER': 'true'})
        check(result.status == 0 and not result.out, f'{words}: the pager was quit', result)
        result = fake.terminal(*words, env={'PAGER': '/nonexistent/pager'})
        check(result.status == 1 and 'the pager could not be started' in result.out,
              f'{words}: no such pager', result)
    result = fake.terminal('node', 'nobody', env=paged)
    check(result.status == 1 and 'P:' not in result.out, 'an error is not paged', result)


def check_watch(fake):
    screen = Terminal([f'--socket={fake.socket}', 'status', '--watch=0.05'], 80, 24, None)
    screen.read_until(lambda text: text.count('\033[H\033[2J') >= 3)
    screen.interrupt()
    result = screen.finish()
    check(result.status in (0, 130, -signal.SIGINT), 'SIGINT ends --watch', result)
    check('● warning' in result.out, '--watch shows the status', result)

    with fake.start('--watch=0.05', '--json=short') as process:
        for _ in range(3):
            check(json.loads(process.stdout.readline())['health'] == 'warning', 'JSON lines')
        process.send_signal(signal.SIGTERM)

    with Fake('empty') as other:
        with other.start('--watch=0.05') as process:
            process.stdout.readline()
            other.stop()
            check(process.wait(60) == 1, 'the daemon ends')
            err = process.stderr.read()
            check(err.startswith('ibsmctl: ') and err.count('\n') == 1, 'the daemon ends', err)


def check_follow_on_terminal(fake):
    paged = {'SYSTEMD_PAGER': 'sed s/^/P:/'}
    result = fake.terminal('events', '-f', env=paged, interrupt=True,
                           until=lambda text: 'link-removed' in text)
    check('P:' not in result.out, 'events -f is not paged', result)
    check('\033[1;33mlink-removed' in result.out, 'a warning is yellow', repr(result.out))


def main():
    with Fake('scenario') as fake:
        check_colours(fake)
        check_widths(fake)
        check_pager(fake)
        check_watch(fake)
        check_follow_on_terminal(fake)
    check_one_screen()
    finish()


main()
