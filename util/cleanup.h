// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Scope-bound ownership: free, close and the macros that hand a resource on.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)

/* Define NAMEp() for use with _cleanup_(), from a NAME() that takes a pointer and accepts NULL. */
#define DEFINE_CLEANUP(type, func)                                                                 \
	static inline void func##p(type *p)                                                        \
	{                                                                                          \
		if (*p)                                                                            \
			func(*p);                                                                  \
	}                                                                                          \
	struct cleanup_needs_a_semicolon

#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__auto_type _taken = (p);                                                          \
		(p) = NULL;                                                                        \
		_taken;                                                                            \
	})

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int _taken = (fd);                                                                 \
		(fd) = -1;                                                                         \
		_taken;                                                                            \
	})

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))
