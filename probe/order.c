// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Orders as they come from the socket: hostile until checked here.
#include <string.h>

#include "probe/order.h"
#include "util/cleanup.h"

/* What the orders of a type may say, beyond the header. */
struct shape {
	uint16_t type;
	bool lid : 1;	  /* a LID, and it must be one */
	bool port : 1;	  /* a port number */
	bool timeout : 1; /* a time-out: the type is a query */
	bool choice : 1;  /* a choice, and what belongs to it */
};

static const struct shape shapes[] = {
	{.type = IBSM_PROBE_PING},
	{.type = IBSM_PROBE_PORT_LIST},
	{.type = IBSM_PROBE_PORT, .choice = true},
	{.type = IBSM_PROBE_LOCAL, .timeout = true},
	{.type = IBSM_PROBE_SM_INFO, .lid = true, .timeout = true},
	{.type = IBSM_PROBE_NODE_INFO, .lid = true, .timeout = true},
	{.type = IBSM_PROBE_NODE_DESC, .lid = true, .timeout = true},
	{.type = IBSM_PROBE_PORT_INFO, .lid = true, .port = true, .timeout = true},
	{.type = IBSM_PROBE_COUNTERS, .lid = true, .port = true, .timeout = true},
	{.type = IBSM_PROBE_COUNTERS_EXT, .lid = true, .port = true, .timeout = true},
};

static const struct shape *shape_of(uint16_t type)
{
	for (size_t i = 0; i < ELEMENTSOF(shapes); i++)
		if (shapes[i].type == type)
			return &shapes[i];
	return NULL;
}

static bool zero(const void *bytes, size_t length)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < length; i++)
		if (p[i] != 0)
			return false;
	return true;
}

/* A name ends with a NUL, has one character at least, and only NULs behind its end. */
static bool name_fits(const char *name, size_t size)
{
	const size_t length = strnlen(name, size);

	return length > 0 && length < size && zero(name + length, size - length);
}

static int check_choice(const struct ibsm_probe_order *order)
{
	const bool by_name = order->choice == IBSM_PROBE_CHOICE_NAME;
	const bool by_guid = order->choice == IBSM_PROBE_CHOICE_GUID;

	if (!by_name && !by_guid && order->choice != IBSM_PROBE_CHOICE_AUTO)
		return IBSM_PROBE_FIELD_CHOICE;
	if (by_guid == (order->port_guid == 0))
		return IBSM_PROBE_FIELD_PORT_GUID;
	if (by_name ? !name_fits(order->ca_name, sizeof(order->ca_name))
		    : !zero(order->ca_name, sizeof(order->ca_name)))
		return IBSM_PROBE_FIELD_CA_NAME;
	if (!by_name && order->port != 0)
		return IBSM_PROBE_FIELD_PORT;
	return 0;
}

static int check_body(const struct shape *shape, const struct ibsm_probe_order *order)
{
	if (shape->choice) {
		const int field = check_choice(order);

		if (field != 0)
			return field;
	} else {
		if (order->choice != 0)
			return IBSM_PROBE_FIELD_CHOICE;
		if (order->port_guid != 0)
			return IBSM_PROBE_FIELD_PORT_GUID;
		if (!zero(order->ca_name, sizeof(order->ca_name)))
			return IBSM_PROBE_FIELD_CA_NAME;
		if (!shape->port && order->port != 0)
			return IBSM_PROBE_FIELD_PORT;
	}

	if (shape->lid ? order->lid < 1 || order->lid > IBSM_UNICAST_LID_MAX : order->lid != 0)
		return IBSM_PROBE_FIELD_LID;
	if (order->timeout_msec != 0 &&
	    (!shape->timeout || order->timeout_msec < IBSM_PROBE_TIMEOUT_MSEC_MIN ||
	     order->timeout_msec > IBSM_PROBE_TIMEOUT_MSEC_MAX))
		return IBSM_PROBE_FIELD_TIMEOUT;
	return 0;
}

int order_check(const void *bytes, size_t length, struct ibsm_probe_order *ret_order)
{
	struct ibsm_probe_order *order = ret_order;
	const struct shape *shape;

	memset(order, 0, sizeof(*order));
	memcpy(order, bytes, length < sizeof(*order) ? length : sizeof(*order));

	if (length < sizeof(order->header))
		return IBSM_PROBE_FIELD_LENGTH;
	if (order->header.magic != IBSM_PROBE_MAGIC)
		return IBSM_PROBE_FIELD_MAGIC;
	if (order->header.version != IBSM_PROBE_VERSION)
		return IBSM_PROBE_FIELD_VERSION;
	shape = shape_of(order->header.type);
	if (!shape)
		return IBSM_PROBE_FIELD_TYPE;
	if (order->header.length != length || length != sizeof(*order))
		return IBSM_PROBE_FIELD_LENGTH;
	if (order->header.reserved != 0)
		return IBSM_PROBE_FIELD_RESERVED;
	return check_body(shape, order);
}

bool order_is_query(uint16_t type)
{
	const struct shape *shape = shape_of(type);

	return shape && shape->timeout;
}

void order_reply_init(const struct ibsm_probe_order *order, union ibsm_probe_any_reply *ret_reply)
{
	/* Something that is no order at all has neither a type nor a number. */
	const bool is_order = order->header.magic == IBSM_PROBE_MAGIC;
	const uint16_t type = is_order && !(order->header.type & IBSM_PROBE_REPLY)
				      ? order->header.type
				      : IBSM_PROBE_NONE;

	memset(ret_reply, 0, sizeof(*ret_reply));
	ret_reply->head = (struct ibsm_probe_reply){
		.header = {.magic = IBSM_PROBE_MAGIC,
			   .version = IBSM_PROBE_VERSION,
			   .type = (uint16_t)(type | IBSM_PROBE_REPLY),
			   .length = ibsm_probe_reply_length(type),
			   .sequence = is_order ? order->header.sequence : 0},
		.result = {.lid = order->lid, .port = order->port},
	};
}
