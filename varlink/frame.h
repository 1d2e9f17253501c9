// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink framing: NUL-terminated JSON messages in and out of a stream socket, within limits.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* What was received and not yet taken. Never holds more than one message of the limit. */
struct varlink_in {
	char *data;
	size_t allocated;
	size_t start;	/* of the first message */
	size_t scanned; /* no NUL in [start, scanned) */
	size_t end;
	size_t limit; /* longest message, without its NUL */
};

void varlink_in_init(struct varlink_in *in, size_t limit_bytes);
void varlink_in_clear(struct varlink_in *in);

/**
 * Take the next whole message.
 * @ret_text: within the buffer, NUL-terminated; valid until the next call on @in
 * @ret_length: without the NUL
 * Returns 1 with a message, 0 when there is none yet, -EMSGSIZE when it is over the limit.
 */
int varlink_in_next(struct varlink_in *in, const char **ret_text, size_t *ret_length);

/**
 * Receive once, without blocking. To be called when varlink_in_next() returned 0.
 * Returns 1 when something came, 0 at the end of the stream, -EAGAIN, -ENOMEM, -EMSGSIZE,
 * or what recv() said.
 */
int varlink_in_read(struct varlink_in *in, int fd);

/* A message has begun and not ended. */
bool varlink_in_is_partial(const struct varlink_in *in);

/* Give back the memory of a large message once nothing is held. */
void varlink_in_trim(struct varlink_in *in);

/* What waits to be sent. All-zero is empty. */
struct varlink_out {
	char *data;
	size_t allocated;
	size_t start;
	size_t end;
};

void varlink_out_clear(struct varlink_out *out);
size_t varlink_out_pending(const struct varlink_out *out);

/* Append bytes. Returns 0 or -ENOMEM. */
int varlink_out_append(struct varlink_out *out, const char *bytes, size_t length);

/* Append the compact text of @json, without a NUL. Returns 0, -ENOMEM, or -EMSGSIZE when it would
 * be longer than @limit_bytes; nothing is appended then. */
int varlink_out_append_json(struct varlink_out *out, const json_t *json, size_t limit_bytes);

/* Append a whole message: the text and its NUL. As above. */
int varlink_out_message(struct varlink_out *out, const json_t *json, size_t limit_bytes);

/* Take back what was appended since varlink_out_pending() returned @pending. */
void varlink_out_rewind(struct varlink_out *out, size_t pending);

/* Send without blocking and without SIGPIPE. Returns 1 when all is sent, 0 when the socket is full
 * (some may be sent), or what send() said. */
int varlink_out_flush(struct varlink_out *out, int fd);
