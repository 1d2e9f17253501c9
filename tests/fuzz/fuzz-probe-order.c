// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Orders of any bytes: what is taken is within the limits and can only become one of the Gets.
#include <stdlib.h>
#include <string.h>

#include "probe/get.h"
#include "probe/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union ibsm_probe_any_reply reply;
	struct ibsm_probe_order order;
	union get_buffer buffer;
	int field;

	field = order_check(data, size, &order);
	order_reply_init(&order, &reply);
	check(reply.head.header.length >= sizeof(reply.head) &&
	      reply.head.header.length <= sizeof(reply));
	check(reply.head.header.type & IBSM_PROBE_REPLY);
	if (field != 0) {
		check(strcmp(ibsm_probe_field_text((uint16_t)field), "unknown field") != 0);
		return 0;
	}

	check(size == sizeof(order) && memcmp(data, &order, size) == 0);
	check(order.ca_name[sizeof(order.ca_name) - 1] == 0);
	check(order.lid <= IBSM_UNICAST_LID_MAX);
	check(order.timeout_msec <= IBSM_PROBE_TIMEOUT_MSEC_MAX);
	if (order_is_query(order.header.type)) {
		check((order.lid == 0) == (order.header.type == IBSM_PROBE_LOCAL));
		get_build(&order, 1, &buffer);
		check(get_may_be_sent(&buffer));
	}
	return 0;
}
