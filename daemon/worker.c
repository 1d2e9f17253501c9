// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// One thread for slow work on immutable data; results come back to the event loop.
#include "daemon/worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/cleanup.h"

struct worker {
	sd_event_source *source;
	int fd; /* the thread adds 1 when it has finished `running` */
	pthread_t thread;
	struct work *first, **last; /* waiting; the loop's alone */
	struct work *running;	    /* handed to the thread; the loop's alone */

	pthread_mutex_t mutex; /* of the two below */
	pthread_cond_t wake;
	struct work *given; /* NULL: nothing to do */
	bool stop;	    /* set by the loop alone */
};

static void *thread_main(void *userdata)
{
	struct worker *worker = userdata;

	for (;;) {
		struct work *work;
		uint64_t one = 1;

		pthread_mutex_lock(&worker->mutex);
		while (!worker->given && !worker->stop)
			pthread_cond_wait(&worker->wake, &worker->mutex);
		work = TAKE_PTR(worker->given);
		pthread_mutex_unlock(&worker->mutex);
		if (!work)
			return NULL;
		work->run(work);
		/* Cannot fail: the counter is far from its limit. */
		if (write(worker->fd, &one, sizeof(one)) < 0)
			abort();
	}
}

static struct work *take_first(struct worker *worker)
{
	struct work *work = worker->first;

	if (!work)
		return NULL;
	worker->first = work->next;
	if (!worker->first)
		worker->last = &worker->first;
	work->next = NULL;
	return work;
}

static void start_next(struct worker *worker)
{
	struct work *work;

	if (worker->stop || worker->running || !(work = take_first(worker)))
		return;
	worker->running = work;
	if (work->prepare)
		work->prepare(work);

	pthread_mutex_lock(&worker->mutex);
	worker->given = work;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
}

static int on_finished(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct worker *worker = userdata;
	struct work *work;
	uint64_t count;

	(void)source;
	(void)revents;
	if (read(fd, &count, sizeof(count)) < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	/* What is submitted within done() waits: the next one's prepare() shall see all that this
	 * one leaves behind. */
	work = worker->running;
	work->done(work);
	worker->running = NULL;
	start_next(worker);
	return 0;
}

int worker_new(sd_event *event, struct worker **ret)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	sigset_t all, before;
	int r;

	if (!worker)
		return -ENOMEM;
	worker->last = &worker->first;
	worker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->fd < 0) {
		r = -errno;
		goto fail;
	}
	r = sd_event_add_io(event, &worker->source, worker->fd, EPOLLIN, on_finished, worker);
	if (r < 0)
		goto fail;
	sd_event_source_set_description(worker->source, "worker");
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_cond_init(&worker->wake, NULL);

	/* Signals are the event loop's. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	r = -pthread_create(&worker->thread, NULL, thread_main, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		goto fail;
	pthread_setname_np(worker->thread, "ibsmd-worker");
	*ret = worker;
	return 0;
fail:
	sd_event_source_disable_unref(worker->source);
	if (worker->fd >= 0)
		close(worker->fd);
	free(worker);
	return r;
}

struct worker *worker_free(struct worker *worker)
{
	struct work *work;

	if (!worker)
		return NULL;
	pthread_mutex_lock(&worker->mutex);
	worker->stop = true;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
	pthread_join(worker->thread, NULL);
	if (worker->running)
		worker->running->done(worker->running);
	while ((work = take_first(worker))) {
		work->cancelled = true;
		work->done(work);
	}
	sd_event_source_disable_unref(worker->source);
	close(worker->fd);
	pthread_cond_destroy(&worker->wake);
	pthread_mutex_destroy(&worker->mutex);
	free(worker);
	return NULL;
}

void worker_submit(struct worker *worker, struct work *work)
{
	work->next = NULL;
	*worker->last = work;
	worker->last = &work->next;
	start_next(worker);
}
