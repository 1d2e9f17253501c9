// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Threads that raise events as opensm's do: several at once, under opensm's locks.

#include "producers.h"

#include <string.h>
#include <time.h>

#include "notice.h"

static uint64_t now_nsec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void report(struct producer *p, osm_epi_event_id_t event, void *data, uint64_t index)
{
	uint64_t begin = now_nsec(), nsec;

	loaded_report(p->loaded, event, data);
	nsec = now_nsec() - begin;
	if (nsec > p->max_nsec)
		p->max_nsec = nsec;
	if (p->nsec)
		p->nsec[index] = nsec < UINT32_MAX ? (uint32_t)nsec : UINT32_MAX;
}

/* A received trap: shared lock. */
static void raise_trap(struct producer *p, uint64_t index)
{
	struct notice notice = {
		.generic = true,
		.number = 145,
		.lid1 = 1,
		.guid = (uint64_t)p->id << 48 | p->control,
	};
	ib_mad_notice_attr_t raw;

	notice_fill(&notice, &raw);
	cl_plock_acquire(&p->osm->lock);
	report(p, OSM_EVENT_ID_TRAP, &raw, index);
	cl_plock_release(&p->osm->lock);
	p->control++;
}

/* An acknowledged LFT block: exclusive lock. */
static void raise_lft_change(struct producer *p, uint64_t index)
{
	osm_epi_lft_change_event_t event = {.p_sw = p->sw, .flags = LFT_CHANGED_BLOCK};

	cl_plock_excl_acquire(&p->osm->lock);
	report(p, OSM_EVENT_ID_LFT_CHANGE, &event, index);
	cl_plock_release(&p->osm->lock);
	p->bulk++;
}

/* perfmgr's: none of osm->lock. */
static void raise_errors(struct producer *p, uint64_t index)
{
	osm_epi_pe_event_t event = {.symbol_err_cnt = index, .xmit_wait = 1};

	event.port_id.node_guid = p->id;
	report(p, OSM_EVENT_ID_PORT_ERRORS, &event, index);
	p->bulk++;
}

static void raise_zero(struct producer *p, uint64_t index)
{
	osm_epi_dc_event_t event = {.time_diff_s = 1};

	report(p, OSM_EVENT_ID_PORT_DATA_COUNTERS, &event, index);
}

static void keep_pace(const struct producer *p, uint64_t begin, uint64_t index)
{
	uint64_t due = begin + index * 1000000000u / p->per_sec;
	struct timespec ts = {.tv_sec = (time_t)(due / 1000000000u),
			      .tv_nsec = (long)(due % 1000000000u)};

	/* Sleeping for less than this takes longer than that. */
	if (now_nsec() + 100000 < due)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void *produce(void *data)
{
	struct producer *p = data;
	uint64_t begin = now_nsec();

	for (uint64_t i = 0; p->events == 0 || i < p->events; i++) {
		if (atomic_load(&p->stop))
			break;
		if (p->per_sec)
			keep_pace(p, begin, i);
		switch (i % 8) {
		case 0:
			raise_trap(p, i);
			break;
		case 1:
			raise_zero(p, i);
			break;
		case 2:
			raise_lft_change(p, i);
			break;
		default:
			raise_errors(p, i);
			break;
		}
	}
	atomic_store(&p->done, true);
	return NULL;
}

void producers_start(struct producer *producers, unsigned int n, struct loaded *loaded,
		     osm_opensm_t *osm, osm_switch_t *sw, uint64_t events, uint64_t per_sec)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t *nsec = producers[i].nsec;

		producers[i] = (struct producer){.loaded = loaded,
						 .osm = osm,
						 .sw = sw,
						 .id = i,
						 .events = events,
						 .per_sec = per_sec,
						 .nsec = nsec};
		pthread_create(&producers[i].thread, NULL, produce, &producers[i]);
	}
}

bool producers_done(struct producer *producers, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!atomic_load(&producers[i].done))
			return false;
	return true;
}

void producers_stop(struct producer *producers, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		atomic_store(&producers[i].stop, true);
}

void producers_join(struct producer *producers, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		pthread_join(producers[i].thread, NULL);
}

uint64_t producers_control(const struct producer *producers, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += producers[i].control;
	return sum;
}

uint64_t producers_bulk(const struct producer *producers, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += producers[i].bulk;
	return sum;
}

uint64_t producers_max_nsec(const struct producer *producers, unsigned int n)
{
	uint64_t max = 0;

	for (unsigned int i = 0; i < n; i++)
		if (producers[i].max_nsec > max)
			max = producers[i].max_nsec;
	return max;
}
