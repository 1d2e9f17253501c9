// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Get requests that ibsm-probe can send: how each is built, and what its answer says.
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "probe/get.h"
#include "util/cleanup.h"

/* Everything that can be sent. */
struct get {
	uint16_t type;
	uint8_t class;
	uint16_t attribute;
};

static const struct get gets[] = {
	{IBSM_PROBE_LOCAL, IB_SMI_DIRECT_CLASS, IB_ATTR_PORT_INFO},
	{IBSM_PROBE_SM_INFO, IB_SMI_CLASS, IB_ATTR_SMINFO},
	{IBSM_PROBE_NODE_INFO, IB_SMI_CLASS, IB_ATTR_NODE_INFO},
	{IBSM_PROBE_NODE_DESC, IB_SMI_CLASS, IB_ATTR_NODE_DESC},
	{IBSM_PROBE_PORT_INFO, IB_SMI_CLASS, IB_ATTR_PORT_INFO},
	{IBSM_PROBE_COUNTERS, IB_PERFORMANCE_CLASS, IB_GSI_PORT_COUNTERS},
	{IBSM_PROBE_COUNTERS_EXT, IB_PERFORMANCE_CLASS, IB_GSI_PORT_COUNTERS_EXT},
};

static const struct get *get_of(uint16_t type)
{
	for (size_t i = 0; i < ELEMENTSOF(gets); i++)
		if (gets[i].type == type)
			return &gets[i];
	return NULL;
}

/* Where the MAD begins depends on the kernel's umad ABI: libibumad knows. */
static void *mad_of(const union get_buffer *buffer)
{
	return umad_get_mad((void *)buffer);
}

int get_class(uint16_t type)
{
	const struct get *get = get_of(type);

	return get ? get->class : 0;
}

_Static_assert(IB_SMP_DATA_OFFS == IB_PC_DATA_OFFS, "SMPs and PMA's MADs differ in their layout");

void get_build(const struct ibsm_probe_order *order, uint32_t tid, union get_buffer *ret_buffer)
{
	const struct get *get = get_of(order->header.type);
	const bool smp = get->class != IB_PERFORMANCE_CLASS;
	uint8_t data[IB_PC_DATA_SZ] = {};
	ib_rpc_t rpc = {
		.mgtclass = get->class,
		.method = IB_MAD_METHOD_GET,
		.attr = {.id = get->attribute,
			 .mod = get->attribute == IB_ATTR_PORT_INFO ? order->port : 0},
		.trid = tid,
		.dataoffs = IB_SMP_DATA_OFFS,
		.datasz = smp ? IB_SMP_DATA_SIZE : IB_PC_DATA_SZ,
	};
	ib_portid_t to = {.lid = order->lid};

	memset(ret_buffer, 0, sizeof(*ret_buffer));
	if (!smp) {
		to.qp = 1;
		to.qkey = IB_DEFAULT_QP1_QKEY;
		mad_set_field(data, 0, IB_PC_PORT_SELECT_F, order->port);
	}
	mad_build_pkt(ret_buffer, &rpc, &to, NULL, data);
}

bool get_may_be_sent(const union get_buffer *buffer)
{
	const struct umad_smp *mad = mad_of(buffer);

	if (mad->base_version != UMAD_BASE_VERSION || mad->method != UMAD_METHOD_GET)
		return false;
	for (size_t i = 0; i < ELEMENTSOF(gets); i++)
		if (mad->mgmt_class == gets[i].class && be16toh(mad->attr_id) == gets[i].attribute)
			return true;
	return false;
}

void get_wipe_keys(union get_buffer *buffer)
{
	struct umad_smp *mad = mad_of(buffer);

	if (mad->mgmt_class != UMAD_CLASS_SUBN_LID_ROUTED &&
	    mad->mgmt_class != UMAD_CLASS_SUBN_DIRECTED_ROUTE)
		return;
	explicit_bzero(&mad->mkey, sizeof(mad->mkey));
	/* SMInfo: GUID, then SM_Key. PortInfo: M_Key first. */
	if (be16toh(mad->attr_id) == UMAD_SM_ATTR_SM_INFO)
		explicit_bzero(mad->data + 8, 8);
	if (be16toh(mad->attr_id) == UMAD_SM_ATTR_PORT_INFO)
		explicit_bzero(mad->data, 8);
}

uint32_t get_tid(const union get_buffer *buffer)
{
	const struct umad_smp *mad = mad_of(buffer);

	return (uint32_t)be64toh(mad->tid);
}

static void decode_port_info(uint8_t *d, struct ibsm_probe_reply_port_info *r)
{
	r->source = IBSM_PROBE_SOURCE_MAD;
	r->gid_prefix = mad_get_field64(d, 0, IB_PORT_GID_PREFIX_F);
	r->capability_mask = mad_get_field(d, 0, IB_PORT_CAPMASK_F);
	r->lid = (uint16_t)mad_get_field(d, 0, IB_PORT_LID_F);
	r->sm_lid = (uint16_t)mad_get_field(d, 0, IB_PORT_SMLID_F);
	r->state = (uint8_t)mad_get_field(d, 0, IB_PORT_STATE_F);
	r->physical_state = (uint8_t)mad_get_field(d, 0, IB_PORT_PHYS_STATE_F);
	r->lmc = (uint8_t)mad_get_field(d, 0, IB_PORT_LMC_F);
	r->sm_sl = (uint8_t)mad_get_field(d, 0, IB_PORT_SMSL_F);
	r->local_port = (uint8_t)mad_get_field(d, 0, IB_PORT_LOCAL_PORT_F);
	r->width_active = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_WIDTH_ACTIVE_F);
	r->width_enabled = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_WIDTH_ENABLED_F);
	r->width_supported = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_WIDTH_SUPPORTED_F);
	r->speed_active = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_SPEED_ACTIVE_F);
	r->speed_enabled = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_SPEED_ENABLED_F);
	r->speed_supported = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_SPEED_SUPPORTED_F);
	r->speed_ext_active = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
	r->speed_ext_enabled = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_SPEED_EXT_ENABLED_F);
	r->speed_ext_supported = (uint8_t)mad_get_field(d, 0, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F);
	r->mtu_active = (uint8_t)mad_get_field(d, 0, IB_PORT_NEIGHBOR_MTU_F);
	r->mtu_supported = (uint8_t)mad_get_field(d, 0, IB_PORT_MTU_CAP_F);
	r->vl_supported = (uint8_t)mad_get_field(d, 0, IB_PORT_VL_CAP_F);
	r->vl_operational = (uint8_t)mad_get_field(d, 0, IB_PORT_OPER_VLS_F);
	r->subnet_timeout = (uint8_t)mad_get_field(d, 0, IB_PORT_SUBN_TIMEOUT_F);
	r->m_key_violations = (uint16_t)mad_get_field(d, 0, IB_PORT_MKEY_VIOL_F);
	r->p_key_violations = (uint16_t)mad_get_field(d, 0, IB_PORT_PKEY_VIOL_F);
	r->q_key_violations = (uint16_t)mad_get_field(d, 0, IB_PORT_QKEY_VIOL_F);
	r->local_phy_errors = (uint8_t)mad_get_field(d, 0, IB_PORT_LOCAL_PHYS_ERR_F);
	r->overrun_errors = (uint8_t)mad_get_field(d, 0, IB_PORT_OVERRUN_ERR_F);
}

static void decode_sm_info(uint8_t *d, struct ibsm_probe_reply_sm_info *r)
{
	r->guid = mad_get_field64(d, 0, IB_SMINFO_GUID_F);
	r->act_count = mad_get_field(d, 0, IB_SMINFO_ACT_F);
	r->priority = (uint8_t)mad_get_field(d, 0, IB_SMINFO_PRIO_F);
	r->state = (uint8_t)mad_get_field(d, 0, IB_SMINFO_STATE_F);
}

static void decode_node_info(uint8_t *d, struct ibsm_probe_reply_node_info *r)
{
	r->system_image_guid = mad_get_field64(d, 0, IB_NODE_SYSTEM_GUID_F);
	r->node_guid = mad_get_field64(d, 0, IB_NODE_GUID_F);
	r->port_guid = mad_get_field64(d, 0, IB_NODE_PORT_GUID_F);
	r->revision = mad_get_field(d, 0, IB_NODE_REVISION_F);
	r->vendor_id = mad_get_field(d, 0, IB_NODE_VENDORID_F);
	r->partition_cap = (uint16_t)mad_get_field(d, 0, IB_NODE_PARTITION_CAP_F);
	r->device_id = (uint16_t)mad_get_field(d, 0, IB_NODE_DEVID_F);
	r->base_version = (uint8_t)mad_get_field(d, 0, IB_NODE_BASE_VERS_F);
	r->class_version = (uint8_t)mad_get_field(d, 0, IB_NODE_CLASS_VERS_F);
	r->node_type = (uint8_t)mad_get_field(d, 0, IB_NODE_TYPE_F);
	r->ports = (uint8_t)mad_get_field(d, 0, IB_NODE_NPORTS_F);
	r->local_port = (uint8_t)mad_get_field(d, 0, IB_NODE_LOCAL_PORT_F);
}

static void decode_counters(uint8_t *d, struct ibsm_probe_reply_counters *r)
{
	r->symbol_errors = mad_get_field(d, 0, IB_PC_ERR_SYM_F);
	r->link_recovers = mad_get_field(d, 0, IB_PC_LINK_RECOVERS_F);
	r->link_downed = mad_get_field(d, 0, IB_PC_LINK_DOWNED_F);
	r->receive_errors = mad_get_field(d, 0, IB_PC_ERR_RCV_F);
	r->receive_remote_physical_errors = mad_get_field(d, 0, IB_PC_ERR_PHYSRCV_F);
	r->receive_switch_relay_errors = mad_get_field(d, 0, IB_PC_ERR_SWITCH_REL_F);
	r->transmit_discards = mad_get_field(d, 0, IB_PC_XMT_DISCARDS_F);
	r->transmit_constraint_errors = mad_get_field(d, 0, IB_PC_ERR_XMTCONSTR_F);
	r->receive_constraint_errors = mad_get_field(d, 0, IB_PC_ERR_RCVCONSTR_F);
	r->local_link_integrity_errors = mad_get_field(d, 0, IB_PC_ERR_LOCALINTEG_F);
	r->excessive_buffer_overruns = mad_get_field(d, 0, IB_PC_ERR_EXCESS_OVR_F);
	r->vl15_dropped = mad_get_field(d, 0, IB_PC_VL15_DROPPED_F);
	r->transmit_data = mad_get_field(d, 0, IB_PC_XMT_BYTES_F);
	r->receive_data = mad_get_field(d, 0, IB_PC_RCV_BYTES_F);
	r->transmit_packets = mad_get_field(d, 0, IB_PC_XMT_PKTS_F);
	r->receive_packets = mad_get_field(d, 0, IB_PC_RCV_PKTS_F);
	r->transmit_wait = mad_get_field(d, 0, IB_PC_XMT_WAIT_F);
	r->port = mad_get_field(d, 0, IB_PC_PORT_SELECT_F);
}

static void decode_counters_ext(uint8_t *d, struct ibsm_probe_reply_counters_ext *r)
{
	r->transmit_data = mad_get_field64(d, 0, IB_PC_EXT_XMT_BYTES_F);
	r->receive_data = mad_get_field64(d, 0, IB_PC_EXT_RCV_BYTES_F);
	r->transmit_packets = mad_get_field64(d, 0, IB_PC_EXT_XMT_PKTS_F);
	r->receive_packets = mad_get_field64(d, 0, IB_PC_EXT_RCV_PKTS_F);
	r->unicast_transmit_packets = mad_get_field64(d, 0, IB_PC_EXT_XMT_UPKTS_F);
	r->unicast_receive_packets = mad_get_field64(d, 0, IB_PC_EXT_RCV_UPKTS_F);
	r->multicast_transmit_packets = mad_get_field64(d, 0, IB_PC_EXT_XMT_MPKTS_F);
	r->multicast_receive_packets = mad_get_field64(d, 0, IB_PC_EXT_RCV_MPKTS_F);
	r->port = mad_get_field(d, 0, IB_PC_EXT_PORT_SELECT_F);
}

void get_decode(uint16_t type, union get_buffer *buffer, size_t length,
		union ibsm_probe_any_reply *reply)
{
	const struct get *get = get_of(type);
	struct umad_smp *mad = mad_of(buffer);
	struct ibsm_probe_result *result = &reply->head.result;
	uint8_t *perf = (uint8_t *)mad + IB_PC_DATA_OFFS;
	uint16_t status;

	result->status = IBSM_PROBE_BAD_ANSWER;
	if (length < GET_MAD_BYTES || mad->base_version != UMAD_BASE_VERSION ||
	    mad->method != UMAD_METHOD_GET_RESP || mad->mgmt_class != get->class ||
	    be16toh(mad->attr_id) != get->attribute)
		return;

	/* The top bit of a direct-routed SMP's status is its direction. */
	status = be16toh(mad->status);
	if (get->class == IB_SMI_DIRECT_CLASS)
		status &= (uint16_t)~UMAD_SMP_DIRECTION;
	result->mad_status = status;
	if (status != UMAD_STATUS_SUCCESS) {
		result->status = IBSM_PROBE_MAD_STATUS;
		return;
	}

	result->status = IBSM_PROBE_OK;
	switch (type) {
	case IBSM_PROBE_LOCAL:
	case IBSM_PROBE_PORT_INFO:
		decode_port_info(mad->data, &reply->port_info);
		break;
	case IBSM_PROBE_SM_INFO:
		decode_sm_info(mad->data, &reply->sm_info);
		break;
	case IBSM_PROBE_NODE_INFO:
		decode_node_info(mad->data, &reply->node_info);
		break;
	case IBSM_PROBE_NODE_DESC:
		memcpy(reply->node_desc.description, mad->data,
		       sizeof(reply->node_desc.description));
		break;
	case IBSM_PROBE_COUNTERS:
		decode_counters(perf, &reply->counters);
		break;
	case IBSM_PROBE_COUNTERS_EXT:
		decode_counters_ext(perf, &reply->counters_ext);
		break;
	}
}
