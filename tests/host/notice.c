// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Trap notices as a node sends them, from plain fields.

#include "notice.h"

#include <string.h>

#include "fake-osm.h"

static void fill_details(const struct notice *n, ib_mad_notice_attr_t *r)
{
	switch (n->number) {
	case SM_GID_IN_SERVICE_TRAP:
	case SM_GID_OUT_OF_SERVICE_TRAP:
	case SM_MGID_CREATED_TRAP:
	case SM_MGID_DESTROYED_TRAP:
		memcpy(r->data_details.ntc_64_67.gid.raw, n->gid1, 16);
		break;
	case SM_LINK_STATE_CHANGED_TRAP:
		r->data_details.ntc_128.sw_lid = cl_hton16(n->lid1);
		break;
	case SM_LINK_INTEGRITY_THRESHOLD_TRAP:
	case SM_BUFFER_OVERRUN_THRESHOLD_TRAP:
	case SM_WATCHDOG_TIMER_EXPIRED_TRAP:
		r->data_details.ntc_129_131.lid = cl_hton16(n->lid1);
		r->data_details.ntc_129_131.port_num = n->port;
		break;
	case SM_LOCAL_CHANGES_TRAP:
		r->data_details.ntc_144.lid = cl_hton16(n->lid1);
		r->data_details.ntc_144.local_changes = n->change ? 1 : 0;
		r->data_details.ntc_144.new_cap_mask = cl_hton32(n->capability);
		r->data_details.ntc_144.change_flgs = cl_hton16(n->change);
		r->data_details.ntc_144.cap_mask2 = cl_hton16(n->capability2);
		break;
	case SM_SYS_IMG_GUID_CHANGED_TRAP:
		r->data_details.ntc_145.lid = cl_hton16(n->lid1);
		r->data_details.ntc_145.new_sys_guid = cl_hton64(n->guid);
		break;
	case SM_BAD_MKEY_TRAP:
		r->data_details.ntc_256.lid = cl_hton16(n->lid1);
		r->data_details.ntc_256.dr_slid = cl_hton16(n->lid2);
		r->data_details.ntc_256.method = n->method;
		r->data_details.ntc_256.attr_id = cl_hton16(n->attribute);
		r->data_details.ntc_256.attr_mod = cl_hton32(n->modifier);
		r->data_details.ntc_256.mkey = cl_hton64(FAKE_SECRET_KEY);
		break;
	case SM_BAD_PKEY_TRAP:
	case SM_BAD_QKEY_TRAP:
		r->data_details.ntc_257_258.lid1 = cl_hton16(n->lid1);
		r->data_details.ntc_257_258.lid2 = cl_hton16(n->lid2);
		r->data_details.ntc_257_258.key = cl_hton32(n->key);
		r->data_details.ntc_257_258.qp1 = cl_hton32((uint32_t)n->sl << 28 | n->qp1);
		r->data_details.ntc_257_258.qp2 = cl_hton32(n->qp2);
		memcpy(r->data_details.ntc_257_258.gid1.raw, n->gid1, 16);
		memcpy(r->data_details.ntc_257_258.gid2.raw, n->gid2, 16);
		break;
	case SM_BAD_SWITCH_PKEY_TRAP:
		r->data_details.ntc_259.data_valid = 0xffff;
		r->data_details.ntc_259.lid1 = cl_hton16(n->lid1);
		r->data_details.ntc_259.lid2 = cl_hton16(n->lid2);
		r->data_details.ntc_259.pkey = cl_hton16((uint16_t)n->key);
		r->data_details.ntc_259.sl_qp1 = cl_hton32((uint32_t)n->sl << 28 | n->qp1);
		r->data_details.ntc_259.qp2 = cl_hton32(n->qp2);
		memcpy(r->data_details.ntc_259.gid1.raw, n->gid1, 16);
		memcpy(r->data_details.ntc_259.gid2.raw, n->gid2, 16);
		r->data_details.ntc_259.sw_lid = cl_hton16(n->sw_lid);
		r->data_details.ntc_259.port_no = n->port;
		break;
	default:
		break;
	}
}

void notice_fill(const struct notice *n, ib_mad_notice_attr_t *ret_notice)
{
	ib_mad_notice_attr_t *r = ret_notice;

	memset(r, 0xa5, sizeof(*r));
	r->generic_type = (uint8_t)((n->generic ? 0x80 : 0) | n->type);
	r->issuer_lid = cl_hton16(n->issuer_lid);
	if (!n->generic) {
		r->toggle_count = cl_hton16(n->toggle_count);
		r->g_or_v.vend.vend_id_msb = (uint8_t)(n->vendor >> 16);
		r->g_or_v.vend.vend_id_lsb = cl_hton16((uint16_t)n->vendor);
		r->g_or_v.vend.dev_id = cl_hton16(n->number);
		return;
	}
	if (n->number < SM_GID_IN_SERVICE_TRAP || n->number > SM_MGID_DESTROYED_TRAP)
		r->toggle_count = cl_hton16(n->toggle_count);
	r->g_or_v.generic.prod_type_msb = 0;
	r->g_or_v.generic.prod_type_lsb = cl_hton16(n->producer);
	r->g_or_v.generic.trap_num = cl_hton16(n->number);
	fill_details(n, r);
}
