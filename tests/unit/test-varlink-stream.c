// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink service: calls that stay open, lists in batches, slow and vanishing clients.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/unit/varlink-harness.h"
#include "util/cleanup.h"

static const char description[] =
	"interface org.example.test\n"
	"method Hold() -> (i: ?int, text: ?string)\n"
	"method Follow() -> (from: int, to: int)\n"
	"method List(count: int, bytes: int, batch: ?int) -> (items: []string, total: ?int)\n"
	"method Echo(text: string) -> (text: string)\n"
	"error TooLong (bytes_max: int)\n";

#define HELD_MAX 8

struct service {
	/* Hold: calls that the test answers. */
	struct varlink_call *held[HELD_MAX];
	unsigned n_held, n_disconnected;
	bool drop_on_disconnect;

	/* Follow: one reply names all that is new since the last one. */
	int newest, told;
	int ready_result;
	unsigned n_ready;

	/* List. */
	unsigned n_next, n_freed;
	size_t queued_max;
	struct varlink_server *server;
};

static struct service service;

static void on_disconnect(struct varlink_call *call, void *userdata)
{
	assert_ptr_equal(userdata, &service);
	assert_false(varlink_call_is_open(call));
	assert_int_equal(varlink_call_reply(call, json_object()), -ENOTCONN);
	service.n_disconnected++;
	if (service.drop_on_disconnect)
		for (unsigned i = 0; i < service.n_held; i++)
			if (service.held[i] == call)
				service.held[i] = varlink_call_unref(call);
}

static int hold(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)parameters;

	assert_true(service.n_held < HELD_MAX);
	service.held[service.n_held++] = varlink_call_ref(call);
	varlink_call_set_disconnect(call, on_disconnect, userdata);
	return 0;
}

static void release_held(void)
{
	for (unsigned i = 0; i < service.n_held; i++)
		service.held[i] = varlink_call_unref(service.held[i]);
	service.n_held = 0;
}

static int follow_ready(struct varlink_call *call, void *userdata)
{
	int from = service.told + 1;

	assert_ptr_equal(userdata, &service);
	service.n_ready++;
	assert_true(varlink_call_writable(call));
	if (service.ready_result < 0)
		return service.ready_result;
	if (service.told == service.newest)
		return 0;
	service.told++;
	assert_int_equal(varlink_call_reply_more(
				 call, json_pack("{s:i, s:i}", "from", from, "to", service.told)),
			 0);
	return service.told < service.newest;
}

static int follow(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)parameters;

	service.held[service.n_held++] = varlink_call_ref(call);
	varlink_call_set_ready(call, follow_ready, userdata);
	return 0;
}

static int echo(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)userdata;
	return varlink_call_reply(call,
				  json_pack("{s:O}", "text", json_object_get(parameters, "text")));
}

/* A list of `count` strings "0", "1"… each padded to `bytes`; a negative count fails after that. */
struct source {
	json_int_t count, bytes, i;
};

static int source_next(void *userdata, json_t **ret_item)
{
	struct source *source = userdata;
	struct varlink_server_stats stats;
	_cleanup_free_ char *text = NULL;

	service.n_next++;
	varlink_server_get_stats(service.server, &stats);
	if (stats.queued_bytes > service.queued_max)
		service.queued_max = stats.queued_bytes;

	if (source->i == llabs(source->count))
		return source->count < 0 ? -EIO : 0;
	assert_true(asprintf(&text, "%0*lld", (int)source->bytes, (long long)source->i++) > 0);
	*ret_item = json_string(text);
	return 1;
}

static void source_free(void *userdata)
{
	free(userdata);
	service.n_freed++;
}

static int list(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct source *source = calloc(1, sizeof(*source));
	struct varlink_list reply = {
		.name = "items",
		.too_long = "org.example.test.TooLong",
		.next = source_next,
		.free = source_free,
		.userdata = source,
	};

	(void)userdata;

	*source = (struct source){
		.count = json_integer_value(json_object_get(parameters, "count")),
		.bytes = json_integer_value(json_object_get(parameters, "bytes")),
	};
	reply.batch_bytes = (size_t)json_integer_value(json_object_get(parameters, "batch"));
	reply.extra = json_pack("{s:I}", "total", source->count);
	if (source->count == 99)
		reply.too_long = NULL;
	if (source->count == 98)
		reply.name = "total";
	return varlink_call_reply_list(call, &reply);
}

static const struct varlink_method methods[] = {
	{.name = "Hold", .handler = hold},
	{.name = "Follow", .handler = follow},
	{.name = "List", .handler = list},
	{.name = "Echo", .handler = echo},
};

static void start(struct harness *harness, const struct varlink_server_options *options)
{
	service = (struct service){};
	harness_start(harness, options);
	service.server = harness->server;
	assert_return_code(varlink_server_add_interface(harness->server, description, methods,
							ELEMENTSOF(methods), &service),
			   0);
}

static void open_held(struct harness *harness, struct peer *peer)
{
	unsigned n = service.n_held + 1;

	peer_open(harness, peer);
	peer_call(peer, "org.example.test.Hold", NULL, "more");
	harness_run_until(harness, service.n_held == n);
}

/* ---- calls that stay open ---- */

static void test_answer_later(void **state)
{
	struct harness harness;
	struct peer peer;
	json_t *reply;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Hold", NULL, "more");
	peer_call(&peer, "org.example.test.Echo", "{\"text\":\"after\"}", NULL);
	harness_run_until(&harness, service.n_held == 1);
	harness_settle(&harness);
	assert_false(peer_poll(&peer, &reply)); /* the second waits for the first */

	assert_true(varlink_call_writable(service.held[0]));
	assert_int_equal(varlink_call_reply_more(service.held[0], json_pack("{s:i}", "i", 1)), 0);
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":1},\"continues\":true}");
	harness_settle(&harness);
	assert_false(peer_poll(&peer, &reply));
	assert_int_equal(varlink_call_reply(service.held[0], json_pack("{s:i}", "i", 2)), 0);
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":2}}");
	peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"after\"}}");

	assert_int_equal(service.n_disconnected, 0);
	assert_int_equal(varlink_call_reply_more(service.held[0], json_object()), -EALREADY);
	release_held();

	/* The end of a client whose calls are all answered is nobody's business. */
	peer_close(&peer);
	harness_run_until(&harness, harness_stats(&harness).clients == 0);
	assert_int_equal(service.n_disconnected, 0);
	harness_stop(&harness);
}

static void test_client_leaves_an_open_call(void **state)
{
	struct harness harness;
	struct peer peer;
	uid_t uid = (uid_t)-1;

	(void)state;

	for (int drop = 0; drop < 2; drop++) {
		start(&harness, NULL);
		service.drop_on_disconnect = drop;
		open_held(&harness, &peer);
		peer_call(&peer, "org.example.test.Echo", "{\"text\":\"unread\"}", NULL);
		peer_close(&peer);
		harness_run_until(&harness, service.n_disconnected == 1);
		assert_int_equal(harness_stats(&harness).clients, 0);
		if (!drop) {
			assert_int_equal(varlink_call_reply_more(service.held[0], json_object()),
					 -ENOTCONN);
			varlink_call_arm(service.held[0]);
			varlink_call_peer(service.held[0], &uid, NULL, NULL);
			assert_int_equal(uid, geteuid());
			assert_string_equal(varlink_call_method(service.held[0]),
					    "org.example.test.Hold");
		}
		release_held();
		assert_int_equal(service.n_disconnected, 1);
		harness_stop(&harness);
	}
}

static void test_client_leaves_while_it_is_written_to(void **state)
{
	struct harness harness;
	struct peer peer;
	json_t *reply;
	int r = 0;

	(void)state;

	start(&harness, NULL);
	service.drop_on_disconnect = true;
	open_held(&harness, &peer);
	assert_int_equal(varlink_call_reply_more(service.held[0], json_pack("{s:i}", "i", 0)), 0);
	reply = peer_receive(&harness, &peer);
	json_decref(reply);
	peer_close(&peer);

	/* The service has not noticed yet, and tries to send. */
	for (int i = 0; i < 10 && service.held[0]; i++)
		r = varlink_call_reply_more(service.held[0], json_pack("{s:i}", "i", i));
	assert_int_equal(r, 0);
	assert_int_equal(service.n_disconnected, 0); /* never from within a reply */
	harness_run_until(&harness, service.n_disconnected == 1);
	assert_int_equal(harness_stats(&harness).clients, 0);
	assert_int_equal(harness_stats(&harness).queued_bytes, 0);
	harness_stop(&harness);
}

static void test_half_closed_client_gets_its_replies(void **state)
{
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	open_held(&harness, &peer);
	assert_return_code(shutdown(peer.fd, SHUT_WR), errno);
	harness_settle(&harness); /* and it does not spin */
	assert_int_equal(service.n_disconnected, 0);
	assert_int_equal(varlink_call_reply_more(service.held[0], json_pack("{s:i}", "i", 1)), 0);
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":1},\"continues\":true}");
	assert_int_equal(varlink_call_reply(service.held[0], json_pack("{s:i}", "i", 2)), 0);
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":2}}");
	peer_expect_closed(&harness, &peer);
	assert_int_equal(service.n_disconnected, 0);
	release_held();
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_forgotten_call_closes_the_connection(void **state)
{
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	open_held(&harness, &peer);
	release_held();
	peer_expect_closed(&harness, &peer);
	assert_int_equal(harness_stats(&harness).handler_failed, 1);
	peer_close(&peer);

	/* Not so a oneway call: it is over when nobody holds it. */
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Hold", NULL, "oneway");
	peer_call(&peer, "org.example.test.Echo", "{\"text\":\"x\"}", NULL);
	harness_run_until(&harness, service.n_held == 1);
	harness_settle(&harness);
	release_held();
	peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"x\"}}");
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_service_ends_with_open_calls(void **state)
{
	struct harness harness;
	struct peer peers[3];

	(void)state;

	start(&harness, NULL);
	for (size_t i = 0; i < ELEMENTSOF(peers); i++)
		open_held(&harness, &peers[i]);
	assert_int_equal(varlink_call_reply_more(service.held[1], json_object()), 0);
	harness.server = varlink_server_free(harness.server);
	assert_int_equal(service.n_disconnected, 3);
	assert_int_equal(varlink_call_reply(service.held[1], json_object()), -ENOTCONN);
	assert_int_equal(
		varlink_call_error(service.held[1], "org.example.test.TooLong", json_object()),
		-ENOTCONN);
	release_held();
	for (size_t i = 0; i < ELEMENTSOF(peers); i++)
		peer_close(&peers[i]);
	harness_stop(&harness);
}

static void test_follow(void **state)
{
	struct harness harness;
	struct peer peer;
	unsigned ready;

	(void)state;

	start(&harness, NULL);
	service.newest = 3;
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Follow", NULL, "more");
	peer_expect(&harness, &peer, "{\"parameters\":{\"from\":1,\"to\":1},\"continues\":true}");
	peer_expect(&harness, &peer, "{\"parameters\":{\"from\":2,\"to\":2},\"continues\":true}");
	peer_expect(&harness, &peer, "{\"parameters\":{\"from\":3,\"to\":3},\"continues\":true}");

	/* With nothing new it is left alone, until it is armed. */
	harness_settle(&harness);
	ready = service.n_ready;
	service.newest = 4;
	harness_settle(&harness);
	assert_int_equal(service.n_ready, ready);
	varlink_call_arm(service.held[0]);
	assert_int_equal(service.n_ready, ready); /* from the event loop alone */
	peer_expect(&harness, &peer, "{\"parameters\":{\"from\":4,\"to\":4},\"continues\":true}");

	service.ready_result = -EIO;
	varlink_call_arm(service.held[0]);
	peer_expect_closed(&harness, &peer);
	assert_int_equal(harness_stats(&harness).handler_failed, 1);
	release_held();
	peer_close(&peer);
	harness_stop(&harness);
}

/* A ready callback is never run for a client that does not read. */
static void test_follower_that_does_not_read(void **state)
{
	enum { NEWEST = 5000 };
	struct harness harness;
	struct peer peer;
	json_t *reply;
	int to;

	(void)state;

	start(&harness, NULL);
	service.newest = NEWEST;
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Follow", NULL, "more");
	harness_run_until(&harness, service.n_held == 1);
	harness_settle(&harness);
	assert_in_range(service.told, 1, NEWEST - 1);
	assert_in_range(harness_stats(&harness).queued_bytes, 1, 100);
	varlink_call_arm(service.held[0]);
	harness_settle(&harness);
	assert_in_range(harness_stats(&harness).queued_bytes, 1, 100);

	for (int i = 1; i <= NEWEST; i++) {
		reply = peer_receive(&harness, &peer);
		assert_int_equal(json_unpack(reply, "{s:{s:i}}", "parameters", "to", &to), 0);
		assert_int_equal(to, i);
		json_decref(reply);
	}
	peer_close(&peer);
	harness_run_until(&harness, harness_stats(&harness).clients == 0);
	release_held();
	harness_stop(&harness);
}

/* ---- limits of what waits ---- */

static json_t *long_text(size_t bytes)
{
	_cleanup_free_ char *text = malloc(bytes + 1);

	memset(text, 'x', bytes);
	text[bytes] = '\0';
	return json_pack("{s:s}", "text", text);
}

static void test_slow_client_is_dropped(void **state)
{
	const struct varlink_server_options options = {.max_queued_bytes = 1 << 20};
	struct harness harness;
	struct peer slow, other;
	json_t *reply;
	size_t n = 0;
	int r;

	(void)state;

	start(&harness, &options);
	open_held(&harness, &slow);
	open_held(&harness, &other);
	do {
		r = varlink_call_reply_more(service.held[0], long_text(10000));
		n += 10000;
		assert_true(harness_stats(&harness).queued_bytes <= 1 << 20);
	} while (r == 0);
	assert_int_equal(r, -ENOBUFS);
	assert_in_range(n, 1 << 20, 2 << 20);

	/* Nothing more goes to it, and the callback comes from the event loop. */
	assert_int_equal(service.n_disconnected, 0);
	assert_false(varlink_call_is_open(service.held[0]));
	assert_int_equal(varlink_call_reply_more(service.held[0], json_object()), -ENOTCONN);
	assert_int_equal(harness_stats(&harness).queued_bytes, 0);
	harness_run_until(&harness, service.n_disconnected == 1);
	assert_int_equal(harness_stats(&harness).disconnected_slow, 1);
	assert_int_equal(harness_stats(&harness).clients, 1);

	/* What the kernel had is still read, then the end. */
	do {
		harness_run_until(&harness, peer_poll(&slow, &reply));
		json_decref(reply);
	} while (reply);

	assert_int_equal(varlink_call_reply(service.held[1], json_pack("{s:i}", "i", 1)), 0);
	peer_expect(&harness, &other, "{\"parameters\":{\"i\":1}}");
	release_held();
	peer_close(&slow);
	peer_close(&other);
	harness_stop(&harness);
}

/* A client that reads is not slow, however much it is sent in one go. */
static void test_burst_to_a_fast_client(void **state)
{
	const struct varlink_server_options options = {.max_queued_bytes = 100000};
	struct harness harness;
	struct peer peer;
	size_t received = 0;
	json_t *reply;

	(void)state;

	start(&harness, &options);
	open_held(&harness, &peer);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(varlink_call_reply_more(service.held[0], long_text(50000)), 0);
		while (peer_poll(&peer, &reply)) {
			assert_non_null(reply);
			json_decref(reply);
			received++;
		}
	}
	for (; received < 100; received++)
		json_decref(peer_receive(&harness, &peer));
	assert_int_equal(harness_stats(&harness).disconnected_slow, 0);
	peer_close(&peer);
	harness_run_until(&harness, harness_stats(&harness).clients == 0);
	release_held();
	harness_stop(&harness);
}

static void test_limit_of_all_queues(void **state)
{
	const struct varlink_server_options options = {.max_queued_bytes = 2 << 20,
						       .max_total_queued_bytes = 3 << 20};
	struct peer peers[3];
	struct harness harness;
	json_t *reply;

	(void)state;

	start(&harness, &options);
	for (size_t i = 0; i < ELEMENTSOF(peers); i++)
		open_held(&harness, &peers[i]);
	assert_int_equal(varlink_call_reply_more(service.held[0], long_text(1000000)), 0);
	assert_int_equal(varlink_call_reply_more(service.held[1], long_text(1500000)), 0);
	harness_settle(&harness);
	assert_int_equal(harness_stats(&harness).disconnected_slow, 0);

	/* The one with most to read goes, not the one that is being written to. */
	assert_int_equal(varlink_call_reply_more(service.held[2], long_text(1200000)), 0);
	assert_int_equal(harness_stats(&harness).disconnected_slow, 1);
	assert_false(varlink_call_is_open(service.held[1]));
	assert_int_equal(service.n_disconnected, 0);
	harness_run_until(&harness, service.n_disconnected == 1);
	assert_int_equal(harness_stats(&harness).clients, 2);

	reply = peer_receive(&harness, &peers[2]);
	json_decref(reply);
	reply = peer_receive(&harness, &peers[0]);
	json_decref(reply);
	for (size_t i = 0; i < ELEMENTSOF(peers); i++)
		peer_close(&peers[i]);
	harness_run_until(&harness, harness_stats(&harness).clients == 0);
	assert_int_equal(harness_stats(&harness).queued_bytes, 0);
	release_held();
	harness_stop(&harness);
}

/* ---- lists ---- */

/* Receive a whole list; the items must be 0, 1, 2… Returns their number. */
static unsigned receive_list(struct harness *harness, struct peer *peer, size_t batch_bytes,
			     unsigned *ret_replies)
{
	unsigned n = 0, replies = 0;
	bool continues = true;

	while (continues) {
		json_t *reply = peer_receive(harness, peer), *items;
		_cleanup_free_ char *text = json_dumps(reply, JSON_COMPACT);

		assert_true(strlen(text) <= batch_bytes);
		continues = json_is_true(json_object_get(reply, "continues"));
		items = json_object_get(json_object_get(reply, "parameters"), "items");
		assert_true(json_is_array(items));
		assert_int_equal(!json_object_get(json_object_get(reply, "parameters"), "total"),
				 replies > 0);
		for (size_t i = 0; i < json_array_size(items); i++)
			assert_int_equal(atoi(json_string_value(json_array_get(items, i))), n++);
		replies++;
		json_decref(reply);
	}
	if (ret_replies)
		*ret_replies = replies;
	return n;
}

static void test_list_in_batches(void **state)
{
	struct harness harness;
	struct peer peer;
	unsigned replies;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.List", "{\"count\":10000,\"bytes\":90,\"batch\":10000}",
		  "more");
	assert_int_equal(receive_list(&harness, &peer, 10000, &replies), 10000);
	assert_in_range(replies, 94, 96); /* batches are full */
	assert_int_equal(service.n_freed, 1);

	/* One that ends where a batch does, one item, none. */
	for (int count = 180; count < 220; count++) {
		char text[64];

		snprintf(text, sizeof(text), "{\"count\":%d,\"bytes\":7,\"batch\":1000}", count);
		peer_call(&peer, "org.example.test.List", text, "more");
		assert_int_equal(receive_list(&harness, &peer, 1000, NULL), count);
	}
	peer_call(&peer, "org.example.test.List", "{\"count\":1,\"bytes\":1}", "more");
	peer_expect(&harness, &peer, "{\"parameters\":{\"total\":1,\"items\":[\"0\"]}}");
	peer_call(&peer, "org.example.test.List", "{\"count\":0,\"bytes\":1}", "more");
	peer_expect(&harness, &peer, "{\"parameters\":{\"total\":0,\"items\":[]}}");
	assert_int_equal(service.n_freed, 43);
	peer_close(&peer);
	harness_stop(&harness);
}

/* However long the list and slow the client: one batch is queued, and no more is made. */
static void test_list_waits_for_its_reader(void **state)
{
	enum { BATCH = 768 << 10 };
	struct harness harness;
	struct peer reader, other;
	unsigned replies, made;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &reader);
	peer_open(&harness, &other);
	peer_call(&reader, "org.example.test.List", "{\"count\":20000,\"bytes\":1000}", "more");
	harness_run_until(&harness, service.n_next > 0);
	harness_settle(&harness);
	made = service.n_next;
	assert_in_range(made, 700, 1600);
	assert_in_range(harness_stats(&harness).queued_bytes, 1, BATCH);
	peer_call(&other, "org.example.test.Echo", "{\"text\":\"me\"}", NULL);
	peer_expect(&harness, &other, "{\"parameters\":{\"text\":\"me\"}}");
	assert_int_equal(service.n_next, made);

	assert_int_equal(receive_list(&harness, &reader, BATCH, &replies), 20000);
	assert_in_range(replies, 26, 28);
	assert_int_equal(service.queued_max, 0); /* each was made when the last was gone */
	peer_close(&reader);
	peer_close(&other);
	harness_stop(&harness);
}

static void test_client_leaves_a_list(void **state)
{
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.List", "{\"count\":20000,\"bytes\":1000}", "more");
	harness_run_until(&harness, service.n_next > 0);
	assert_int_equal(service.n_freed, 0);
	peer_close(&peer);
	harness_run_until(&harness, service.n_freed == 1);
	assert_int_equal(harness_stats(&harness).clients, 0);
	assert_int_equal(harness_stats(&harness).queued_bytes, 0);

	/* The same when the service goes. */
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.List", "{\"count\":20000,\"bytes\":1000}", "more");
	service.n_next = 0;
	harness_run_until(&harness, service.n_next > 0);
	harness.server = varlink_server_free(harness.server);
	assert_int_equal(service.n_freed, 2);
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_list_without_more(void **state)
{
	struct harness harness;
	struct peer peer;
	unsigned replies;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.List", "{\"count\":90,\"bytes\":7,\"batch\":1000}",
		  NULL);
	assert_int_equal(receive_list(&harness, &peer, 1000, &replies), 90);
	assert_int_equal(replies, 1);
	peer_call(&peer, "org.example.test.List", "{\"count\":100,\"bytes\":7,\"batch\":1000}",
		  NULL);
	peer_expect_error(&harness, &peer, "org.example.test.TooLong", "{\"bytes_max\":1000}");
	peer_call(&peer, "org.example.test.List", "{\"count\":99,\"bytes\":50,\"batch\":1000}",
		  NULL);
	peer_expect_error(&harness, &peer, "org.varlink.service.ExpectedMore", "{}");
	assert_int_equal(service.n_freed, 3);

	service.n_next = 0;
	peer_call(&peer, "org.example.test.List", "{\"count\":90,\"bytes\":7}", "oneway");
	peer_call(&peer, "org.example.test.Echo", "{\"text\":\"x\"}", NULL);
	peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"x\"}}");
	assert_int_equal(service.n_next, 0);
	assert_int_equal(service.n_freed, 4);
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_list_with_large_items(void **state)
{
	const struct varlink_server_options options = {.max_reply_bytes = 10000};
	static const char *const failing[] = {
		"{\"count\":3,\"bytes\":10000}", /* does not go into any reply */
		"{\"count\":-3,\"bytes\":10}",	 /* the source fails */
		"{\"count\":98,\"bytes\":10}",	 /* the wrong name */
	};
	struct harness harness;
	struct peer peer;
	unsigned replies;

	(void)state;

	/* Larger than a batch each: one goes alone. */
	start(&harness, &options);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.List", "{\"count\":5,\"bytes\":2000,\"batch\":1000}",
		  "more");
	assert_int_equal(receive_list(&harness, &peer, 10000, &replies), 5);
	assert_int_equal(replies, 5);
	peer_close(&peer);

	for (size_t i = 0; i < ELEMENTSOF(failing); i++) {
		peer_open(&harness, &peer);
		peer_call(&peer, "org.example.test.List", failing[i], "more");
		peer_expect_closed(&harness, &peer);
		peer_close(&peer);
		assert_int_equal(harness_stats(&harness).handler_failed, i + 1);
		assert_int_equal(service.n_freed, i + 2);
	}
	assert_int_equal(harness_stats(&harness).queued_bytes, 0);
	harness_stop(&harness);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_later),
		cmocka_unit_test(test_client_leaves_an_open_call),
		cmocka_unit_test(test_client_leaves_while_it_is_written_to),
		cmocka_unit_test(test_half_closed_client_gets_its_replies),
		cmocka_unit_test(test_forgotten_call_closes_the_connection),
		cmocka_unit_test(test_service_ends_with_open_calls),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_follower_that_does_not_read),
		cmocka_unit_test(test_slow_client_is_dropped),
		cmocka_unit_test(test_burst_to_a_fast_client),
		cmocka_unit_test(test_limit_of_all_queues),
		cmocka_unit_test(test_list_in_batches),
		cmocka_unit_test(test_list_waits_for_its_reader),
		cmocka_unit_test(test_client_leaves_a_list),
		cmocka_unit_test(test_list_without_more),
		cmocka_unit_test(test_list_with_large_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
