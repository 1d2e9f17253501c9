// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Where a verb's text or JSON goes: standard output or a pager; the first write error is kept.
#include "ctl/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/pager.h"
#include "ctl/text.h"
#include "util/cleanup.h"

#define JSON_INDENT_SPACES 2
#define LABEL_COLUMNS 14
#define SHELL_CANNOT_RUN 126 /* and 127: exit codes of sh where there was nothing to run */

/* For fopencookie(): stdio would forget which of several writes failed, and why. */
static ssize_t output_write(void *cookie, const char *data, size_t size)
{
	struct output *out = cookie;
	size_t done = 0;

	while (done < size && out->error == 0) {
		ssize_t n = write(out->fd, data + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = out->fd, .events = POLLOUT}, 1, -1);
		else if (errno != EINTR)
			out->error = errno;
	}
	return (ssize_t)done;
}

int output_open(struct output *out, int fd)
{
	out->file = fopencookie(out, "w", (cookie_io_functions_t){.write = output_write});
	if (!out->file)
		return -errno;
	out->fd = fd;
	out->error = 0;
	out->pager = 0;
	return 0;
}

void output_start_pager(struct output *out)
{
	pid_t pid;
	int fd;

	if (out->pager || pager_start(&pid, &fd) < 0)
		return;
	fflush(out->file);
	out->fd = fd;
	out->pager = pid;
}

int output_fail(struct output *out, int error)
{
	if (out->error == 0)
		out->error = error;
	return -out->error;
}

int output_flush(struct output *out)
{
	fflush(out->file);
	return -out->error;
}

int output_close(struct output *out)
{
	int status = 0;

	if (!out->file)
		return 0;
	fclose(TAKE_PTR(out->file));
	if (!out->pager)
		return -out->error;

	close(out->fd);
	while (waitpid(out->pager, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) >= SHELL_CANNOT_RUN)
		return -ENOEXEC;
	return out->error == EPIPE ? 0 : -out->error;
}

static const char *const style_starts[] = {
	[STYLE_NONE] = "",	    [STYLE_BOLD] = "\033[1m",	  [STYLE_GREY] = "\033[90m",
	[STYLE_RED] = "\033[1;31m", [STYLE_GREEN] = "\033[1;32m", [STYLE_YELLOW] = "\033[1;33m",
	[STYLE_HEADER] = "\033[4m",
};

void output_style(struct output *out, enum style style)
{
	if (out->colour)
		fputs(style_starts[style], out->file);
}

void output_style_end(struct output *out, enum style style)
{
	if (out->colour && style != STYLE_NONE)
		fputs("\033[0m", out->file);
}

const char *output_glyph(const struct output *out, enum glyph glyph)
{
	static const char *const glyphs[][2] = {
		[GLYPH_DOT] = {"*", "●"},
		[GLYPH_ARROW] = {"->", "→"},
		[GLYPH_LINK] = {"--", "—"},
		[GLYPH_TIMES] = {"x", "×"},
	};

	return glyphs[glyph][out->utf8];
}

__attribute__((format(printf, 3, 0))) static void add(struct output *out, enum style style,
						      const char *format, va_list ap)
{
	_cleanup_free_ char *raw = NULL, *printable = NULL, *cut = NULL;

	if (vasprintf(&raw, format, ap) < 0) {
		raw = NULL;
		goto no_memory;
	}
	printable = text_printable(raw, out->utf8);
	if (!printable)
		goto no_memory;
	if (out->columns) {
		size_t left = out->columns > out->used ? out->columns - out->used : 0;

		cut = text_cut(printable, left, out->utf8);
		if (!cut)
			goto no_memory;
		out->used += text_width(printable);
	}
	output_style(out, style);
	fputs(cut ? cut : printable, out->file);
	output_style_end(out, style);
	return;
no_memory:
	output_fail(out, ENOMEM);
}

void output_add(struct output *out, enum style style, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(out, style, format, ap);
	va_end(ap);
}

void output_end(struct output *out)
{
	putc('\n', out->file);
	out->used = 0;
	out->n_lines++;
}

void output_line(struct output *out, enum style style, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(out, style, format, ap);
	va_end(ap);
	output_end(out);
}

void output_label(struct output *out, const char *label)
{
	output_add(out, STYLE_NONE, "%*s%s ", LABEL_COLUMNS, label, *label ? ":" : " ");
}

void output_field(struct output *out, const char *label, const char *format, ...)
{
	va_list ap;

	output_label(out, label);
	va_start(ap, format);
	add(out, STYLE_NONE, format, ap);
	va_end(ap);
	output_end(out);
}

/* How much of @text, in bytes, goes on a line of @width columns: up to a blank, or all of a word.
 */
static size_t fitting(const char *text, size_t width)
{
	size_t fits = 0, end = 0;

	while (text[end]) {
		_cleanup_free_ char *head = NULL;

		end += strspn(text + end, " ");
		end += strcspn(text + end, " ");
		head = strndup(text, end);
		if (!head || (text_width(head) > width && fits > 0))
			break;
		fits = end;
	}
	return fits;
}

void output_wrap(struct output *out, enum style style, unsigned indent, const char *format, ...)
{
	_cleanup_free_ char *raw = NULL, *printable = NULL;
	size_t width = out->columns > indent ? out->columns - indent : SIZE_MAX;
	unsigned columns = out->columns;
	const char *text;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&raw, format, ap) < 0)
		raw = NULL;
	va_end(ap);
	printable = raw ? text_printable(raw, out->utf8) : NULL;
	if (!printable) {
		output_fail(out, ENOMEM);
		return;
	}
	out->columns = 0; /* a word that is too long is not cut */
	text = printable;
	do {
		size_t length = width == SIZE_MAX ? strlen(text) : fitting(text, width);

		output_line(out, style, "%*s%.*s", (int)indent, "", (int)length, text);
		text += length;
		text += strspn(text, " ");
	} while (*text);
	out->columns = columns;
}

static unsigned environment_number(const char *name)
{
	const char *text = getenv(name);
	long value = text ? strtol(text, NULL, 10) : 0;

	return value > 0 && value < USHRT_MAX ? (unsigned)value : 0;
}

void output_measure(struct output *out, int fd)
{
	struct winsize size = {0};

	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){0};
	out->columns = environment_number("COLUMNS");
	out->lines = environment_number("LINES");
	if (out->columns == 0)
		out->columns = size.ws_col;
	if (out->lines == 0)
		out->lines = size.ws_row;
}

/* Characters that JSON allows as they are but a terminal might obey: U+007F to U+009F, direction.
 */
static size_t json_dangerous(const unsigned char *p, size_t size, unsigned *ret_code)
{
	if (p[0] == 0x7f) {
		*ret_code = 0x7f;
		return 1;
	}
	if (size >= 2 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) {
		*ret_code = p[1];
		return 2;
	}
	if (size >= 3 && p[0] == 0xe2 && (p[1] == 0x80 || p[1] == 0x81)) {
		unsigned code = 0x2000u + ((p[1] & 0x3fu) << 6) + (p[2] & 0x3fu);

		if ((code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
		    (code >= 0x2060 && code <= 0x206f)) {
			*ret_code = code;
			return 3;
		}
	}
	return 0;
}

struct json_writer {
	struct output *out;
	unsigned indent; /* spaces before each line but the first */
};

/* Strings hold no newlines and only they hold such characters, so that bytes can be looked at. */
static int json_write(const char *data, size_t size, void *userdata)
{
	const struct json_writer *writer = userdata;
	FILE *file = writer->out->file;

	for (size_t i = 0; i < size; i++) {
		unsigned code;
		size_t n = json_dangerous((const unsigned char *)data + i, size - i, &code);

		if (n > 0) {
			fprintf(file, "\\u%04x", code);
			i += n - 1;
			continue;
		}
		putc_unlocked(data[i], file);
		if (data[i] == '\n')
			fprintf(file, "%*s", (int)writer->indent, "");
	}
	return 0;
}

static void json_dump_indented(struct output *out, const json_t *value, unsigned indent)
{
	struct json_writer writer = {.out = out, .indent = indent};
	size_t flags = out->json == JSON_PRETTY ? JSON_INDENT(JSON_INDENT_SPACES) : JSON_COMPACT;

	if (json_dump_callback(value, json_write, &writer, flags | JSON_ENCODE_ANY) < 0)
		output_fail(out, ENOMEM);
}

void output_json(struct output *out, const json_t *value)
{
	json_dump_indented(out, value, 0);
	putc('\n', out->file);
}

void output_json_begin(struct output *out, const char *name)
{
	bool pretty = out->json == JSON_PRETTY;

	out->n_json = 0;
	fprintf(out->file, pretty ? "{\n%*s\"%s\": [" : "{%*s\"%s\":[",
		pretty ? JSON_INDENT_SPACES : 0, "", name);
}

void output_json_item(struct output *out, const json_t *item)
{
	if (out->n_json++ > 0)
		putc(',', out->file);
	if (out->json == JSON_PRETTY)
		fprintf(out->file, "\n%*s", 2 * JSON_INDENT_SPACES, "");
	json_dump_indented(out, item, 2 * JSON_INDENT_SPACES);
}

void output_json_end(struct output *out)
{
	if (out->json != JSON_PRETTY)
		fputs("]}\n", out->file);
	else if (out->n_json == 0)
		fputs("]\n}\n", out->file);
	else
		fprintf(out->file, "\n%*s]\n}\n", JSON_INDENT_SPACES, "");
}
