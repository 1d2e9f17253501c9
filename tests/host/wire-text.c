// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One wire record as one line of text.

#include "wire-text.h"

#include <inttypes.h>
#include <string.h>

#include "ibsm/wire.h"
#include "util/cleanup.h"

static const char *type_name(uint16_t type)
{
	static const struct {
		uint16_t type;
		const char *name;
	} names[] = {
		{IBSM_WIRE_HELLO, "HELLO"},
		{IBSM_WIRE_HEARTBEAT, "HEARTBEAT"},
		{IBSM_WIRE_DROPS, "DROPS"},
		{IBSM_WIRE_SNAPSHOT, "SNAPSHOT"},
		{IBSM_WIRE_SM_STATE, "SM_STATE"},
		{IBSM_WIRE_HEAVY_SWEEP_START, "HEAVY_SWEEP_START"},
		{IBSM_WIRE_HEAVY_SWEEP_DONE, "HEAVY_SWEEP_DONE"},
		{IBSM_WIRE_UCAST_ROUTING_DONE, "UCAST_ROUTING_DONE"},
		{IBSM_WIRE_SUBNET_UP, "SUBNET_UP"},
		{IBSM_WIRE_STATE_CHANGE, "STATE_CHANGE"},
		{IBSM_WIRE_SA_DB_DUMPED, "SA_DB_DUMPED"},
		{IBSM_WIRE_TRAP, "TRAP"},
		{IBSM_WIRE_LFT_CHANGE, "LFT_CHANGE"},
		{IBSM_WIRE_PORT_ERRORS, "PORT_ERRORS"},
		{IBSM_WIRE_PORT_DATA_COUNTERS, "PORT_DATA_COUNTERS"},
		{IBSM_WIRE_PORT_SELECT, "PORT_SELECT"},
	};

	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		if (names[i].type == type)
			return names[i].name;
	return "UNKNOWN";
}

static void put_string(FILE *out, const char *key, const char *text, size_t bytes)
{
	fprintf(out, " %s=\"", key);
	for (size_t i = 0; i < bytes && text[i] != '\0'; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, " %s=%" PRIu64, key, value);
}

static void put_hex(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, " %s=0x%" PRIx64, key, value);
}

static void put_guid(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, " %s=0x%016" PRIx64, key, value);
}

static void put_counts(FILE *out, const char *key, const struct ibsm_wire_ring_counts *c)
{
	fprintf(out, " %s=%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64, key, c->raised, c->sent,
		c->dropped_full, c->dropped_absent);
}

static void put_hello(FILE *out, const struct ibsm_wire_hello *r)
{
	fprintf(out, " boot_id=");
	for (size_t i = 0; i < sizeof(r->boot_id); i++)
		fprintf(out, "%02x", r->boot_id[i]);
	put_hex(out, "instance", r->instance);
	put_number(out, "first_sequence", r->first_sequence);
	put_number(out, "start_realtime_nsec", r->start_realtime_nsec);
	put_guid(out, "sm_port_guid", r->sm_port_guid);
	put_guid(out, "subnet_prefix", r->subnet_prefix);
	put_number(out, "generation", r->generation);
	put_number(out, "pid", r->pid);
	put_number(out, "connection", r->connection);
	put_number(out, "ring_records_control", r->ring_records_control);
	put_number(out, "ring_records_bulk", r->ring_records_bulk);
	put_number(out, "sweep_interval_sec", r->sweep_interval_sec);
	put_number(out, "sminfo_polling_timeout_msec", r->sminfo_polling_timeout_msec);
	put_number(out, "polling_retry_number", r->polling_retry_number);
	put_hex(out, "hello_flags", r->hello_flags);
	put_number(out, "sm_state", r->sm_state);
	put_number(out, "sm_priority", r->sm_priority);
	put_number(out, "lmc", r->lmc);
	put_string(out, "plugin_version", r->plugin_version, sizeof(r->plugin_version));
	put_string(out, "opensm_version", r->opensm_version, sizeof(r->opensm_version));
	put_string(out, "host_name", r->host_name, sizeof(r->host_name));
	put_string(out, "routing_engines", r->routing_engines, sizeof(r->routing_engines));
}

static void put_heartbeat(FILE *out, const struct ibsm_wire_heartbeat *r)
{
	put_counts(out, "control", &r->control);
	put_counts(out, "bulk", &r->bulk);
	put_number(out, "zero_deltas", r->zero_deltas);
	put_number(out, "unknown_events", r->unknown_events);
	put_number(out, "snapshots_taken", r->snapshots_taken);
	put_number(out, "snapshots_skipped", r->snapshots_skipped);
	put_number(out, "snapshot_lock_nsec", r->snapshot_lock_nsec);
	put_number(out, "snapshot_lock_max_nsec", r->snapshot_lock_max_nsec);
	put_number(out, "callback_nsec", r->callback_nsec);
	put_number(out, "qp0_mads_sent", r->qp0_mads_sent);
	put_number(out, "qp0_mads_rcvd", r->qp0_mads_rcvd);
	put_guid(out, "sm_port_guid", r->sm_port_guid);
	put_number(out, "qp0_mads_outstanding", r->qp0_mads_outstanding);
	put_number(out, "qp0_mads_outstanding_on_wire", r->qp0_mads_outstanding_on_wire);
	put_number(out, "sm_state", r->sm_state);
}

static void put_drops(FILE *out, const struct ibsm_wire_drops *r)
{
	put_counts(out, "control", &r->control);
	put_counts(out, "bulk", &r->bulk);
	put_number(out, "since_control", r->since_control);
	put_number(out, "since_bulk", r->since_bulk);
	put_number(out, "first_monotonic_nsec", r->first_monotonic_nsec);
	put_number(out, "last_monotonic_nsec", r->last_monotonic_nsec);
}

static void put_snapshot(FILE *out, const struct ibsm_wire_snapshot *r)
{
	put_number(out, "generation", r->generation);
	put_number(out, "size_bytes", r->size_bytes);
	put_number(out, "lock_nsec", r->lock_nsec);
	put_number(out, "reason", r->reason);
	put_number(out, "full", r->full);
}

static void put_sm_state(FILE *out, const struct ibsm_wire_sm_state *r)
{
	put_guid(out, "sm_port_guid", r->sm_port_guid);
	put_guid(out, "master_sm_guid", r->master_sm_guid);
	put_number(out, "old_state", r->old_state);
	put_number(out, "new_state", r->new_state);
}

static void put_sweep(FILE *out, const struct ibsm_wire_sweep *r)
{
	put_guid(out, "sm_port_guid", r->sm_port_guid);
	put_guid(out, "master_sm_guid", r->master_sm_guid);
	put_hex(out, "sweep_flags", r->sweep_flags);
	put_number(out, "routing_kind", r->routing_kind);
	put_number(out, "qp0_mads_sent", r->qp0_mads_sent);
	put_number(out, "qp0_mads_rcvd", r->qp0_mads_rcvd);
	put_number(out, "qp0_mads_outstanding", r->qp0_mads_outstanding);
	put_number(out, "sa_mads_rcvd", r->sa_mads_rcvd);
	put_number(out, "sm_state", r->sm_state);
	put_number(out, "engine_known", r->engine_known);
	put_string(out, "routing_engine", r->routing_engine, sizeof(r->routing_engine));
}

static void put_trap(FILE *out, const struct ibsm_wire_trap *r)
{
	put_number(out, "number", r->number);
	put_number(out, "generic", r->is_generic);
	put_number(out, "notice_type", r->notice_type);
	put_number(out, "producer", r->producer);
	put_hex(out, "vendor_id", r->vendor_id);
	put_number(out, "issuer_lid", r->issuer_lid);
	put_hex(out, "toggle_count", r->toggle_count);
	put_number(out, "sm_state", r->sm_state);
	if (r->fields & IBSM_TRAP_LID1)
		put_number(out, "lid1", r->lid1);
	if (r->fields & IBSM_TRAP_LID2)
		put_number(out, "lid2", r->lid2);
	if (r->fields & IBSM_TRAP_PORT)
		put_number(out, "port", r->port);
	if (r->fields & IBSM_TRAP_GID1) {
		put_guid(out, "gid1_prefix", r->gid1_prefix);
		put_guid(out, "gid1_guid", r->gid1_guid);
	}
	if (r->fields & IBSM_TRAP_GID2) {
		put_guid(out, "gid2_prefix", r->gid2_prefix);
		put_guid(out, "gid2_guid", r->gid2_guid);
	}
	if (r->fields & IBSM_TRAP_GUID)
		put_guid(out, "guid", r->guid);
	if (r->fields & IBSM_TRAP_CAPABILITY) {
		put_hex(out, "capability_mask", r->capability_mask);
		put_hex(out, "capability_mask2", r->capability_mask2);
		put_hex(out, "change_flags", r->change_flags);
	}
	if (r->fields & IBSM_TRAP_KEY)
		put_hex(out, "key", r->key);
	if (r->fields & IBSM_TRAP_QP) {
		put_number(out, "sl", r->sl);
		put_hex(out, "qp1", r->qp1);
		put_hex(out, "qp2", r->qp2);
	}
	if (r->fields & IBSM_TRAP_METHOD) {
		put_hex(out, "method", r->method);
		put_hex(out, "attribute_id", r->attribute_id);
		put_hex(out, "attribute_modifier", r->attribute_modifier);
	}
	if (r->fields & IBSM_TRAP_SW_LID)
		put_number(out, "sw_lid", r->sw_lid);
}

static void put_lft_change(FILE *out, const struct ibsm_wire_lft_change *r)
{
	put_guid(out, "node_guid", r->node_guid);
	put_number(out, "lid", r->lid);
	put_hex(out, "change", r->change);
	put_number(out, "sm_state", r->sm_state);
	if (r->change & IBSM_LFT_CHANGED_TOP)
		put_number(out, "lft_top", r->lft_top);
	if (r->change & IBSM_LFT_CHANGED_BLOCK) {
		put_number(out, "block", r->block);
		fprintf(out, " ports=");
		for (size_t i = 0; i < sizeof(r->ports); i++)
			fprintf(out, "%02x", r->ports[i]);
	}
}

static void put_port_errors(FILE *out, const struct ibsm_wire_port_errors *r)
{
	put_guid(out, "node_guid", r->node_guid);
	put_number(out, "port", r->port);
	put_number(out, "time_diff_sec", r->time_diff_sec);
	put_number(out, "symbol_err_cnt", r->symbol_err_cnt);
	put_number(out, "link_err_recover", r->link_err_recover);
	put_number(out, "link_downed", r->link_downed);
	put_number(out, "rcv_err", r->rcv_err);
	put_number(out, "rcv_rem_phys_err", r->rcv_rem_phys_err);
	put_number(out, "rcv_switch_relay_err", r->rcv_switch_relay_err);
	put_number(out, "xmit_discards", r->xmit_discards);
	put_number(out, "xmit_constraint_err", r->xmit_constraint_err);
	put_number(out, "rcv_constraint_err", r->rcv_constraint_err);
	put_number(out, "link_integrity", r->link_integrity);
	put_number(out, "buffer_overrun", r->buffer_overrun);
	put_number(out, "vl15_dropped", r->vl15_dropped);
	put_number(out, "xmit_wait", r->xmit_wait);
}

static void put_port_data(FILE *out, const struct ibsm_wire_port_data *r)
{
	put_guid(out, "node_guid", r->node_guid);
	put_number(out, "port", r->port);
	put_number(out, "time_diff_sec", r->time_diff_sec);
	put_number(out, "xmit_data", r->xmit_data);
	put_number(out, "rcv_data", r->rcv_data);
	put_number(out, "xmit_pkts", r->xmit_pkts);
	put_number(out, "rcv_pkts", r->rcv_pkts);
	put_number(out, "unicast_xmit_pkts", r->unicast_xmit_pkts);
	put_number(out, "unicast_rcv_pkts", r->unicast_rcv_pkts);
	put_number(out, "multicast_xmit_pkts", r->multicast_xmit_pkts);
	put_number(out, "multicast_rcv_pkts", r->multicast_rcv_pkts);
}

static void put_port_select(FILE *out, const struct ibsm_wire_port_select *r)
{
	put_guid(out, "node_guid", r->node_guid);
	put_number(out, "port", r->port);
	put_number(out, "time_diff_sec", r->time_diff_sec);
	put_number(out, "xmit_wait", r->xmit_wait);
}

static void put_body(FILE *out, const union ibsm_wire_record *r)
{
	switch (r->header.type) {
	case IBSM_WIRE_HELLO:
		put_hello(out, &r->hello);
		break;
	case IBSM_WIRE_HEARTBEAT:
		put_heartbeat(out, &r->heartbeat);
		break;
	case IBSM_WIRE_DROPS:
		put_drops(out, &r->drops);
		break;
	case IBSM_WIRE_SNAPSHOT:
		put_snapshot(out, &r->snapshot);
		break;
	case IBSM_WIRE_SM_STATE:
		put_sm_state(out, &r->sm_state);
		break;
	case IBSM_WIRE_HEAVY_SWEEP_START:
	case IBSM_WIRE_HEAVY_SWEEP_DONE:
	case IBSM_WIRE_UCAST_ROUTING_DONE:
	case IBSM_WIRE_SUBNET_UP:
	case IBSM_WIRE_STATE_CHANGE:
	case IBSM_WIRE_SA_DB_DUMPED:
		put_sweep(out, &r->sweep);
		break;
	case IBSM_WIRE_TRAP:
		put_trap(out, &r->trap);
		break;
	case IBSM_WIRE_LFT_CHANGE:
		put_lft_change(out, &r->lft_change);
		break;
	case IBSM_WIRE_PORT_ERRORS:
		put_port_errors(out, &r->port_errors);
		break;
	case IBSM_WIRE_PORT_DATA_COUNTERS:
		put_port_data(out, &r->port_data);
		break;
	case IBSM_WIRE_PORT_SELECT:
		put_port_select(out, &r->port_select);
		break;
	default:
		put_number(out, "type", r->header.type);
		break;
	}
}

void wire_text(FILE *out, const void *datagram, size_t bytes)
{
	union ibsm_wire_record record = {0};

	memcpy(&record, datagram, bytes < sizeof(record) ? bytes : sizeof(record));
	if (bytes < sizeof(record.header) || record.header.magic != IBSM_WIRE_MAGIC ||
	    record.header.version != IBSM_WIRE_VERSION || record.header.length != bytes) {
		fprintf(out, "INVALID bytes=%zu\n", bytes);
		return;
	}
	fprintf(out, "seq=%" PRIu64 " %s mono=%" PRIu64 " real=%" PRIu64, record.header.sequence,
		type_name(record.header.type), record.header.monotonic_nsec,
		record.header.realtime_nsec);
	put_body(out, &record);
	fputc('\n', out);
}
