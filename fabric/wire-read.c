// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One datagram, checked.
#include "wire-read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

__attribute__((format(printf, 3, 4))) static int fail(struct wire_error *ret_error, int error,
						      const char *format, ...)
{
	va_list args;

	if (ret_error) {
		va_start(args, format);
		vsnprintf(ret_error->text, sizeof(ret_error->text), format, args);
		va_end(args);
	}
	return error;
}

/* The first field of a body that cannot be; NULL: there is none. */
static const char *bad_field(const union ibsm_wire_record *r)
{
#define UNTERMINATED(string) (!memchr((string), '\0', sizeof(string)))
	switch (r->header.type) {
	case IBSM_WIRE_HELLO:
		if (UNTERMINATED(r->hello.plugin_version))
			return "plugin_version is not NUL-terminated";
		if (UNTERMINATED(r->hello.opensm_version))
			return "opensm_version is not NUL-terminated";
		if (UNTERMINATED(r->hello.host_name))
			return "host_name is not NUL-terminated";
		if (UNTERMINATED(r->hello.routing_engines))
			return "routing_engines is not NUL-terminated";
		if (r->hello.sm_state > IBSM_SM_MASTER)
			return "sm_state is none of the four";
		break;
	case IBSM_WIRE_HEARTBEAT:
		if (r->heartbeat.sm_state > IBSM_SM_MASTER)
			return "sm_state is none of the four";
		break;
	case IBSM_WIRE_SM_STATE:
		if (r->sm_state.old_state > IBSM_SM_MASTER)
			return "old_state is none of the four";
		if (r->sm_state.new_state > IBSM_SM_MASTER)
			return "new_state is none of the four";
		break;
	case IBSM_WIRE_HEAVY_SWEEP_START:
	case IBSM_WIRE_HEAVY_SWEEP_DONE:
	case IBSM_WIRE_UCAST_ROUTING_DONE:
	case IBSM_WIRE_SUBNET_UP:
	case IBSM_WIRE_STATE_CHANGE:
	case IBSM_WIRE_SA_DB_DUMPED:
		if (UNTERMINATED(r->sweep.routing_engine))
			return "routing_engine is not NUL-terminated";
		if (r->sweep.sm_state > IBSM_SM_MASTER)
			return "sm_state is none of the four";
		break;
	case IBSM_WIRE_TRAP:
		if (r->trap.sm_state > IBSM_SM_MASTER)
			return "sm_state is none of the four";
		break;
	case IBSM_WIRE_LFT_CHANGE:
		if (r->lft_change.sm_state > IBSM_SM_MASTER)
			return "sm_state is none of the four";
		if (r->lft_change.change & IBSM_LFT_CHANGED_BLOCK &&
		    r->lft_change.block > IBSM_UNICAST_LID_MAX / IBSM_LFT_BLOCK_LIDS)
			return "block is past the last unicast LID";
		break;
	case IBSM_WIRE_SNAPSHOT:
		if (r->snapshot.generation == 0)
			return "generation is 0";
		break;
	default:
		break;
	}
#undef UNTERMINATED
	return NULL;
}

int wire_check(const void *datagram, size_t length, union ibsm_wire_record *ret,
	       struct wire_error *ret_error)
{
	union ibsm_wire_record record = {0};
	struct ibsm_wire_header header;
	const char *bad;
	uint32_t known;

	if (length > IBSM_WIRE_RECORD_MAX)
		return fail(ret_error, -EMSGSIZE, "record of %zu bytes is longer than %d", length,
			    IBSM_WIRE_RECORD_MAX);
	if (length < sizeof(header))
		return fail(ret_error, -EPROTO,
			    "record of %zu bytes is shorter than a header (%zu)", length,
			    sizeof(header));
	memcpy(&header, datagram, sizeof(header));
	if (header.magic != IBSM_WIRE_MAGIC)
		return fail(ret_error, -EPROTO, "magic is 0x%08x, not 0x%08x: not a record of ibsm",
			    header.magic, IBSM_WIRE_MAGIC);
	if (header.version != IBSM_WIRE_VERSION)
		return fail(ret_error, -EPROTONOSUPPORT,
			    "record of version %u; this reads version %u", header.version,
			    IBSM_WIRE_VERSION);
	if (header.length != length)
		return fail(ret_error, -EPROTO, "record says %u bytes, the datagram has %zu",
			    header.length, length);
	known = ibsm_wire_length(header.type);
	if (!known)
		return fail(ret_error, -EOPNOTSUPP, "unknown record type %u", header.type);
	if (length < known)
		return fail(ret_error, -EBADMSG, "%s record of %zu bytes is shorter than %u",
			    wire_type_name(header.type), length, known);
	memcpy(&record, datagram, known);
	record.header.length = known;
	bad = bad_field(&record);
	if (bad)
		return fail(ret_error, -EBADMSG, "%s record: %s", wire_type_name(header.type), bad);
	*ret = record;
	return 0;
}
