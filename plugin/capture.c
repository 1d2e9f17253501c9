// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// An event of opensm as a fixed-size wire record.

/*
 * Runs in opensm's callbacks, on any of its threads, with whatever lock opensm holds: nothing here
 * locks, allocates, loops over the fabric or calls the kernel but for the clock (vDSO). Event data
 * lives on the raising thread's stack or, for LFT_CHANGE, in a switch that opensm holds exclusively
 * locked for us, so both may be read until we return.
 *
 * opensm builds traps 64-67 on an uninitialised struct: each number is decoded into the fields that
 * IBTA gives it, and nothing else is looked at.
 */

#include "capture.h"

#include <string.h>
#include <time.h>

#include "ibsm/snapshot.h"

static uint64_t nsec(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct capture_time capture_now(void)
{
	return (struct capture_time){
		.monotonic_nsec = nsec(CLOCK_MONOTONIC),
		.realtime_nsec = nsec(CLOCK_REALTIME),
	};
}

void capture_header(struct ibsm_wire_header *header, uint16_t type, const struct capture_time *now)
{
	*header = (struct ibsm_wire_header){
		.magic = IBSM_WIRE_MAGIC,
		.version = IBSM_WIRE_VERSION,
		.type = type,
		.length = ibsm_wire_length(type),
		.monotonic_nsec = now->monotonic_nsec,
		.realtime_nsec = now->realtime_nsec,
	};
}

static bool errors_moved(const osm_epi_pe_event_t *e)
{
	return (e->symbol_err_cnt | e->link_err_recover | e->link_downed | e->rcv_err |
		e->rcv_rem_phys_err | e->rcv_switch_relay_err | e->xmit_discards |
		e->xmit_constraint_err | e->rcv_constraint_err | e->link_integrity |
		e->buffer_overrun | e->vl15_dropped | e->xmit_wait) != 0;
}

static bool data_moved(const osm_epi_dc_event_t *e)
{
	return (e->xmit_data | e->rcv_data | e->xmit_pkts | e->rcv_pkts | e->unicast_xmit_pkts |
		e->unicast_rcv_pkts | e->multicast_xmit_pkts | e->multicast_rcv_pkts) != 0;
}

enum capture_verdict capture_classify(osm_epi_event_id_t event, const void *data)
{
	switch (event) {
	case OSM_EVENT_ID_TRAP:
		return data ? CAPTURE_CONTROL : CAPTURE_UNKNOWN;
	case OSM_EVENT_ID_SUBNET_UP:
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
	case OSM_EVENT_ID_STATE_CHANGE:
	case OSM_EVENT_ID_SA_DB_DUMPED:
		return CAPTURE_CONTROL;
	case OSM_EVENT_ID_LFT_CHANGE:
		return data ? CAPTURE_BULK : CAPTURE_UNKNOWN;
	case OSM_EVENT_ID_PORT_ERRORS:
		if (!data)
			return CAPTURE_UNKNOWN;
		return errors_moved(data) ? CAPTURE_BULK : CAPTURE_ZERO;
	case OSM_EVENT_ID_PORT_DATA_COUNTERS:
		if (!data)
			return CAPTURE_UNKNOWN;
		return data_moved(data) ? CAPTURE_BULK : CAPTURE_ZERO;
	case OSM_EVENT_ID_PORT_SELECT:
		if (!data)
			return CAPTURE_UNKNOWN;
		return ((const osm_epi_ps_event_t *)data)->xmit_wait ? CAPTURE_BULK : CAPTURE_ZERO;
	default:
		return CAPTURE_UNKNOWN;
	}
}

uint32_t capture_sweep_flags(osm_opensm_t *osm)
{
	const osm_subn_t *subn = &osm->subn;
	uint32_t flags = 0;

	if (OSM_READ(subn->first_time_master_sweep))
		flags |= IBSM_SWEEP_FIRST_TIME_MASTER;
	if (OSM_READ(subn->coming_out_of_standby))
		flags |= IBSM_SWEEP_COMING_OUT_OF_STANDBY;
	if (OSM_READ(subn->subnet_initialization_error))
		flags |= IBSM_SWEEP_INITIALIZATION_ERROR;
	if (OSM_READ(subn->force_heavy_sweep))
		flags |= IBSM_SWEEP_FORCE_HEAVY;
	if (OSM_READ(subn->force_reroute))
		flags |= IBSM_SWEEP_FORCE_REROUTE;
	if (OSM_READ(subn->ignore_existing_lfts))
		flags |= IBSM_SWEEP_IGNORE_EXISTING_LFTS;
	if (OSM_READ(subn->opt.force_heavy_sweep))
		flags |= IBSM_SWEEP_OPT_FORCE_HEAVY;
	if (OSM_READ(subn->need_update))
		flags |= IBSM_SWEEP_NEED_UPDATE;
	if (!OSM_READ(subn->sweeping_enabled))
		flags |= IBSM_SWEEP_SWEEPING_DISABLED;
	if (OSM_READ(osm->sm.master_sm_found))
		flags |= IBSM_SWEEP_MASTER_SM_FOUND;
	return flags;
}

/* On the sweeper thread, which alone changes routing_engine_used. */
static void fill_sweep(osm_opensm_t *osm, osm_epi_event_id_t event, const void *data,
		       struct ibsm_wire_sweep *r)
{
	const struct osm_routing_engine *engine = OSM_READ(osm->routing_engine_used);

	r->sm_port_guid = cl_ntoh64(OSM_READ(osm->subn.sm_port_guid));
	r->master_sm_guid = cl_ntoh64(OSM_READ(osm->sm.master_sm_guid));
	r->sweep_flags = capture_sweep_flags(osm);
	if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE)
		/* The enum itself, not a pointer to it. */
		r->routing_kind = (uint32_t)(uintptr_t)data;
	r->qp0_mads_sent = (uint32_t)OSM_READ(osm->stats.qp0_mads_sent);
	r->qp0_mads_rcvd = (uint32_t)OSM_READ(osm->stats.qp0_mads_rcvd);
	r->qp0_mads_outstanding = (uint32_t)OSM_READ(osm->stats.qp0_mads_outstanding);
	r->sa_mads_rcvd = (uint32_t)OSM_READ(osm->stats.sa_mads_rcvd);
	r->sm_state = capture_state_now(osm);
	if (engine) {
		r->engine_known = 1;
		if (engine->name)
			memcpy(r->routing_engine, engine->name,
			       strnlen(engine->name, sizeof(r->routing_engine) - 1));
	}
}

/* The notice is packed: no pointer to its GIDs but as bytes. */
static void fill_gid(const uint8_t raw[16], uint64_t *ret_prefix, uint64_t *ret_guid)
{
	ib_gid_t gid;

	memcpy(gid.raw, raw, sizeof(gid.raw));
	*ret_prefix = cl_ntoh64(gid.unicast.prefix);
	*ret_guid = cl_ntoh64(gid.unicast.interface_id);
}

/* Notice.DataDetails by trap number: IBTA 14.2.5.1. */
static void fill_trap_details(uint16_t number, const ib_mad_notice_attr_t *n,
			      struct ibsm_wire_trap *r)
{
	switch (number) {
	case SM_GID_IN_SERVICE_TRAP:
	case SM_GID_OUT_OF_SERVICE_TRAP:
	case SM_MGID_CREATED_TRAP:
	case SM_MGID_DESTROYED_TRAP:
		r->fields = IBSM_TRAP_GID1;
		fill_gid(n->data_details.ntc_64_67.gid.raw, &r->gid1_prefix, &r->gid1_guid);
		break;
	case SM_LINK_STATE_CHANGED_TRAP:
		r->fields = IBSM_TRAP_LID1;
		r->lid1 = cl_ntoh16(n->data_details.ntc_128.sw_lid);
		break;
	case SM_LINK_INTEGRITY_THRESHOLD_TRAP:
	case SM_BUFFER_OVERRUN_THRESHOLD_TRAP:
	case SM_WATCHDOG_TIMER_EXPIRED_TRAP:
		r->fields = IBSM_TRAP_LID1 | IBSM_TRAP_PORT;
		r->lid1 = cl_ntoh16(n->data_details.ntc_129_131.lid);
		r->port = n->data_details.ntc_129_131.port_num;
		break;
	case SM_LOCAL_CHANGES_TRAP:
		r->fields = IBSM_TRAP_LID1 | IBSM_TRAP_CAPABILITY;
		r->lid1 = cl_ntoh16(n->data_details.ntc_144.lid);
		r->capability_mask = cl_ntoh32(n->data_details.ntc_144.new_cap_mask);
		r->capability_mask2 = cl_ntoh16(n->data_details.ntc_144.cap_mask2);
		/* The flags mean something only if the notice says that there are any. */
		if (n->data_details.ntc_144.local_changes & TRAP_144_MASK_OTHER_LOCAL_CHANGES)
			r->change_flags = cl_ntoh16(n->data_details.ntc_144.change_flgs);
		break;
	case SM_SYS_IMG_GUID_CHANGED_TRAP:
		r->fields = IBSM_TRAP_LID1 | IBSM_TRAP_GUID;
		r->lid1 = cl_ntoh16(n->data_details.ntc_145.lid);
		r->guid = cl_ntoh64(n->data_details.ntc_145.new_sys_guid);
		break;
	case SM_BAD_MKEY_TRAP:
		r->fields = IBSM_TRAP_LID1 | IBSM_TRAP_LID2 | IBSM_TRAP_METHOD;
		r->lid1 = cl_ntoh16(n->data_details.ntc_256.lid);
		r->lid2 = cl_ntoh16(n->data_details.ntc_256.dr_slid);
		r->method = n->data_details.ntc_256.method;
		r->attribute_id = cl_ntoh16(n->data_details.ntc_256.attr_id);
		r->attribute_modifier = cl_ntoh32(n->data_details.ntc_256.attr_mod);
		break;
	case SM_BAD_PKEY_TRAP:
	case SM_BAD_QKEY_TRAP:
		r->fields = IBSM_TRAP_LID1 | IBSM_TRAP_LID2 | IBSM_TRAP_GID1 | IBSM_TRAP_GID2 |
			    IBSM_TRAP_KEY | IBSM_TRAP_QP;
		r->lid1 = cl_ntoh16(n->data_details.ntc_257_258.lid1);
		r->lid2 = cl_ntoh16(n->data_details.ntc_257_258.lid2);
		r->key = cl_ntoh32(n->data_details.ntc_257_258.key);
		r->sl = (uint8_t)(cl_ntoh32(n->data_details.ntc_257_258.qp1) >> 28);
		r->qp1 = cl_ntoh32(n->data_details.ntc_257_258.qp1) & 0xffffff;
		r->qp2 = cl_ntoh32(n->data_details.ntc_257_258.qp2) & 0xffffff;
		fill_gid(n->data_details.ntc_257_258.gid1.raw, &r->gid1_prefix, &r->gid1_guid);
		fill_gid(n->data_details.ntc_257_258.gid2.raw, &r->gid2_prefix, &r->gid2_guid);
		break;
	case SM_BAD_SWITCH_PKEY_TRAP:
		r->fields = IBSM_TRAP_SW_LID | IBSM_TRAP_PORT;
		r->lid1 = cl_ntoh16(n->data_details.ntc_259.lid1);
		r->lid2 = cl_ntoh16(n->data_details.ntc_259.lid2);
		r->key = cl_ntoh16(n->data_details.ntc_259.pkey);
		r->sl = (uint8_t)(cl_ntoh32(n->data_details.ntc_259.sl_qp1) >> 28);
		r->qp1 = cl_ntoh32(n->data_details.ntc_259.sl_qp1) & 0xffffff;
		r->qp2 = cl_ntoh32(n->data_details.ntc_259.qp2) & 0xffffff;
		fill_gid(n->data_details.ntc_259.gid1.raw, &r->gid1_prefix, &r->gid1_guid);
		fill_gid(n->data_details.ntc_259.gid2.raw, &r->gid2_prefix, &r->gid2_guid);
		r->sw_lid = cl_ntoh16(n->data_details.ntc_259.sw_lid);
		r->port = n->data_details.ntc_259.port_no;
		/* DataValid tells what else the switch filled in, but implementations do not agree
		 * on its bits: a field that is 0 is not given. */
		if (r->lid1)
			r->fields |= IBSM_TRAP_LID1;
		if (r->lid2)
			r->fields |= IBSM_TRAP_LID2;
		if (r->key)
			r->fields |= IBSM_TRAP_KEY;
		if (r->qp1 | r->qp2)
			r->fields |= IBSM_TRAP_QP;
		if (r->gid1_prefix | r->gid1_guid)
			r->fields |= IBSM_TRAP_GID1;
		if (r->gid2_prefix | r->gid2_guid)
			r->fields |= IBSM_TRAP_GID2;
		break;
	default:
		break;
	}
}

/* opensm itself raises these, on a struct whose toggle count it never sets. */
static bool raised_by_opensm(uint16_t number)
{
	return number >= SM_GID_IN_SERVICE_TRAP && number <= SM_MGID_DESTROYED_TRAP;
}

static void fill_trap(osm_opensm_t *osm, const ib_mad_notice_attr_t *n, struct ibsm_wire_trap *r)
{
	r->is_generic = ib_notice_is_generic(n) ? 1 : 0;
	r->notice_type = ib_notice_get_type(n);
	r->issuer_lid = cl_ntoh16(n->issuer_lid);
	r->sm_state = capture_state_now(osm);
	if (!r->is_generic) {
		r->vendor_id = (uint32_t)n->g_or_v.vend.vend_id_msb << 16 |
			       cl_ntoh16(n->g_or_v.vend.vend_id_lsb);
		r->number = cl_ntoh16(n->g_or_v.vend.dev_id);
		r->toggle_count = cl_ntoh16(n->toggle_count);
		return;
	}
	r->number = cl_ntoh16(n->g_or_v.generic.trap_num);
	r->producer = (uint8_t)cl_ntoh16(n->g_or_v.generic.prod_type_lsb);
	if (!raised_by_opensm(r->number))
		r->toggle_count = cl_ntoh16(n->toggle_count);
	fill_trap_details(r->number, n, r);
}

/* Under opensm's exclusive lock, which its raiser holds: the switch and its table stand still. */
static void fill_lft_change(osm_opensm_t *osm, const osm_epi_lft_change_event_t *e,
			    struct ibsm_wire_lft_change *r)
{
	const osm_switch_t *sw = e->p_sw;
	size_t from = (size_t)e->block_num * IBSM_LFT_BLOCK_LIDS;

	r->change = (uint32_t)e->flags;
	r->block = e->block_num;
	r->lft_top = e->lft_top;
	r->sm_state = capture_state_now(osm);
	memset(r->ports, IBSM_LFT_NO_PATH, sizeof(r->ports));
	if (!sw)
		return;
	if (sw->p_node) {
		r->node_guid = cl_ntoh64(sw->p_node->node_info.node_guid);
		if (sw->p_node->physp_tbl_size > 0)
			r->lid = cl_ntoh16(sw->p_node->physp_table[0].port_info.base_lid);
	}
	if ((e->flags & LFT_CHANGED_BLOCK) && sw->lft && from < sw->lft_size) {
		size_t n = sw->lft_size - from;

		memcpy(r->ports, sw->lft + from, n < sizeof(r->ports) ? n : sizeof(r->ports));
	}
}

/* perfmgr gives node GUIDs in host order already. */
static void fill_port_errors(const osm_epi_pe_event_t *e, struct ibsm_wire_port_errors *r)
{
	r->node_guid = e->port_id.node_guid;
	r->port = e->port_id.port_num;
	r->time_diff_sec = (uint64_t)e->time_diff_s;
	r->symbol_err_cnt = e->symbol_err_cnt;
	r->link_err_recover = e->link_err_recover;
	r->link_downed = e->link_downed;
	r->rcv_err = e->rcv_err;
	r->rcv_rem_phys_err = e->rcv_rem_phys_err;
	r->rcv_switch_relay_err = e->rcv_switch_relay_err;
	r->xmit_discards = e->xmit_discards;
	r->xmit_constraint_err = e->xmit_constraint_err;
	r->rcv_constraint_err = e->rcv_constraint_err;
	r->link_integrity = e->link_integrity;
	r->buffer_overrun = e->buffer_overrun;
	r->vl15_dropped = e->vl15_dropped;
	r->xmit_wait = e->xmit_wait;
}

static void fill_port_data(const osm_epi_dc_event_t *e, struct ibsm_wire_port_data *r)
{
	r->node_guid = e->port_id.node_guid;
	r->port = e->port_id.port_num;
	r->time_diff_sec = (uint64_t)e->time_diff_s;
	r->xmit_data = e->xmit_data;
	r->rcv_data = e->rcv_data;
	r->xmit_pkts = e->xmit_pkts;
	r->rcv_pkts = e->rcv_pkts;
	r->unicast_xmit_pkts = e->unicast_xmit_pkts;
	r->unicast_rcv_pkts = e->unicast_rcv_pkts;
	r->multicast_xmit_pkts = e->multicast_xmit_pkts;
	r->multicast_rcv_pkts = e->multicast_rcv_pkts;
}

static void fill_port_select(const osm_epi_ps_event_t *e, struct ibsm_wire_port_select *r)
{
	r->node_guid = e->port_id.node_guid;
	r->port = e->port_id.port_num;
	r->time_diff_sec = (uint64_t)e->time_diff_s;
	r->xmit_wait = e->xmit_wait;
}

static uint16_t wire_type(osm_epi_event_id_t event)
{
	switch (event) {
	case OSM_EVENT_ID_PORT_ERRORS:
		return IBSM_WIRE_PORT_ERRORS;
	case OSM_EVENT_ID_PORT_DATA_COUNTERS:
		return IBSM_WIRE_PORT_DATA_COUNTERS;
	case OSM_EVENT_ID_PORT_SELECT:
		return IBSM_WIRE_PORT_SELECT;
	case OSM_EVENT_ID_TRAP:
		return IBSM_WIRE_TRAP;
	case OSM_EVENT_ID_SUBNET_UP:
		return IBSM_WIRE_SUBNET_UP;
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		return IBSM_WIRE_HEAVY_SWEEP_START;
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
		return IBSM_WIRE_HEAVY_SWEEP_DONE;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
		return IBSM_WIRE_UCAST_ROUTING_DONE;
	case OSM_EVENT_ID_STATE_CHANGE:
		return IBSM_WIRE_STATE_CHANGE;
	case OSM_EVENT_ID_SA_DB_DUMPED:
		return IBSM_WIRE_SA_DB_DUMPED;
	case OSM_EVENT_ID_LFT_CHANGE:
		return IBSM_WIRE_LFT_CHANGE;
	case OSM_EVENT_ID_MAX:
		break;
	}
	return 0;
}

void capture_event(osm_opensm_t *osm, osm_epi_event_id_t event, const void *data,
		   const struct capture_time *now, union ring_record *record)
{
	memset(record, 0, sizeof(*record));
	capture_header(&record->header, wire_type(event), now);

	switch (event) {
	case OSM_EVENT_ID_TRAP:
		fill_trap(osm, data, &record->trap);
		break;
	case OSM_EVENT_ID_LFT_CHANGE:
		fill_lft_change(osm, data, &record->lft_change);
		break;
	case OSM_EVENT_ID_PORT_ERRORS:
		fill_port_errors(data, &record->port_errors);
		break;
	case OSM_EVENT_ID_PORT_DATA_COUNTERS:
		fill_port_data(data, &record->port_data);
		break;
	case OSM_EVENT_ID_PORT_SELECT:
		fill_port_select(data, &record->port_select);
		break;
	default:
		fill_sweep(osm, event, data, &record->sweep);
		break;
	}
}

void capture_sm_state(osm_opensm_t *osm, uint8_t old_state, uint8_t new_state,
		      const struct capture_time *now, union ring_record *record)
{
	memset(record, 0, sizeof(*record));
	capture_header(&record->header, IBSM_WIRE_SM_STATE, now);
	record->sm_state.sm_port_guid = cl_ntoh64(OSM_READ(osm->subn.sm_port_guid));
	record->sm_state.master_sm_guid = cl_ntoh64(OSM_READ(osm->sm.master_sm_guid));
	record->sm_state.old_state = old_state;
	record->sm_state.new_state = new_state;
}
