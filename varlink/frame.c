// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink framing: NUL-terminated JSON messages in and out of a stream socket, within limits.
#include "varlink/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BUFFER_BYTES_MIN 4096u
#define BUFFER_BYTES_KEEP (64u << 10) /* what an idle connection may hold on to */

void varlink_in_init(struct varlink_in *in, size_t limit_bytes)
{
	*in = (struct varlink_in){.limit = limit_bytes};
}

void varlink_in_clear(struct varlink_in *in)
{
	free(in->data);
	varlink_in_init(in, in->limit);
}

int varlink_in_next(struct varlink_in *in, const char **ret_text, size_t *ret_length)
{
	size_t unscanned = in->end - in->scanned;
	char *text, *nul;

	nul = unscanned > 0 ? memchr(in->data + in->scanned, '\0', unscanned) : NULL;
	if (!nul) {
		in->scanned = in->end;
		return in->end - in->start > in->limit ? -EMSGSIZE : 0;
	}

	/* The buffer has no room for a longer one. */
	text = in->data + in->start;
	*ret_text = text;
	*ret_length = (size_t)(nul - text);
	in->start += *ret_length + 1;
	in->scanned = in->start;
	return 1;
}

/* Make room for at least one more byte. */
static int in_reserve(struct varlink_in *in)
{
	size_t most = in->limit + 1, size;
	char *data;

	if (in->start == in->end) {
		in->start = in->scanned = in->end = 0;
	} else if (in->end == in->allocated && in->start > 0) {
		memmove(in->data, in->data + in->start, in->end - in->start);
		in->end -= in->start;
		in->scanned -= in->start;
		in->start = 0;
	}
	if (in->end < in->allocated)
		return 0;
	if (in->allocated >= most)
		return -EMSGSIZE;

	size = in->allocated > 0 ? in->allocated : BUFFER_BYTES_MIN / 2;
	size = size > most / 2 ? most : size * 2;
	data = realloc(in->data, size);
	if (!data)
		return -ENOMEM;
	in->data = data;
	in->allocated = size;
	return 0;
}

int varlink_in_read(struct varlink_in *in, int fd)
{
	ssize_t n;
	int r;

	r = in_reserve(in);
	if (r < 0)
		return r;

	do
		n = recv(fd, in->data + in->end, in->allocated - in->end, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;

	in->end += (size_t)n;
	return n > 0;
}

bool varlink_in_is_partial(const struct varlink_in *in)
{
	return in->end > in->start;
}

void varlink_in_trim(struct varlink_in *in)
{
	if (in->start == in->end && in->allocated > BUFFER_BYTES_KEEP)
		varlink_in_clear(in);
}

void varlink_out_clear(struct varlink_out *out)
{
	free(out->data);
	*out = (struct varlink_out){};
}

size_t varlink_out_pending(const struct varlink_out *out)
{
	return out->end - out->start;
}

int varlink_out_append(struct varlink_out *out, const char *bytes, size_t length)
{
	size_t pending = varlink_out_pending(out), size;
	char *data;

	if (length > out->allocated - out->end) {
		if (out->start > 0) {
			memmove(out->data, out->data + out->start, pending);
			out->start = 0;
			out->end = pending;
		}

		size = out->allocated > 0 ? out->allocated : BUFFER_BYTES_MIN;
		while (size - pending < length) {
			if (__builtin_mul_overflow(size, 2, &size))
				return -ENOMEM;
		}
		if (size > out->allocated) {
			data = realloc(out->data, size);
			if (!data)
				return -ENOMEM;
			out->data = data;
			out->allocated = size;
		}
	}

	memcpy(out->data + out->end, bytes, length);
	out->end += length;
	return 0;
}

struct dump {
	struct varlink_out *out;
	size_t left_bytes;
	int error;
};

static int dump_callback(const char *bytes, size_t length, void *userdata)
{
	struct dump *dump = userdata;

	/* jansson goes on after a key that did not fit: what follows might. */
	if (dump->error < 0)
		return -1;
	if (length > dump->left_bytes) {
		dump->error = -EMSGSIZE;
		return -1;
	}
	dump->left_bytes -= length;
	dump->error = varlink_out_append(dump->out, bytes, length);
	return dump->error < 0 ? -1 : 0;
}

int varlink_out_append_json(struct varlink_out *out, const json_t *json, size_t limit_bytes)
{
	struct dump dump = {.out = out, .left_bytes = limit_bytes};
	size_t pending = varlink_out_pending(out);

	if (json_dump_callback(json, dump_callback, &dump, JSON_COMPACT | JSON_ENCODE_ANY) < 0 ||
	    dump.error < 0) {
		varlink_out_rewind(out, pending);
		return dump.error < 0 ? dump.error : -ENOMEM;
	}
	return 0;
}

int varlink_out_message(struct varlink_out *out, const json_t *json, size_t limit_bytes)
{
	size_t pending = varlink_out_pending(out);
	int r;

	r = varlink_out_append_json(out, json, limit_bytes);
	if (r < 0)
		return r;
	r = varlink_out_append(out, "", 1);
	if (r < 0)
		varlink_out_rewind(out, pending);
	return r;
}

void varlink_out_rewind(struct varlink_out *out, size_t pending)
{
	out->end = out->start + pending;
}

int varlink_out_flush(struct varlink_out *out, int fd)
{
	ssize_t n;

	while (out->start < out->end) {
		n = send(fd, out->data + out->start, out->end - out->start,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
		}
		out->start += (size_t)n;
	}

	out->start = out->end = 0;
	if (out->allocated > BUFFER_BYTES_KEEP)
		varlink_out_clear(out);
	return 1;
}
