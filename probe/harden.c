// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Gives up what a process that only sends Gets has no use for.
#include <limits.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/harden.h"

/* The leak checker of the address sanitizer attaches to its own process. */
#if defined(__SANITIZE_ADDRESS__)
#define CHECKED_FOR_LEAKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKED_FOR_LEAKS 1
#endif
#endif
#ifndef CHECKED_FOR_LEAKS
#define CHECKED_FOR_LEAKS 0
#endif

void harden_close_others(int keep_fd)
{
	const unsigned int keep = keep_fd > STDERR_FILENO ? (unsigned int)keep_fd : STDERR_FILENO;

	if (keep > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, keep - 1, 0);
	close_range(keep + 1, UINT_MAX, 0);
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capset, &header, none);
}

void harden_self(void)
{
	const struct rlimit nothing = {};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &nothing);
	if (!CHECKED_FOR_LEAKS) {
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		drop_capabilities();
	}
}
