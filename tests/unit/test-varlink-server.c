// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink service: calls, replies and errors, what closes a connection, and who gets one.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "tests/unit/varlink-harness.h"
#include "util/cleanup.h"

static const char description[] = "# For tests.\n"
				  "interface org.example.test\n"
				  "type Colour (red, green)\n"
				  "method Echo(text: string, colour: ?Colour) -> (text: string)\n"
				  "method Count(n: int) -> (i: int)\n"
				  "method Streamed() -> ()\n"
				  "method Mark() -> ()\n"
				  "method Peer() -> (uid: int, gid: int, pid: int)\n"
				  "method Refuse() -> ()\n"
				  "method Forbid() -> ()\n"
				  "method Fail() -> ()\n"
				  "method Forget() -> ()\n"
				  "method Misuse() -> ()\n"
				  "method Large(bytes: int) -> (text: string)\n"
				  "method Planned() -> ()\n"
				  "error Refused (why: string)\n";

struct service {
	unsigned marks;
};

static int echo(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)userdata;
	return varlink_call_reply(call,
				  json_pack("{s:O}", "text", json_object_get(parameters, "text")));
}

static int count(struct varlink_call *call, json_t *parameters, void *userdata)
{
	json_int_t n = json_integer_value(json_object_get(parameters, "n"));
	int r;

	(void)userdata;

	assert_false(varlink_call_is_oneway(call) && varlink_call_wants_more(call));
	for (json_int_t i = 1; i < n && varlink_call_wants_more(call); i++) {
		r = varlink_call_reply_more(call, json_pack("{s:I}", "i", i));
		if (r < 0)
			return r;
	}
	return varlink_call_reply(call, json_pack("{s:I}", "i", n));
}

static int mark(struct varlink_call *call, json_t *parameters, void *userdata)
{
	struct service *service = userdata;

	assert_int_equal(json_object_size(parameters), 0);
	assert_ptr_equal(varlink_call_parameters(call), parameters);
	assert_string_equal(varlink_call_method(call), "org.example.test.Mark");
	service->marks++;
	if (varlink_call_is_oneway(call) && service->marks % 2)
		return 0; /* a oneway call needs no reply */
	return varlink_call_reply(call, json_object());
}

static int tell_peer(struct varlink_call *call, json_t *parameters, void *userdata)
{
	uid_t uid;
	gid_t gid;
	pid_t pid;

	(void)parameters;
	(void)userdata;

	varlink_call_peer(call, &uid, &gid, &pid);
	varlink_call_peer(call, NULL, NULL, NULL);
	return varlink_call_reply(call, json_pack("{s:i, s:i, s:i}", "uid", (int)uid, "gid",
						  (int)gid, "pid", (int)pid));
}

static int refuse(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;
	return varlink_call_error(call, "org.example.test.Refused",
				  json_pack("{s:s}", "why", "because"));
}

static int forbid(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;
	return varlink_call_permission_denied(call);
}

static int break_down(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)call;
	(void)parameters;
	(void)userdata;
	return -EIO;
}

static int forget(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)call;
	(void)parameters;
	(void)userdata;
	return 0;
}

/* Everything that a handler may do wrong, and go on. */
static int misuse(struct varlink_call *call, json_t *parameters, void *userdata)
{
	(void)parameters;
	(void)userdata;

	assert_int_equal(varlink_call_reply(call, NULL), -EINVAL);
	assert_int_equal(varlink_call_reply(call, json_array()), -EINVAL);
	assert_int_equal(varlink_call_reply_more(call, json_object()), -EPERM);
	assert_int_equal(varlink_call_error(call, "org.example.test.Unknown", json_object()),
			 -EINVAL);
	assert_int_equal(varlink_call_error(call, "org.example.Refused", json_object()), -EINVAL);
	assert_int_equal(varlink_call_error(call, "Refused", json_object()), -EINVAL);
	assert_true(varlink_call_is_open(call));
	assert_int_equal(varlink_call_reply(call, json_object()), 0);
	assert_false(varlink_call_is_open(call));
	assert_false(varlink_call_writable(call));
	assert_int_equal(varlink_call_reply(call, json_object()), -EALREADY);
	assert_int_equal(varlink_call_error(call, "org.example.test.Refused", json_object()),
			 -EALREADY);
	return 0;
}

static int large(struct varlink_call *call, json_t *parameters, void *userdata)
{
	size_t n = (size_t)json_integer_value(json_object_get(parameters, "bytes"));
	_cleanup_free_ char *text = calloc(1, n + 1);
	int r;

	(void)userdata;

	memset(text, 'x', n);
	r = varlink_call_reply(call, json_pack("{s:s}", "text", text));
	if (r == -EMSGSIZE)
		return varlink_call_error(call, "org.example.test.Refused",
					  json_pack("{s:s}", "why", "too long"));
	return r;
}

static const struct varlink_method methods[] = {
	{.name = "Echo", .handler = echo},
	{.name = "Count", .handler = count},
	{.name = "Streamed", .handler = mark, .flags = VARLINK_METHOD_NEEDS_MORE},
	{.name = "Mark", .handler = mark},
	{.name = "Peer", .handler = tell_peer},
	{.name = "Refuse", .handler = refuse},
	{.name = "Forbid", .handler = forbid},
	{.name = "Fail", .handler = break_down},
	{.name = "Forget", .handler = forget},
	{.name = "Misuse", .handler = misuse},
	{.name = "Large", .handler = large},
};

static struct service service;

static void start(struct harness *harness, const struct varlink_server_options *options)
{
	service = (struct service){};
	harness_start(harness, options);
	assert_return_code(varlink_server_add_interface(harness->server, description, methods,
							ELEMENTSOF(methods), &service),
			   0);
}

/* ---- calls and replies ---- */

static void test_service_interface(void **state)
{
	const struct varlink_server_options options = {
		.vendor = "Vendor", .product = "Product", .version = "1.2", .url = "http://x/"};
	struct harness harness;
	struct peer peer;
	json_t *reply;
	const char *text;

	(void)state;

	start(&harness, &options);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.varlink.service.GetInfo", NULL, NULL);
	peer_expect(&harness, &peer,
		    "{\"parameters\":{\"vendor\":\"Vendor\",\"product\":\"Product\","
		    "\"version\":\"1.2\",\"url\":\"http://x/\",\"interfaces\":"
		    "[\"org.varlink.service\",\"org.example.test\"]}}");

	peer_call(&peer, "org.varlink.service.GetInterfaceDescription",
		  "{\"interface\":\"org.example.test\"}", NULL);
	reply = peer_receive(&harness, &peer);
	assert_int_equal(json_unpack(reply, "{s:{s:s}}", "parameters", "description", &text), 0);
	assert_string_equal(text, description);
	json_decref(reply);

	peer_call(&peer, "org.varlink.service.GetInterfaceDescription",
		  "{\"interface\":\"org.varlink.service\"}", NULL);
	reply = peer_receive(&harness, &peer);
	assert_int_equal(json_unpack(reply, "{s:{s:s}}", "parameters", "description", &text), 0);
	assert_non_null(strstr(text, "interface org.varlink.service\n"));
	json_decref(reply);

	peer_call(&peer, "org.varlink.service.GetInterfaceDescription",
		  "{\"interface\":\"org.example\"}", NULL);
	peer_expect_error(&harness, &peer, "org.varlink.service.InterfaceNotFound",
			  "{\"interface\":\"org.example\"}");
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_standard_errors(void **state)
{
	static const struct {
		const char *method, *parameters, *flag;
		const char *error, *error_parameters;
	} cases[] = {
		{"org.example.none.Echo", NULL, NULL, "InterfaceNotFound",
		 "{\"interface\":\"org.example.none\"}"},
		{"org.example.Echo", NULL, NULL, "InterfaceNotFound",
		 "{\"interface\":\"org.example\"}"},
		{"org.example.test.Nothing", NULL, NULL, "MethodNotFound",
		 "{\"method\":\"org.example.test.Nothing\"}"},
		{"org.example.test.", NULL, NULL, "MethodNotFound",
		 "{\"method\":\"org.example.test.\"}"},
		{"org.example.test.Colour", NULL, NULL, "MethodNotFound",
		 "{\"method\":\"org.example.test.Colour\"}"},
		{"org.example.test.Planned", NULL, NULL, "MethodNotImplemented",
		 "{\"method\":\"org.example.test.Planned\"}"},
		{"Echo", NULL, NULL, "InvalidParameter", "{\"parameter\":\"method\"}"},
		{"", NULL, NULL, "InvalidParameter", "{\"parameter\":\"method\"}"},
		{"org.example.test.Echo", NULL, NULL, "InvalidParameter",
		 "{\"parameter\":\"text\"}"},
		{"org.example.test.Echo", "null", NULL, "InvalidParameter",
		 "{\"parameter\":\"text\"}"},
		{"org.example.test.Echo", "{\"text\":7}", NULL, "InvalidParameter",
		 "{\"parameter\":\"text\"}"},
		{"org.example.test.Echo", "{\"text\":\"x\",\"color\":\"red\"}", NULL,
		 "InvalidParameter", "{\"parameter\":\"color\"}"},
		{"org.example.test.Echo", "{\"text\":\"x\",\"colour\":\"blue\"}", NULL,
		 "InvalidParameter", "{\"parameter\":\"colour\"}"},
		{"org.example.test.Streamed", NULL, NULL, "ExpectedMore", "{}"},
		{"org.example.test.Forbid", NULL, NULL, "PermissionDenied", "{}"},
		{"org.example.test.Mark", NULL, "upgrade", "InvalidParameter",
		 "{\"parameter\":\"upgrade\"}"},
	};
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *error = NULL;

		assert_true(asprintf(&error, "org.varlink.service.%s", cases[i].error) > 0);
		peer_call(&peer, cases[i].method, cases[i].parameters, cases[i].flag);
		peer_expect_error(&harness, &peer, error, cases[i].error_parameters);
	}

	/* None of them closed the connection. */
	peer_call(&peer, "org.example.test.Echo", "{\"text\":\"x\",\"colour\":null}", NULL);
	peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"x\"}}");
	peer_call(&peer, "org.example.test.Refuse", NULL, NULL);
	peer_expect_error(&harness, &peer, "org.example.test.Refused", "{\"why\":\"because\"}");
	assert_int_equal(harness_stats(&harness).calls, ELEMENTSOF(cases) + 2);
	assert_int_equal(harness_stats(&harness).errors, ELEMENTSOF(cases) + 1);
	assert_int_equal(service.marks, 0);
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_call_cut_at_every_byte(void **state)
{
	static const char call[] = "{\"method\":\"org.example.test.Echo\","
				   "\"parameters\":{\"text\":\"\\u00e4 \xc3\xa4\"}}";
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	for (size_t cut = 1; cut < sizeof(call); cut++) {
		json_t *reply;

		peer_open(&harness, &peer);
		assert_int_equal(send(peer.fd, call, cut, 0), cut);
		harness_settle(&harness);
		assert_false(peer_poll(&peer, &reply));
		assert_int_equal(send(peer.fd, call + cut, sizeof(call) - cut, 0),
				 sizeof(call) - cut);
		peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"\xc3\xa4 \xc3\xa4\"}}");
		peer_close(&peer);
	}
	assert_int_equal(harness_stats(&harness).malformed, 0);
	harness_stop(&harness);
}

static void test_pipelined_calls_are_answered_in_order(void **state)
{
	enum { CALLS = 500, CALL_BYTES = 100 };
	_cleanup_free_ char *calls = malloc(CALLS * CALL_BYTES);
	struct harness harness;
	struct peer peer;
	size_t n = 0;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	for (int i = 0; i < CALLS; i++)
		n += 1 + (size_t)sprintf(calls + n,
					 "{\"method\":\"org.example.test.Echo\","
					 "\"parameters\":{\"text\":\"%d\"}}",
					 i);
	assert_int_equal(send(peer.fd, calls, n, 0), n);
	for (int i = 0; i < CALLS; i++) {
		char text[64];

		snprintf(text, sizeof(text), "{\"parameters\":{\"text\":\"%d\"}}", i);
		peer_expect(&harness, &peer, text);
	}
	peer_close(&peer);
	harness_stop(&harness);
}

/* A client that sends calls and reads no reply holds up itself, and costs one reply's memory. */
static void test_pipelining_without_reading(void **state)
{
	enum { CALLS = 100, BYTES = 100000 };
	struct harness harness;
	struct peer greedy, other;
	json_t *reply;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &greedy);
	peer_open(&harness, &other);
	for (int i = 0; i < CALLS; i++)
		peer_call(&greedy, "org.example.test.Large", "{\"bytes\":100000}", NULL);
	harness_settle(&harness);
	assert_in_range(harness_stats(&harness).queued_bytes, 1, BYTES + 100);
	assert_in_range(harness_stats(&harness).calls, 1, 20);

	peer_call(&other, "org.example.test.Echo", "{\"text\":\"me\"}", NULL);
	peer_expect(&harness, &other, "{\"parameters\":{\"text\":\"me\"}}");

	for (int i = 0; i < CALLS; i++) {
		reply = peer_receive(&harness, &greedy);
		json_decref(reply);
	}
	assert_int_equal(harness_stats(&harness).disconnected_slow, 0);
	assert_int_equal(harness_stats(&harness).queued_bytes, 0);
	peer_close(&greedy);
	peer_close(&other);
	harness_stop(&harness);
}

static void test_more(void **state)
{
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Count", "{\"n\":3}", "more");
	peer_call(&peer, "org.example.test.Count", "{\"n\":3}", NULL);
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":1},\"continues\":true}");
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":2},\"continues\":true}");
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":3}}");
	peer_expect(&harness, &peer, "{\"parameters\":{\"i\":3}}");
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_oneway(void **state)
{
	static const char both[] = "{\"method\":\"org.example.test.Count\","
				   "\"parameters\":{\"n\":3},\"oneway\":true,\"more\":true}";
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Mark", NULL, "oneway");
	peer_call(&peer, "org.example.test.Mark", NULL, "oneway");
	peer_call(&peer, "org.example.test.Refuse", NULL, "oneway");
	peer_call(&peer, "org.example.test.Nothing", NULL, "oneway");
	peer_call(&peer, "org.example.test.Echo", "{}", "oneway");
	peer_send(&peer, both);
	peer_call(&peer, "org.example.test.Echo", "{\"text\":\"first\"}", NULL);
	peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"first\"}}");
	assert_int_equal(service.marks, 2);

	/* Carried out even though the client has left already. */
	peer_call(&peer, "org.example.test.Mark", NULL, "oneway");
	peer_call(&peer, "org.example.test.Mark", NULL, "oneway");
	peer_close(&peer);
	harness_run_until(&harness, harness_stats(&harness).clients == 0);
	assert_int_equal(service.marks, 4);
	harness_stop(&harness);
}

static void test_half_close(void **state)
{
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Large", "{\"bytes\":1000000}", NULL);
	peer_call(&peer, "org.example.test.Echo", "{\"text\":\"last\"}", NULL);
	assert_return_code(shutdown(peer.fd, SHUT_WR), errno);
	json_decref(peer_receive(&harness, &peer));
	peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"last\"}}");
	peer_expect_closed(&harness, &peer);
	assert_int_equal(harness_stats(&harness).malformed, 0);
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_peer_credentials(void **state)
{
	struct harness harness;
	struct peer peer;
	char text[128];

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Peer", NULL, NULL);
	snprintf(text, sizeof(text), "{\"parameters\":{\"uid\":%d,\"gid\":%d,\"pid\":%d}}",
		 (int)geteuid(), (int)getegid(), (int)getpid());
	peer_expect(&harness, &peer, text);
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_reply_limit(void **state)
{
	const struct varlink_server_options options = {.max_reply_bytes = 1000};
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, &options);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Large", "{\"bytes\":1000}", NULL);
	peer_expect_error(&harness, &peer, "org.example.test.Refused", "{\"why\":\"too long\"}");
	peer_call(&peer, "org.example.test.Large", "{\"bytes\":900}", NULL);
	json_decref(peer_receive(&harness, &peer));
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_misuse(void **state)
{
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Misuse", NULL, NULL);
	peer_expect(&harness, &peer, "{\"parameters\":{}}");
	peer_call(&peer, "org.example.test.Echo", "{\"text\":\"alive\"}", NULL);
	peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"alive\"}}");
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_interfaces_that_are_refused(void **state)
{
	static const struct varlink_method unknown[] = {{.name = "Other", .handler = mark}};
	struct harness harness;

	(void)state;

	start(&harness, NULL);
	assert_int_equal(varlink_server_add_interface(harness.server, description, NULL, 0, NULL),
			 -EEXIST);
	assert_int_equal(varlink_server_add_interface(harness.server,
						      "interface org.varlink.service"
						      " method M() -> ()",
						      NULL, 0, NULL),
			 -EEXIST);
	assert_int_equal(
		varlink_server_add_interface(harness.server, "interface a.b", NULL, 0, NULL),
		-EBADMSG);
	assert_int_equal(varlink_server_add_interface(harness.server,
						      "interface a.b method M() -> ()", unknown, 1,
						      NULL),
			 -ENOENT);
	harness_stop(&harness);
}

/* ---- what closes a connection ---- */

static void test_malformed(void **state)
{
	static const char *const messages[] = {
		"",
		"x",
		"{",
		"[]",
		"null",
		"{}",
		"{\"method\":1}",
		"{\"method\":\"org.example.test.Mark\"} {}",
		"{\"method\":\"org.example.test.Mark\",\"method\":\"org.example.test.Mark\"}",
		"{\"method\":\"org.example.test.Mark\",\"parameters\":[]}",
		"{\"method\":\"org.example.test.Mark\",\"parameters\":1}",
		"{\"method\":\"org.example.test.Mark\",\"more\":1}",
		"{\"method\":\"org.example.test.Mark\",\"oneway\":\"true\"}",
		"{\"method\":\"org.example.test.Mark\",\"upgrade\":{}}",
		"{\"method\":\"org.example.test.Mark\",\"x\":99999999999999999999}",
		"{\"method\":\"org.example.test.Mark\",\"x\":1e999}",
		"{\"method\":\"org.example.test.\xff\"}",
		"{\"method\":\"org.example.test.Mark\\u0000\"}",
	};
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	for (size_t i = 0; i < ELEMENTSOF(messages); i++) {
		peer_open(&harness, &peer);
		peer_send(&peer, messages[i]);
		peer_expect_closed(&harness, &peer);
		peer_close(&peer);
		assert_int_equal(harness_stats(&harness).malformed, i + 1);
	}
	assert_int_equal(service.marks, 0);
	assert_int_equal(harness_stats(&harness).calls, 0);

	/* A vendor's extension and flags that are null are none of these. */
	peer_open(&harness, &peer);
	peer_send(&peer, "{\"method\":\"org.example.test.Mark\",\"parameters\":null,\"more\":null,"
			 "\"oneway\":null,\"upgrade\":false,\"com.example.x\":{\"y\":1}}");
	peer_expect(&harness, &peer, "{\"parameters\":{}}");

	/* The end in the middle of a message. */
	assert_int_equal(send(peer.fd, "{", 1, 0), 1);
	peer_close(&peer);
	harness_run_until(&harness, harness_stats(&harness).clients == 0);
	assert_int_equal(harness_stats(&harness).malformed, ELEMENTSOF(messages) + 1);
	harness_stop(&harness);
}

static void test_deep_nesting(void **state)
{
	enum { DEPTH = 90000 };
	_cleanup_free_ char *text = malloc(DEPTH + 1);
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	for (int object = 0; object < 2; object++) {
		peer_open(&harness, &peer);
		for (size_t i = 0; i < DEPTH; i++)
			text[i] = object ? "{\"a\":"[i % 5] : '[';
		text[DEPTH] = '\0';
		peer_send(&peer, text);
		peer_expect_closed(&harness, &peer);
		peer_close(&peer);
	}
	assert_int_equal(harness_stats(&harness).malformed, 2);
	harness_stop(&harness);
}

static void test_oversized(void **state)
{
	const struct varlink_server_options options = {.max_call_bytes = 1000};
	struct harness harness;
	struct peer peer;
	char text[1002];

	(void)state;

	start(&harness, &options);

	/* As long as may be… */
	memset(text, ' ', sizeof(text));
	text[1000] = '\0';
	memcpy(text, "{\"method\":\"org.example.test.Mark\"}",
	       strlen("{\"method\":\"org.example.test.Mark\"}"));
	peer_open(&harness, &peer);
	peer_send(&peer, text);
	peer_expect(&harness, &peer, "{\"parameters\":{}}");

	/* … and one byte more, whether it ends or not. */
	text[1000] = ' ';
	text[1001] = '\0';
	peer_send(&peer, text);
	peer_expect_closed(&harness, &peer);
	peer_close(&peer);
	peer_open(&harness, &peer);
	assert_int_equal(send(peer.fd, text, 1001, 0), 1001);
	peer_expect_closed(&harness, &peer);
	peer_close(&peer);
	assert_int_equal(harness_stats(&harness).oversized, 2);
	assert_int_equal(harness_stats(&harness).malformed, 0);
	harness_stop(&harness);
}

static void test_handlers_that_fail(void **state)
{
	static const char *const failing[] = {"org.example.test.Fail", "org.example.test.Forget"};
	struct harness harness;
	struct peer peer;

	(void)state;

	start(&harness, NULL);
	for (size_t i = 0; i < ELEMENTSOF(failing); i++) {
		peer_open(&harness, &peer);
		peer_call(&peer, "org.example.test.Echo", "{\"text\":\"a\"}", NULL);
		peer_call(&peer, failing[i], NULL, NULL);
		peer_call(&peer, "org.example.test.Mark", NULL, NULL);
		peer_expect(&harness, &peer, "{\"parameters\":{\"text\":\"a\"}}");
		peer_expect_closed(&harness, &peer);
		peer_close(&peer);
		assert_int_equal(harness_stats(&harness).handler_failed, i + 1);
	}
	assert_int_equal(service.marks, 0);
	assert_int_equal(harness_stats(&harness).clients, 0);
	harness_stop(&harness);
}

/* ---- who gets a connection ---- */

static void test_many_clients(void **state)
{
	enum { CLIENTS = 200 };
	const struct varlink_server_options options = {.max_clients = CLIENTS};
	struct peer peers[CLIENTS], refused;
	struct harness harness;
	char text[64];

	(void)state;

	start(&harness, &options);
	for (int i = 0; i < CLIENTS; i++) {
		peer_open(&harness, &peers[i]);
		snprintf(text, sizeof(text), "{\"text\":\"%d\"}", i);
		peer_call(&peers[i], "org.example.test.Echo", text, NULL);
		if (i % 50 == 49)
			harness_settle(&harness);
	}
	for (int i = CLIENTS - 1; i >= 0; i--) {
		snprintf(text, sizeof(text), "{\"parameters\":{\"text\":\"%d\"}}", i);
		peer_expect(&harness, &peers[i], text);
	}
	assert_int_equal(harness_stats(&harness).clients, CLIENTS);
	assert_int_equal(harness_stats(&harness).accepted, CLIENTS);

	peer_open(&harness, &refused);
	peer_expect_closed(&harness, &refused);
	peer_close(&refused);
	assert_int_equal(harness_stats(&harness).refused, 1);
	assert_int_equal(harness_stats(&harness).accepted, CLIENTS);

	/* One leaves, one may come. */
	peer_close(&peers[17]);
	harness_run_until(&harness, harness_stats(&harness).clients == CLIENTS - 1);
	peer_open(&harness, &peers[17]);
	peer_call(&peers[17], "org.example.test.Echo", "{\"text\":\"in\"}", NULL);
	peer_expect(&harness, &peers[17], "{\"parameters\":{\"text\":\"in\"}}");

	for (int i = 0; i < CLIENTS; i++)
		peer_close(&peers[i]);
	harness_run_until(&harness, harness_stats(&harness).clients == 0);
	harness_stop(&harness);
}

static void test_clients_of_one_user(void **state)
{
	const struct varlink_server_options options = {.max_clients = 10, .max_clients_per_uid = 2};
	struct peer peers[2], one_more, roots[3];
	struct harness harness;
	uid_t me = geteuid();

	(void)state;

	start(&harness, &options);
	if (me == 0)
		assert_return_code(seteuid(65534), errno);
	for (size_t i = 0; i < ELEMENTSOF(peers); i++)
		peer_open(&harness, &peers[i]);
	peer_open(&harness, &one_more);
	if (me == 0)
		assert_return_code(seteuid(0), errno);

	peer_expect_closed(&harness, &one_more);
	assert_int_equal(harness_stats(&harness).refused, 1);
	assert_int_equal(harness_stats(&harness).clients, 2);
	for (size_t i = 0; i < ELEMENTSOF(peers); i++) {
		peer_call(&peers[i], "org.example.test.Mark", NULL, NULL);
		peer_expect(&harness, &peers[i], "{\"parameters\":{}}");
	}
	for (size_t i = 0; me == 0 && i < ELEMENTSOF(roots); i++) {
		peer_open(&harness, &roots[i]);
		peer_call(&roots[i], "org.example.test.Mark", NULL, NULL);
		peer_expect(&harness, &roots[i], "{\"parameters\":{}}");
	}
	for (size_t i = 0; me == 0 && i < ELEMENTSOF(roots); i++)
		peer_close(&roots[i]);
	peer_close(&peers[0]);
	peer_close(&peers[1]);
	peer_close(&one_more);
	harness_stop(&harness);
}

static void test_without_descriptors(void **state)
{
	struct rlimit before, none;
	struct harness harness;
	struct peer peer;
	int fd;

	(void)state;

	start(&harness, NULL);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Mark", NULL, NULL);

	assert_return_code(getrlimit(RLIMIT_NOFILE, &before), errno);
	fd = dup(peer.fd);
	close(fd);
	none = before;
	none.rlim_cur = (rlim_t)fd;
	assert_return_code(setrlimit(RLIMIT_NOFILE, &none), errno);
	harness_run_until(&harness, harness_stats(&harness).accept_failed == 1);
	harness_settle(&harness); /* it does not spin */
	assert_int_equal(harness_stats(&harness).accept_failed, 1);
	harness_run_until(&harness, harness_stats(&harness).accept_failed == 2);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), errno);

	peer_expect(&harness, &peer, "{\"parameters\":{}}");
	assert_int_equal(harness_stats(&harness).accepted, 1);
	peer_close(&peer);
	harness_stop(&harness);
}

static void test_listen_path(void **state)
{
	struct varlink_server *second;
	char long_path[200];
	struct harness harness;
	struct peer peer;
	struct stat st;
	int fd;

	(void)state;

	start(&harness, NULL);
	assert_return_code(lstat(harness.path, &st), errno);
	assert_int_equal(st.st_mode, S_IFSOCK | 0666);

	/* Somebody is there. */
	assert_return_code(varlink_server_new(harness.event, NULL, &second), 0);
	assert_int_equal(varlink_server_listen_path(second, harness.path, 0600), -EADDRINUSE);
	assert_return_code(lstat(harness.path, &st), errno);

	/* What is not a socket stays. */
	harness.server = varlink_server_free(harness.server);
	assert_int_equal(lstat(harness.path, &st), -1);
	fd = open(harness.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	assert_return_code(fd, errno);
	close(fd);
	assert_int_equal(varlink_server_listen_path(second, harness.path, 0600), -EADDRINUSE);
	assert_return_code(lstat(harness.path, &st), errno);
	assert_true(S_ISREG(st.st_mode));
	assert_return_code(unlink(harness.path), errno);

	/* A left-over socket is replaced. */
	{
		struct sockaddr_un address = {.sun_family = AF_UNIX};

		strcpy(address.sun_path, harness.path);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
		close(fd);
	}
	assert_int_equal(varlink_server_listen_path(second, harness.path, 0600), 0);
	assert_return_code(lstat(harness.path, &st), errno);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	harness.server = TAKE_PTR(second);
	peer_open(&harness, &peer);
	peer_call(&peer, "org.varlink.service.GetInfo", NULL, NULL);
	json_decref(peer_receive(&harness, &peer));
	peer_close(&peer);

	/* The path of another one by now is left alone. */
	assert_return_code(unlink(harness.path), errno);
	fd = open(harness.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	harness.server = varlink_server_free(harness.server);
	assert_return_code(unlink(harness.path), errno);

	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_return_code(varlink_server_new(harness.event, NULL, &harness.server), 0);
	assert_int_equal(varlink_server_listen_path(harness.server, long_path, 0600),
			 -ENAMETOOLONG);
	assert_int_equal(varlink_server_listen_path(harness.server, "/nonexistent/x", 0600),
			 -ENOENT);
	harness_stop(&harness);
}

static void test_listen_fd(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct harness harness;
	struct peer peer;
	int fd, fds[2];

	(void)state;

	start(&harness, NULL);
	free(harness.path);
	assert_true(asprintf(&harness.path, "%s/other", harness.directory) > 0);
	strcpy(address.sun_path, harness.path);

	/* As systemd passes it, if it were careless about flags. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
	assert_int_equal(varlink_server_listen_fd(harness.server, fd), -EPROTOTYPE);
	assert_return_code(listen(fd, 5), errno);
	assert_int_equal(varlink_server_listen_fd(harness.server, fd), 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);

	peer_open(&harness, &peer);
	peer_call(&peer, "org.example.test.Mark", NULL, NULL);
	peer_expect(&harness, &peer, "{\"parameters\":{}}");
	peer_close(&peer);

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	assert_int_equal(varlink_server_listen_fd(harness.server, fds[0]), -ENOTSOCK);
	close(fds[0]);
	close(fds[1]);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(varlink_server_listen_fd(harness.server, fd), -EPROTOTYPE);
	close(fd);

	harness.server = varlink_server_free(harness.server);
	assert_return_code(unlink(harness.path), errno); /* not ours to remove */
	harness_stop(&harness);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_service_interface),
		cmocka_unit_test(test_standard_errors),
		cmocka_unit_test(test_call_cut_at_every_byte),
		cmocka_unit_test(test_pipelined_calls_are_answered_in_order),
		cmocka_unit_test(test_pipelining_without_reading),
		cmocka_unit_test(test_more),
		cmocka_unit_test(test_oneway),
		cmocka_unit_test(test_half_close),
		cmocka_unit_test(test_peer_credentials),
		cmocka_unit_test(test_reply_limit),
		cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_interfaces_that_are_refused),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_oversized),
		cmocka_unit_test(test_handlers_that_fail),
		cmocka_unit_test(test_many_clients),
		cmocka_unit_test(test_clients_of_one_user),
		cmocka_unit_test(test_without_descriptors),
		cmocka_unit_test(test_listen_path),
		cmocka_unit_test(test_listen_fd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
