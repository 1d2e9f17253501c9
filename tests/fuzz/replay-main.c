// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// main() of a fuzz target built without libFuzzer: feeds it every file of its corpus once.
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/cleanup.h"

/*
 * fuzz-NAME [FILE|DIRECTORY]...
 *
 * Without arguments the corpus is $IBSM_SRCDIR/tests/data/fuzz/NAME. An empty corpus is a failure:
 * a test that looked at nothing has not passed.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int replay_file(const char *path)
{
	_cleanup_(fclosep) FILE *f = NULL;
	_cleanup_free_ uint8_t *data = NULL;
	struct stat st;

	f = fopen(path, "re");
	if (!f || fstat(fileno(f), &st) < 0)
		return -errno;

	/* Exactly as large as the input, so that the address sanitizer sees one byte too many. */
	data = malloc((size_t)st.st_size ?: 1);
	if (!data)
		return -ENOMEM;
	if (fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		return -EIO;

	return LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
}

static int replay(const char *path, unsigned int *count)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	int r;

	dir = opendir(path);
	if (!dir && errno == ENOTDIR) {
		r = replay_file(path);
		if (r < 0)
			fprintf(stderr, "%s: %s\n", path, strerror(-r));
		else
			(*count)++;
		return r;
	}
	if (!dir) {
		r = -errno;
		fprintf(stderr, "%s: %s\n", path, strerror(-r));
		return r;
	}

	while ((entry = readdir(dir))) {
		_cleanup_free_ char *child = NULL;

		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&child, "%s/%s", path, entry->d_name) < 0) {
			child = NULL;
			return -ENOMEM;
		}
		r = replay(child, count);
		if (r < 0)
			return r;
	}

	return 0;
}

static char *default_corpus(const char *argv0)
{
	const char *name = strrchr(argv0, '/');
	const char *srcdir = getenv("IBSM_SRCDIR");
	char *path;

	name = name ? name + 1 : argv0;
	if (strncmp(name, "lt-", 3) == 0)
		name += 3;
	if (strncmp(name, "fuzz-", 5) == 0)
		name += 5;
	if (asprintf(&path, "%s/tests/data/fuzz/%s", srcdir ?: ".", name) < 0)
		return NULL;
	return path;
}

int main(int argc, char **argv)
{
	unsigned int count = 0;

	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			if (replay(argv[i], &count) < 0)
				return EXIT_FAILURE;
	} else {
		_cleanup_free_ char *corpus = default_corpus(argv[0]);

		if (!corpus || replay(corpus, &count) < 0)
			return EXIT_FAILURE;
	}

	printf("replayed %u inputs\n", count);
	return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
