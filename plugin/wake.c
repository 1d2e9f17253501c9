// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How a callback wakes the sender: a system call only when the sender really sleeps.

#include "wake.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

int wake_init(struct wake *wake)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	wake->fd = fd;
	atomic_init(&wake->mode, WAKE_AWAKE);
	return 0;
}

void wake_clear(struct wake *wake)
{
	if (wake->fd >= 0)
		close(wake->fd);
	wake->fd = -1;
}

static void wake_write(struct wake *wake)
{
	const uint64_t one = 1;
	int saved = errno;

	/* EAGAIN is the only failure: the counter is full, so a wake-up is pending anyway. */
	(void)syscall(SYS_write, wake->fd, &one, sizeof(one));
	errno = saved;
}

void wake_after_put(struct wake *wake, bool high_water)
{
	int mode = atomic_load(&wake->mode);

	if (mode == WAKE_AWAKE || (mode == WAKE_HIGH_WATER && !high_water))
		return;
	if (atomic_exchange(&wake->mode, WAKE_AWAKE) != WAKE_AWAKE)
		wake_write(wake);
}

void wake_always(struct wake *wake)
{
	atomic_store(&wake->mode, WAKE_AWAKE);
	wake_write(wake);
}

void wake_announce(struct wake *wake, enum wake_mode mode)
{
	atomic_store(&wake->mode, mode);
}

void wake_up(struct wake *wake)
{
	uint64_t count;

	atomic_store(&wake->mode, WAKE_AWAKE);
	/* EAGAIN: woken by something else. */
	(void)!read(wake->fd, &count, sizeof(count));
}
