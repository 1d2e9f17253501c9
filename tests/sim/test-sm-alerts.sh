#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# SMs where and as they should not be, found before any failover, by two real opensms: no standby,
# equal priorities, an SM that nobody expects, one on the master's switch, one that does not answer;
# and an opensm that is gone with its plugin.
. "${IBSM_SRCDIR:-$(dirname "$0")/../..}/tests/sim/lib.sh"
sim_is_long
sim_require_tools

sim_open_made tree2 --hosts 2
sim_start_ibsim
# On the leaf of the first host, and far from both.
neighbour=H-0002c90300000020
SIM_IBSMD_CONF="[Daemon]
PluginTimeoutSec=2s
[Probe]
Enabled=yes
Program=$(sim_make_probe "${NET_SPARE_HOSTS%% *}")
PollSec=1s
[SubnetManager]
NoStandbySec=1s
ExpectedSM=0x0002c90300000011" sim_start_ibsmd

sim_start_opensm opensm-a
sim_wait 60 'the subnet to be up' sim_fabric_up
sim_wait 20 'sm-no-standby' sim_alert sm-no-standby 'a["severity"]' '"notice"'
sim_wait 20 'sm-config, of the M_Key' sim_alert sm-config '1' '1, 1'
sim_alert sm-unexpected 1 '' || sim_fail 'the SM on the list is not expected'

sim_start_opensm opensm-b "$neighbour"
sim_wait 60 'sm-equal-priority, before any failover' sim_alert sm-equal-priority 'a["severity"]' '"warning"'
sim_wait 20 'sm-unexpected, by name' sim_alert sm-unexpected 'a["evidence"]["guid"]' '"0x0002c90300000021"'
# Where it stands is found with the next sweep.
kill -HUP "${SIM_PID[opensm-a]}"
sim_wait 20 'sm-placement: both on one switch' sim_alert sm-placement 'a["evidence"]["reasons"]' '["same-switch"]'
sim_wait 20 'a standby' sim_alert sm-no-standby 1 ''

# Killed, it is still known: it does not answer, until it is gone.
sim_kill opensm-b
sim_wait 30 'sm-unresponsive' sim_alert sm-unresponsive 'a["evidence"]["guid"]' '"0x0002c90300000021"'
sim_wait 30 'sm-no-standby again' sim_alert sm-no-standby 1 1

# Nobody is left: the plugin, then the master.
sim_kill opensm-a
sim_wait 20 'plugin-lost' sim_alert plugin-lost 'a["severity"]' '"warning"'
sim_wait 20 'sm-lost' sim_alert sm-lost 'a["severity"]' '"critical"'
