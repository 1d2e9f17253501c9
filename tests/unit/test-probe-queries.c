// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Outstanding queries and their pace, and the choice of a port: what is refused, and why.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "probe/ports.h"
#include "probe/queries.h"
#include "util/cleanup.h"

#define SECOND UINT64_C(1000000)

static int add(struct queries *queries, uint16_t lid, uint64_t now, struct query **ret_query)
{
	struct ibsm_probe_order order;

	ibsm_probe_order_init(&order, IBSM_PROBE_SM_INFO, lid);
	order.lid = lid;
	return queries_add(queries, &order, SECOND, now, ret_query);
}

static void test_one_for_a_lid(void **state)
{
	struct queries queries;
	struct query *first, *second;

	(void)state;
	queries_init(&queries, 1000, 0, 5);
	assert_int_equal(add(&queries, 1, 5, &first), 0);
	assert_int_equal(add(&queries, 1, 6, &second), IBSM_PROBE_BUSY_TARGET);
	assert_int_equal(add(&queries, 2, 6, &second), 0);
	assert_ptr_not_equal(first, second);
	assert_int_not_equal(first->tid, second->tid);
	assert_int_equal(queries.outstanding, 2);
	assert_ptr_equal(queries_find(&queries, first->tid), first);
	assert_ptr_equal(queries_find(&queries, second->tid), second);
	assert_null(queries_find(&queries, 0));
	assert_null(queries_find(&queries, second->tid + 1));

	queries_remove(&queries, first);
	assert_int_equal(add(&queries, 1, 7, &first), 0);
	assert_int_equal(queries.outstanding, 2);
}

static void test_outstanding(void **state)
{
	struct queries queries;
	struct query *query, *last = NULL;

	(void)state;
	queries_init(&queries, 1000, 0, 0);
	for (uint16_t lid = 1; lid <= IBSM_PROBE_OUTSTANDING_MAX; lid++)
		assert_int_equal(add(&queries, lid, 0, &last), 0);
	assert_int_equal(add(&queries, 1000, 0, &query), IBSM_PROBE_BUSY_OUTSTANDING);
	queries_remove(&queries, last);
	assert_int_equal(add(&queries, 1000, 0, &query), 0);

	queries_init(&queries, 1000, 0, 0);
	queries.outstanding_max = 1;
	assert_int_equal(add(&queries, 1, 0, &query), 0);
	assert_int_equal(add(&queries, 2, 0, &query), IBSM_PROBE_BUSY_OUTSTANDING);
}

static void test_deadlines(void **state)
{
	struct queries queries;
	struct query *a, *b;

	(void)state;
	queries_init(&queries, 1000, 0, 0);
	assert_true(queries_deadline(&queries) == UINT64_MAX);
	assert_null(queries_any(&queries));
	assert_int_equal(add(&queries, 1, 100, &a), 0);
	assert_int_equal(add(&queries, 2, 50, &b), 0);
	assert_int_equal(queries_deadline(&queries), SECOND + 50);
	assert_null(queries_expired(&queries, SECOND + 49));
	assert_ptr_equal(queries_expired(&queries, SECOND + 50), b);
	queries_remove(&queries, b);
	assert_null(queries_expired(&queries, SECOND + 50));
	assert_ptr_equal(queries_any(&queries), a);
	queries_remove(&queries, a);
	assert_null(queries_any(&queries));
	assert_int_equal(queries.outstanding, 0);
}

/* Sent and answered at once, as fast as it goes: how many in @usec, after a pause? */
static unsigned int sent_in(struct queries *queries, uint64_t start, uint64_t usec, uint64_t step)
{
	unsigned int sent = 0;
	struct query *query;

	for (uint64_t now = start; now < start + usec; now += step) {
		const int r = add(queries, 1, now, &query);

		if (r == 0) {
			sent++;
			queries_remove(queries, query);
		} else {
			assert_int_equal(r, IBSM_PROBE_BUSY_PACE);
		}
	}
	return sent;
}

static void test_pace(void **state)
{
	static const uint32_t rates[] = {1, 7, 200, IBSM_PROBE_MADS_PER_SEC_MAX};
	static const uint64_t steps[] = {1, 3, 997};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rates); i++) {
		for (size_t j = 0; j < ELEMENTSOF(steps); j++) {
			struct queries queries;
			unsigned int sent;

			queries_init(&queries, rates[i], 0, 0);
			sent = sent_in(&queries, 0, 3 * SECOND, steps[j]);
			/* The burst, and then the rate; never more. */
			assert_true(sent <= IBSM_PROBE_MADS_BURST + 3 * rates[i]);
			if (steps[j] < SECOND / rates[i])
				assert_true(sent >= IBSM_PROBE_MADS_BURST + 3 * rates[i] - 1);
			/* A very long pause is worth one burst, no more. */
			sent = sent_in(&queries, UINT64_MAX / 2, 1, 1);
			assert_int_equal(sent, 1);
			sent = sent_in(&queries, UINT64_MAX / 2 + 1, IBSM_PROBE_MADS_BURST * 10, 1);
			assert_true(sent <= IBSM_PROBE_MADS_BURST +
						    IBSM_PROBE_MADS_BURST * 10 * rates[i] / SECOND);
		}
	}
}

static void test_tids(void **state)
{
	struct queries queries;
	struct query *query;

	(void)state;
	/* 0 means "free" and is left out when the counter wraps. */
	queries_init(&queries, 1000, UINT32_MAX - 1, 0);
	assert_int_equal(add(&queries, 1, 0, &query), 0);
	assert_int_equal(query->tid, UINT32_MAX);
	assert_int_equal(add(&queries, 2, 0, &query), 0);
	assert_int_equal(query->tid, 1);
}

/* ---- ports ---- */

enum { DOWN, INIT, ACTIVE };

static struct ibsm_probe_port port(const char *ca, uint8_t number, uint64_t guid, uint8_t layer,
				   int how)
{
	struct ibsm_probe_port p = {
		.port_guid = guid,
		.port = number,
		.link_layer = layer,
		.state = how == ACTIVE ? 4
			 : how == INIT ? 2
				       : 1,
		.physical_state = how == DOWN ? 2 : 5,
	};

	strncpy(p.ca_name, ca, sizeof(p.ca_name) - 1);
	return p;
}

#define IB IBSM_PROBE_LINK_INFINIBAND
#define ETH IBSM_PROBE_LINK_ETHERNET

static enum ibsm_probe_status choose(const struct ibsm_probe_port *ports, uint32_t count,
				     const char *wish, const struct ibsm_probe_port *current,
				     uint32_t *ret_row, enum ibsm_probe_found *ret_found)
{
	struct ibsm_probe_order order;

	ibsm_probe_order_init(&order, IBSM_PROBE_PORT, 1);
	assert_int_equal(ibsm_probe_parse_port(wish, &order), 0);
	return ports_choose(ports, count, &order, current, ret_row, ret_found);
}

static void test_choose_auto(void **state)
{
	enum ibsm_probe_found found = 0;
	uint32_t row = 99;
	struct ibsm_probe_port ports[] = {
		port("mlx5_0", 1, 0x10, ETH, ACTIVE), port("mlx5_1", 1, 0x11, IB, DOWN),
		port("mlx5_2", 1, 0x12, IB, INIT),    port("mlx5_3", 1, 0x13, IB, ACTIVE),
		port("mlx5_3", 2, 0x14, IB, ACTIVE),  port("weird0", 1, 0x15, 0, ACTIVE),
		port("mlx5_4", 1, 0x16, IB, INIT),
	};

	(void)state;
	assert_int_equal(choose(ports, 6, "auto", NULL, &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 3);
	assert_int_equal(found, IBSM_PROBE_FOUND_ACTIVE);
	/* The one in use stays while it is as good as any. */
	assert_int_equal(choose(ports, 6, "auto", &ports[4], &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 4);
	assert_int_equal(choose(ports, 6, "auto", &ports[2], &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 3);
	/* In use and worse than one before it. */
	assert_int_equal(choose(ports, 7, "auto", &ports[6], &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 3);
	/* A port that only has the same number is another. */
	struct ibsm_probe_port other = ports[4];
	other.port_guid++;
	assert_int_equal(choose(ports, 6, "auto", &other, &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 3);

	/* As before opensm swept. */
	assert_int_equal(choose(ports, 3, "auto", NULL, &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 2);
	assert_int_equal(found, IBSM_PROBE_FOUND_LINK);
	assert_int_equal(choose(ports, 2, "auto", NULL, &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 1);
	assert_int_equal(found, IBSM_PROBE_FOUND_FIRST);
	/* Ethernet ports alone are no ports, and nothing is written. */
	row = 99;
	assert_int_equal(choose(ports, 1, "auto", NULL, &row, &found), IBSM_PROBE_NO_PORT);
	assert_int_equal(choose(ports, 0, "auto", NULL, &row, &found), IBSM_PROBE_NO_PORT);
	assert_int_equal(row, 99);
}

static void test_choose_asked(void **state)
{
	enum ibsm_probe_found found = 0;
	uint32_t row = 99;
	const struct ibsm_probe_port ports[] = {
		port("mlx5_0", 1, 0x10, ETH, ACTIVE),
		port("mlx5_1", 1, 0x11, IB, DOWN),
		port("mlx5_1", 2, 0x12, IB, ACTIVE),
	};

	(void)state;
	assert_int_equal(choose(ports, 3, "mlx5_1/1", NULL, &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 1);
	assert_int_equal(found, IBSM_PROBE_FOUND_NAME);
	assert_int_equal(choose(ports, 3, "0x12", NULL, &row, &found), IBSM_PROBE_OK);
	assert_int_equal(row, 2);
	assert_int_equal(found, IBSM_PROBE_FOUND_GUID);
	assert_int_equal(choose(ports, 3, "mlx5_0/1", NULL, &row, &found),
			 IBSM_PROBE_NOT_INFINIBAND);
	assert_int_equal(choose(ports, 3, "0x10", NULL, &row, &found), IBSM_PROBE_NOT_INFINIBAND);
	assert_int_equal(choose(ports, 3, "mlx5_1/3", NULL, &row, &found), IBSM_PROBE_NO_PORT);
	assert_int_equal(choose(ports, 3, "mlx5/1", NULL, &row, &found), IBSM_PROBE_NO_PORT);
	assert_int_equal(choose(ports, 3, "0x13", NULL, &row, &found), IBSM_PROBE_NO_PORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_for_a_lid), cmocka_unit_test(test_outstanding),
		cmocka_unit_test(test_deadlines),     cmocka_unit_test(test_pace),
		cmocka_unit_test(test_tids),	      cmocka_unit_test(test_choose_auto),
		cmocka_unit_test(test_choose_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
