// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The check of one datagram from the plugin.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/wire-read.h"
#include "util/cleanup.h"

static const uint16_t types[] = {
	IBSM_WIRE_HELLO,
	IBSM_WIRE_HEARTBEAT,
	IBSM_WIRE_DROPS,
	IBSM_WIRE_SNAPSHOT,
	IBSM_WIRE_SM_STATE,
	IBSM_WIRE_HEAVY_SWEEP_START,
	IBSM_WIRE_HEAVY_SWEEP_DONE,
	IBSM_WIRE_UCAST_ROUTING_DONE,
	IBSM_WIRE_SUBNET_UP,
	IBSM_WIRE_STATE_CHANGE,
	IBSM_WIRE_SA_DB_DUMPED,
	IBSM_WIRE_TRAP,
	IBSM_WIRE_LFT_CHANGE,
	IBSM_WIRE_PORT_ERRORS,
	IBSM_WIRE_PORT_DATA_COUNTERS,
	IBSM_WIRE_PORT_SELECT,
};

/* A good record of a type, in a buffer that a longer one fits into. */
static void good(uint16_t type, unsigned char buffer[static IBSM_WIRE_RECORD_MAX])
{
	union ibsm_wire_record *r = (void *)buffer;

	memset(buffer, 0, IBSM_WIRE_RECORD_MAX);
	r->header = (struct ibsm_wire_header){.magic = IBSM_WIRE_MAGIC,
					      .version = IBSM_WIRE_VERSION,
					      .type = type,
					      .length = ibsm_wire_length(type),
					      .sequence = 7};
	if (type == IBSM_WIRE_SNAPSHOT)
		r->snapshot.generation = 1;
}

static void expect(const void *datagram, size_t length, int error, const char *text)
{
	/* Exactly as long as said, so that ASan sees each byte read too many. */
	_cleanup_free_ unsigned char *copy = malloc(length + 1);
	struct wire_error why = {""};
	union ibsm_wire_record record;

	assert_non_null(copy);
	memcpy(copy + 1, datagram, length);
	memset(&record, 0xaa, sizeof(record));
	assert_int_equal(wire_check(copy + 1, length, &record, &why), error);
	if (error && !strstr(why.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, why.text);
	if (error)
		assert_int_equal(record.header.magic, 0xaaaaaaaa);
}

static void takes_all_types(void **state)
{
	_Alignas(8) unsigned char b[IBSM_WIRE_RECORD_MAX];
	union ibsm_wire_record record;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(types); i++) {
		uint32_t length = ibsm_wire_length(types[i]);

		assert_int_not_equal(length, 0);
		good(types[i], b);
		assert_int_equal(wire_check(b, length, &record, NULL), 0);
		assert_memory_equal(&record, b, length);
	}
}

static void cuts_appended_fields(void **state)
{
	_Alignas(8) unsigned char b[IBSM_WIRE_RECORD_MAX];
	union ibsm_wire_record record;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(types); i++) {
		uint32_t length = ibsm_wire_length(types[i]);

		good(types[i], b);
		((struct ibsm_wire_header *)(void *)b)->length = IBSM_WIRE_RECORD_MAX;
		memset(b + length, 0xff, sizeof(b) - length);
		memset(&record, 0xaa, sizeof(record));
		assert_int_equal(wire_check(b, sizeof(b), &record, NULL), 0);
		assert_int_equal(record.header.length, length);
		/* Nothing of the rest comes through: what is past the type's body is 0. */
		for (size_t j = length; j < sizeof(record); j++)
			assert_int_equal(((unsigned char *)&record)[j], 0);
	}
}

static void refuses_short_ones(void **state)
{
	_Alignas(8) unsigned char b[IBSM_WIRE_RECORD_MAX];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(types); i++)
		for (uint32_t length = 0; length < ibsm_wire_length(types[i]); length++) {
			good(types[i], b);
			((struct ibsm_wire_header *)(void *)b)->length = length;
			expect(b, length,
			       length < sizeof(struct ibsm_wire_header) ? -EPROTO : -EBADMSG,
			       "shorter");
		}
}

static void refuses_headers(void **state)
{
	_Alignas(8) unsigned char b[IBSM_WIRE_RECORD_MAX + 8] = {0};
	struct ibsm_wire_header *h = (void *)b;
	uint32_t length = ibsm_wire_length(IBSM_WIRE_TRAP);

	(void)state;
	good(IBSM_WIRE_TRAP, b);
	h->magic++;
	expect(b, length, -EPROTO, "magic is 0x4d53424a");
	good(IBSM_WIRE_TRAP, b);
	h->version = 2;
	expect(b, length, -EPROTONOSUPPORT, "version 2");
	good(IBSM_WIRE_TRAP, b);
	h->length++;
	expect(b, length, -EPROTO, "the datagram has");
	good(IBSM_WIRE_TRAP, b);
	h->type = 999;
	expect(b, length, -EOPNOTSUPP, "999");
	good(IBSM_WIRE_TRAP, b);
	expect(b, IBSM_WIRE_RECORD_MAX + 1, -EMSGSIZE, "2049");
	expect(b, 0, -EPROTO, "0 bytes");
	/* An unknown type may have any length from a header on. */
	good(IBSM_WIRE_TRAP, b);
	h->type = 999;
	h->length = sizeof(*h);
	expect(b, sizeof(*h), -EOPNOTSUPP, "999");
	h->flags = UINT32_MAX;
	h->type = IBSM_WIRE_TRAP;
	h->length = length;
	expect(b, length, 0, "");
}

/* Each of the four SM states, wherever one stands. */
static void takes_all_sm_states(void **state)
{
	_Alignas(8) unsigned char b[IBSM_WIRE_RECORD_MAX];
	union ibsm_wire_record *r = (void *)b;

	(void)state;
	for (uint8_t sm = 0; sm <= IBSM_SM_MASTER; sm++) {
		good(IBSM_WIRE_HELLO, b);
		r->hello.sm_state = sm;
		expect(b, sizeof(r->hello), 0, "");
		good(IBSM_WIRE_HEARTBEAT, b);
		r->heartbeat.sm_state = sm;
		expect(b, sizeof(r->heartbeat), 0, "");
		good(IBSM_WIRE_SM_STATE, b);
		r->sm_state.old_state = r->sm_state.new_state = sm;
		expect(b, sizeof(r->sm_state), 0, "");
		good(IBSM_WIRE_SUBNET_UP, b);
		r->sweep.sm_state = sm;
		expect(b, sizeof(r->sweep), 0, "");
		good(IBSM_WIRE_TRAP, b);
		r->trap.sm_state = sm;
		expect(b, sizeof(r->trap), 0, "");
		good(IBSM_WIRE_LFT_CHANGE, b);
		r->lft_change.sm_state = sm;
		expect(b, sizeof(r->lft_change), 0, "");
	}
}

static void refuses_bodies(void **state)
{
	_Alignas(8) unsigned char b[IBSM_WIRE_RECORD_MAX];
	union ibsm_wire_record *r = (void *)b;
	uint32_t hello = sizeof(struct ibsm_wire_hello);

	(void)state;
	good(IBSM_WIRE_HELLO, b);
	memset(r->hello.plugin_version, 'x', sizeof(r->hello.plugin_version));
	expect(b, hello, -EBADMSG, "hello record: plugin_version is not NUL-terminated");
	good(IBSM_WIRE_HELLO, b);
	memset(r->hello.opensm_version, 'x', sizeof(r->hello.opensm_version));
	expect(b, hello, -EBADMSG, "opensm_version");
	good(IBSM_WIRE_HELLO, b);
	memset(r->hello.host_name, 'x', sizeof(r->hello.host_name));
	expect(b, hello, -EBADMSG, "host_name");
	good(IBSM_WIRE_HELLO, b);
	memset(r->hello.routing_engines, 'x', sizeof(r->hello.routing_engines));
	expect(b, hello, -EBADMSG, "routing_engines");
	good(IBSM_WIRE_HELLO, b);
	r->hello.sm_state = 4;
	expect(b, hello, -EBADMSG, "sm_state");
	good(IBSM_WIRE_HEARTBEAT, b);
	r->heartbeat.sm_state = 4;
	expect(b, sizeof(r->heartbeat), -EBADMSG, "sm_state");
	good(IBSM_WIRE_SM_STATE, b);
	r->sm_state.old_state = 4;
	expect(b, sizeof(r->sm_state), -EBADMSG, "old_state");
	good(IBSM_WIRE_SM_STATE, b);
	r->sm_state.new_state = 255;
	expect(b, sizeof(r->sm_state), -EBADMSG, "new_state");
	for (int type = IBSM_WIRE_HEAVY_SWEEP_START; type <= IBSM_WIRE_SA_DB_DUMPED; type++) {
		good((uint16_t)type, b);
		memset(r->sweep.routing_engine, 'x', sizeof(r->sweep.routing_engine));
		expect(b, sizeof(r->sweep), -EBADMSG, "routing_engine");
		good((uint16_t)type, b);
		r->sweep.sm_state = 4;
		expect(b, sizeof(r->sweep), -EBADMSG, "sm_state");
	}
	good(IBSM_WIRE_TRAP, b);
	r->trap.sm_state = 4;
	expect(b, sizeof(r->trap), -EBADMSG, "sm_state");
	/* What a device says is any value. */
	good(IBSM_WIRE_TRAP, b);
	r->trap.number = r->trap.producer = r->trap.notice_type = 255;
	expect(b, sizeof(r->trap), 0, "");
	good(IBSM_WIRE_LFT_CHANGE, b);
	r->lft_change.change = IBSM_LFT_CHANGED_BLOCK;
	r->lft_change.block = 0xbfff / 64;
	expect(b, sizeof(r->lft_change), 0, "");
	r->lft_change.block++;
	expect(b, sizeof(r->lft_change), -EBADMSG, "block");
	r->lft_change.change = IBSM_LFT_CHANGED_TOP;
	expect(b, sizeof(r->lft_change), 0, "");
	good(IBSM_WIRE_LFT_CHANGE, b);
	r->lft_change.sm_state = 4;
	expect(b, sizeof(r->lft_change), -EBADMSG, "sm_state");
	good(IBSM_WIRE_SNAPSHOT, b);
	r->snapshot.generation = 0;
	expect(b, sizeof(r->snapshot), -EBADMSG, "generation");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_all_types),     cmocka_unit_test(cuts_appended_fields),
		cmocka_unit_test(refuses_short_ones),  cmocka_unit_test(refuses_headers),
		cmocka_unit_test(takes_all_sm_states), cmocka_unit_test(refuses_bodies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
