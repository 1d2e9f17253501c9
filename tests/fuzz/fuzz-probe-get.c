// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Answers of any bytes to any of the Gets: no crash, no key left, nothing told but of a good
// answer.
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "probe/get.h"
#include "probe/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* The first byte is the query's type; the rest is the MAD that comes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union ibsm_probe_any_reply reply = {};
	union get_buffer buffer = {};
	const struct umad_smp *mad = umad_get_mad(&buffer);
	size_t length;

	if (size < 1 || !order_is_query(data[0]))
		return 0;
	length = size - 1 < GET_MAD_BYTES ? size - 1 : GET_MAD_BYTES;
	memcpy(umad_get_mad(&buffer), data + 1, length);

	get_wipe_keys(&buffer);
	get_decode(data[0], &buffer, length, &reply);
	if (reply.head.result.status == IBSM_PROBE_OK) {
		check(length == GET_MAD_BYTES && mad->method == UMAD_METHOD_GET_RESP);
		check(mad->mgmt_class == UMAD_CLASS_PERF_MGMT || mad->mkey == 0);
		if (data[0] == IBSM_PROBE_SM_INFO)
			check(memcmp(mad->data + 8, "\0\0\0\0\0\0\0", 8) == 0);
		if (data[0] == IBSM_PROBE_PORT_INFO || data[0] == IBSM_PROBE_LOCAL)
			check(memcmp(mad->data, "\0\0\0\0\0\0\0", 8) == 0);
	} else {
		check(reply.head.result.status == IBSM_PROBE_MAD_STATUS ||
		      reply.head.result.status == IBSM_PROBE_BAD_ANSWER);
		for (size_t i = sizeof(reply.head); i < sizeof(reply); i++)
			check(((const uint8_t *)&reply)[i] == 0);
	}
	return 0;
}
