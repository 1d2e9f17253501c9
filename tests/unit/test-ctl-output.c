// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The output: lines cut piece by piece, and which write error is reported.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctl/output.h"
#include "ctl/text.h"
#include "util/cleanup.h"

/* A pipe is read back after the output was closed; what is written must fit into it. */
static void assert_read(int fd, const char *expected)
{
	char buffer[4096];
	ssize_t n = read(fd, buffer, sizeof(buffer) - 1);

	assert_true(n >= 0);
	buffer[n] = '\0';
	assert_string_equal(buffer, expected);
}

static void test_lines(void **state)
{
	struct output out = {.utf8 = true, .columns = 20};
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(output_open(&out, fds[1]), 0);
	output_line(&out, STYLE_RED, "%s", "no colour\033[0m\n");
	output_add(&out, STYLE_NONE, "%s", "0123456789");
	output_add(&out, STYLE_NONE, "%s", "0123456789");
	output_add(&out, STYLE_NONE, "%s", "beyond");
	output_end(&out);
	output_add(&out, STYLE_NONE, "%s", "0123456789");
	output_add(&out, STYLE_NONE, "%s", "0123456789abc");
	output_end(&out);
	output_field(&out, "Label", "%d", 7);
	output_field(&out, "", "%s", "continued");
	out.colour = true;
	output_line(&out, STYLE_RED, "red");
	output_line(&out, STYLE_NONE, "plain");
	assert_int_equal(out.n_lines, 7);
	assert_int_equal(output_close(&out), 0);
	close(fds[1]);
	assert_read(fds[0], "no colour\\x1b[0m\\x0a\n"
			    "01234567890123456789\n"
			    "0123456789012345678…\n"
			    "         Label: 7\n"
			    "                con…\n"
			    "\033[1;31mred\033[0m\n"
			    "plain\n");
	close(fds[0]);
}

static void test_wrap(void **state)
{
	struct output out = {.utf8 = true, .columns = 20};
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(output_open(&out, fds[1]), 0);
	output_wrap(&out, STYLE_NONE, 4, "%s", "sixteen columns, and größere Wörter");
	output_wrap(&out, STYLE_NONE, 2, "%s", "aWordThatIsLongerThanALine and\033more");
	output_wrap(&out, STYLE_NONE, 0, "%s", "");
	out.columns = 0;
	output_wrap(&out, STYLE_NONE, 1, "%s", "no width at all, so that nothing is broken");
	assert_int_equal(output_close(&out), 0);
	close(fds[1]);
	assert_read(fds[0], "    sixteen columns,\n"
			    "    and größere\n"
			    "    Wörter\n"
			    "  aWordThatIsLongerThanALine\n"
			    "  and\\x1bmore\n"
			    "\n"
			    " no width at all, so that nothing is broken\n");
	close(fds[0]);
}

static void test_errors(void **state)
{
	struct output out = {0};
	int fds[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(output_open(&out, full), 0);
	assert_int_equal(output_flush(&out), 0);
	output_line(&out, STYLE_NONE, "text");
	assert_int_equal(output_flush(&out), -ENOSPC);
	/* It stays, also when there is nothing more to write. */
	assert_int_equal(output_flush(&out), -ENOSPC);
	assert_int_equal(output_close(&out), -ENOSPC);
	assert_int_equal(output_close(&out), 0);
	close(full);

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	assert_int_equal(output_open(&out, fds[1]), 0);
	output_line(&out, STYLE_NONE, "text");
	assert_int_equal(output_close(&out), -EPIPE);
	close(fds[1]);
}

/* A pipe that does not block is waited for. */
static void test_slow_reader(void **state)
{
	enum { BYTES = 1 << 20 };
	struct output out = {0};
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[0]);
		if (output_open(&out, fds[1]) < 0)
			_exit(1);
		for (int i = 0; i < BYTES; i++)
			putc('x', out.file);
		_exit(output_close(&out) == 0 ? 0 : 1);
	}
	close(fds[1]);
	assert_int_equal(fcntl(fds[0], F_SETFL, 0), 0);
	for (size_t total = 0; total < BYTES;) {
		char buffer[1000];
		ssize_t n = read(fds[0], buffer, sizeof(buffer));

		assert_true(n > 0);
		total += (size_t)n;
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fds[0]);
}

static void test_measure(void **state)
{
	struct output out = {0};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	unsetenv("COLUMNS");
	unsetenv("LINES");
	output_measure(&out, null);
	assert_int_equal(out.columns, 0);
	assert_int_equal(out.lines, 0);
	setenv("COLUMNS", "132", 1);
	setenv("LINES", "-3", 1);
	output_measure(&out, null);
	assert_int_equal(out.columns, 132);
	assert_int_equal(out.lines, 0);
	close(null);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),	cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_errors),	cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_measure),
	};

	setenv("LC_ALL", "C.UTF-8", 1);
	text_set_locale();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
