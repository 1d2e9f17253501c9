#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every verb of ibsmctl against ctl-fake: text as in ctl-data/*.txt, JSON as the scenario has it.

ctl-verbs.py --update writes the texts anew: read the difference before it is committed.
"""

import datetime
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ctl_harness import DATA, Fake, check, check_equal, finish  # noqa: E402

TEXTS = [
    # file, scenario, words
    ('status', 'scenario', ['status']),
    ('status-full', 'scenario', ['--full']),
    ('status-empty', 'empty', []),
    ('status-alerts', 'alerts', ['status']),
    ('nodes', 'scenario', ['nodes']),
    ('nodes-full', 'scenario', ['nodes', '--full']),
    ('nodes-no-legend', 'scenario', ['nodes', '--no-legend']),
    ('nodes-filtered', 'scenario', ['nodes', 'spine-*', '--type=switch']),
    ('nodes-none', 'scenario', ['nodes', 'none*']),
    ('node-switch', 'scenario', ['node', 'leaf-1']),
    ('node-ca-full', 'scenario', ['node', '9', '--full']),
    ('links', 'scenario', ['links']),
    ('links-full', 'scenario', ['links', 'leaf-2', '--full']),
    ('sweeps', 'scenario', ['sweeps']),
    ('sweeps-full', 'scenario', ['sweeps', '-n', '1', '--full']),
    ('sweep-last', 'scenario', ['sweep']),
    ('sweep-story', 'scenario', ['sweep', '2']),
    ('sweep-story-full', 'scenario', ['sweep', '2', '--full']),
    ('sweep-reroute', 'scenario', ['sweep', '3']),
    ('sweep-failed', 'scenario', ['sweep', '4']),
    ('events', 'scenario', ['events']),
    ('events-full', 'scenario', ['events', '--full']),
    ('events-filtered', 'scenario', ['events', '--kind=trap', '--node=leaf-1', '--after=1']),
    ('events-none', 'empty', ['events']),
    ('route', 'scenario', ['route', 'a', 'b']),
    ('route-full', 'scenario', ['--full', 'route', 'a', 'b']),
    ('route-broken', 'scenario', ['route', 'a', 'c']),
    ('alerts', 'scenario', ['alerts']),
    ('alerts-all-full', 'scenario', ['alerts', '--all', '--full']),
    ('alerts-none', 'empty', ['alerts']),
    ('silence', 'scenario', ['silence', 'sm-lost', '--for=2h', '--reason=maintenance']),
    ('silence-nothing', 'scenario',
     ['silence', 'sm-flaping', '--for=1h 30min', '--reason=maintenance']),
    ('silence-both', 'scenario',
     ['silence', 'leaf-1*', '--kind=sm-lost', '--for=1', '--reason=maintenance']),
    ('unsilence', 'scenario', ['unsilence', '3']),
    ('silences', 'scenario', ['silences']),
    ('silences-none', 'empty', ['silences']),
    ('ack', 'scenario', ['ack', '34599e', '--reason=maintenance']),
    ('sm', 'scenario', ['sm']),
    ('sm-full', 'scenario', ['sm', '--full']),
    ('sm-last', 'scenario', ['sm', '-n', '1', '--no-legend']),
    ('sweeps-stats', 'scenario', ['sweeps', '--stats']),
    ('sweeps-stats-window', 'scenario', ['sweeps', '--stats', '--window=2h', '--full']),
    ('sweeps-stats-none', 'empty', ['sweeps', '--stats']),
    ('sms', 'scenario', ['sms']),
    ('sms-full', 'scenario', ['sms', '--full']),
    ('groups', 'scenario', ['groups']),
    ('groups-full', 'scenario', ['groups', '--full']),
    ('groups-members', 'scenario', ['groups', '0xc000']),
    ('groups-members-full', 'scenario', ['groups', '0xc000', '--full']),
    ('partitions', 'scenario', ['partitions']),
    ('options', 'scenario', ['options']),
    ('options-pattern', 'scenario', ['options', 's*', '--full']),
]

# Words, the method, the parameters it is called with, the array in the replies, and in our JSON.
LISTS = [
    (['nodes'], 'ListNodes', {}, 'nodes', 'nodes'),
    (['nodes', 'none*'], 'ListNodes', {'pattern': 'none*'}, 'nodes', 'nodes'),
    (['links'], 'ListLinks', {}, 'links', 'links'),
    (['sweeps'], 'ListSweeps', {}, 'sweeps', 'sweeps'),
    (['sweeps', '-n1'], 'ListSweeps', {'count': 1}, 'sweeps', 'sweeps'),
    (['sweeps', '-n', 'all'], 'ListSweeps', {}, 'sweeps', 'sweeps'),
    (['events'], 'ListEvents', {}, 'events', 'events'),
    (['events', '-n', 'all'], 'ListEvents', {}, 'events', 'events'),
    (['events', '--lines=1'], 'ListEvents', {'count': 1}, 'events', 'events'),
    (['events', '--kind=none'], 'ListEvents', {'kind': 'none'}, 'events', 'events'),
    (['sms'], 'ListSubnetManagers', {}, 'subnet_managers', 'sms'),
    (['silences'], 'ListSilences', {}, 'silences', 'silences'),
    (['groups'], 'ListGroups', {}, 'groups', 'groups'),
    (['groups', '0xc000'], 'ListGroupMembers', {'group': '0xc000'}, 'members', 'members'),
    (['partitions'], 'ListPartitions', {}, 'partitions', 'partitions'),
    (['options'], 'ListOptions', {}, 'options', 'options'),
]

REASON = {'reason': 'maintenance'}
ALERT = ['kind', 'severity', 'subject', 'since', 'last', 'count', 'message', 'evidence']

OBJECTS = [
    (['silence', 'sm-lost', '--for=2h', '--reason=maintenance'], 'Silence',
     {'kind': 'sm-lost', 'for_usec': 7200000000, **REASON}, lambda reply: reply),
    (['silence', 'leaf-1*', '--kind=sm-lost', '--for=1s', '--reason=maintenance'], 'Silence',
     {'kind': 'sm-lost', 'subject': 'leaf-1*', 'for_usec': 1000000, **REASON},
     lambda reply: reply),
    (['unsilence', '3'], 'Unsilence', {'id': 3}, lambda reply: reply),
    (['sweeps', '--stats'], 'GetSweepStatistics', {}, lambda reply: reply),
    (['sweeps', '--stats', '--window=2h'], 'GetSweepStatistics', {'window_usec': 7200000000},
     lambda reply: reply),
    (['node', 'leaf-1'], 'GetNode', {'node': 'leaf-1'}, lambda reply: reply),
    (['sweep'], 'GetSweep', {}, lambda reply: reply),
    (['sweep', '2'], 'GetSweep', {'number': 2}, lambda reply: reply),
    (['route', 'a', 'b'], 'GetRoute', {'source': 'a', 'destination': 'b'},
     lambda reply: reply['route']),
    (['route', 'a', 'c'], 'GetRoute', {'source': 'a', 'destination': 'c'},
     lambda reply: reply['route']),
]

PROMISED = {
    'fabric': ['switches', 'cas', 'routers', 'links', 'lids'],
    'sm': ['guid', 'state', 'priority', 'lid', 'node'],
    'plugin': ['connected', 'events_received', 'events_dropped'],
    'sweep': ['count', 'last_duration_usec', 'last_result'],
    'routing': ['engines_configured', 'engine_used'],
}

DURATION = r'[\d.]+(?:us|ms|s|min|h|d)(?: \d+(?:s|min|h))?'


def without_ages(text):
    """What counts from now on is different each time."""
    text = re.sub(f'{DURATION} ago', 'AGE ago', text)
    text = re.sub(f'up {DURATION},', 'up AGE,', text)
    return re.sub(rf'\({DURATION}(?=[,)])', '(AGE', text)


def harmless(text):
    """No character that a terminal would obey, but the newline."""
    return not re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]', text)


def check_texts(fakes, update):
    for name, scenario, words in TEXTS:
        result = fakes[scenario].run(*words)
        path = os.path.join(DATA, name + '.txt')
        text = without_ages(result.out)
        check(result.status == 0 and not result.err, f'ibsmctl {words}', result)
        check(harmless(text), f'ibsmctl {words} prints control characters', repr(text))
        if update:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            continue
        with open(path, encoding='utf-8') as file:
            check_equal(text, file.read(), f'ibsmctl {words} and {name}.txt')


def replies(scenario, method, parameters):
    with open(os.path.join(DATA, scenario + '.json'), encoding='utf-8') as file:
        cases = json.load(file)[method]
    return next(case['replies'] for case in cases if case['when'] == parameters)


def check_json(fake, words, wanted):
    for mode in ('short', 'pretty'):
        result = fake.run(f'--json={mode}', *words)
        check(result.status == 0, f'ibsmctl {words} as JSON', result)
        try:
            it = json.loads(result.out)
        except ValueError as error:
            check(False, f'ibsmctl {words}: {mode}: {error}', result.out)
            continue
        check_equal(it, wanted, f'ibsmctl {words} as JSON')
        check(harmless(result.out), f'ibsmctl {words}: {mode}: control characters', result.out)
        check((result.out.count('\n') == 1) == (mode == 'short'), f'lines of {mode}', result.out)
        check(result.out.endswith('}\n'), f'the end of {mode}', result.out)
    result = fake.run('-j', *words)
    check_equal(json.loads(result.out), wanted, f'ibsmctl {words} -j')
    check(result.out.count('\n') == 1, '-j without a terminal is short', result.out)


def check_status(fakes):
    for scenario, fake in fakes.items():
        wanted = replies(scenario, 'GetStatus', {})[0]
        for name, members in PROMISED.items():
            wanted.setdefault(name, {})
            for member in members:
                wanted[name].setdefault(member, None)
        check_json(fake, ['status'], wanted)
        check_json(fake, [], wanted)


def utc(usec):
    return datetime.datetime.fromtimestamp(usec // 1000000, datetime.timezone.utc).strftime(
        '%Y-%m-%dT%H:%M:%SZ')


def as_told(alert, full=False):
    """What ibsmctl makes of an alert: these members alone, but for --full."""
    it = {key: alert[key] for key in ALERT if key in alert}
    it['since'] = utc(alert['since_realtime_usec'])
    it['last'] = utc(alert['last_realtime_usec'])
    if 'cleared_realtime_usec' in alert:
        it['cleared'] = utc(alert['cleared_realtime_usec'])
    return {**alert, **it} if full else it


def check_alerts(fake):
    for words, method, parameters in (
            (['alerts'], 'ListAlerts', {}),
            (['alerts', '--all'], 'ListAlerts', {'all': True}),
            (['ack', '34599e', '--reason=maintenance'], 'Acknowledge', {'id': '34599e', **REASON}),
            (['ack', 'sm-lost', '--reason=maintenance'], 'Acknowledge',
             {'kind': 'sm-lost', **REASON})):
        told = [alert for reply in replies('scenario', method, parameters)
                for alert in reply['alerts']]
        check_json(fake, words, {'alerts': [as_told(alert) for alert in told]})
        check_json(fake, words + ['--full'], {'alerts': [as_told(alert, True) for alert in told]})
    result = fake.run('--json=short', 'alerts')
    for alert in json.loads(result.out)['alerts']:
        check_equal(list(alert), ALERT, 'the members of an alert')


def check_sm(fake):
    parts = {name: replies('scenario', method, {})[0][member] for name, method, member in (
        ('sms', 'ListSubnetManagers', 'subnet_managers'),
        ('mastership', 'GetMastership', 'mastership'), ('placement', 'GetPlacement', 'placement'),
        ('checks', 'ListOptionChecks', 'checks'),
        ('outside', 'ListSubnetManagers', 'outside'))}
    check_json(fake, ['sm'], parts)
    check_json(fake, ['sm', '-n', 'all'], parts)
    parts['mastership'] = replies('scenario', 'GetMastership', {'count': 1})[0]['mastership']
    check_json(fake, ['sm', '-n1'], parts)


def main():
    update = sys.argv[1:] == ['--update']
    with Fake('scenario') as scenario, Fake('empty') as empty, Fake('alerts') as alerts:
        fakes = {'scenario': scenario, 'empty': empty, 'alerts': alerts}
        check_texts(fakes, update)
        check_status(fakes)
        check_alerts(scenario)
        check_sm(scenario)
        check_json(empty, ['alerts'], {'alerts': []})
        for words, method, parameters, member, name in LISTS:
            batches = replies('scenario', method, parameters)
            wanted = {name: [item for batch in batches for item in batch[member]]}
            check_json(scenario, words, wanted)
        for words, method, parameters, of_reply in OBJECTS:
            check_json(scenario, words, of_reply(replies('scenario', method, parameters)[0]))
        check_json(scenario, ['options', 's*'], {'options': [
            option for batch in replies('scenario', 'ListOptions', {})
            for option in batch['options'] if option['name'].startswith('s')]})
        result = scenario.run('events', '-n1')
        check('3 events are missing' in result.err, 'missed events are told', result)

        # No way to print UTF-8: all of it is escaped; but JSON and files stay as they are.
        result = scenario.run('nodes', env={'LC_ALL': 'C'})
        check('größe' in result.out, 'a file gets UTF-8 in any locale', result)
        result = scenario.terminal('nodes', '--no-pager', env={'LC_ALL': 'C'}, columns=300)
        check('gr\\xc3\\xb6' in result.out and result.out.isascii(), 'ASCII alone', result)
    finish()


main()
