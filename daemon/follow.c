// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which plugin the model follows, and whose the subnet is.
#include "daemon/follow.h"

#include "daemon/adopt.h"
#include "daemon/clock.h"
#include "daemon/manager.h"
#include "daemon/sweeps.h"
#include "fabric/names.h"

static bool is_better(const struct plugin *p, const struct plugin *best)
{
	bool master = p->sm_state == IBSM_SM_MASTER, best_master;

	if (!best)
		return true;
	best_master = best->sm_state == IBSM_SM_MASTER;
	if (master != best_master)
		return master;
	if (p->subnet_checked != best->subnet_checked)
		return p->subnet_checked;
	if (master && p->subnet_up_nsec != best->subnet_up_nsec)
		return p->subnet_up_nsec > best->subnet_up_nsec;
	return p->followed;
}

void follow_choose(struct manager *m)
{
	struct plugin *best = NULL, *before = m->ingest.followed;
	char text[PLUGIN_TEXT_BYTES];

	if (m->ingest.stopping)
		return;
	for (struct plugin *p = m->ingest.plugins; p; p = p->next)
		if (p->greeted && is_better(p, best))
			best = p;
	if (best == before)
		return;
	if (before)
		before->followed = false;
	m->ingest.followed = best;
	health_not_followed(m);
	if (!best)
		return;
	best->followed = true;
	sweeps_listen(best);
	if (m->ingest.last_followed && m->ingest.last_followed != best->hello.instance) {
		log_notice("following %s, whose SM is %s", plugin_text(best, text),
			   sm_state_name(best->sm_state));
		manager_event_text(m, EVENT_PLUGIN_FOLLOWED, FABRIC_SEVERITY_NOTICE,
				   "the model follows %s from here on, whose SM is %s",
				   plugin_text(best, text), sm_state_name(best->sm_state));
	}
	m->ingest.last_followed = best->hello.instance;
	if (best->snapshot && adopt_plugin(best) < 0)
		log_error("no memory to adopt the fabric of %s", plugin_text(best, text));
}

bool follow_subnet_is_claimed(const struct plugin *plugin)
{
	const struct manager *m = plugin->manager;

	for (const struct plugin *p = m->ingest.plugins; p; p = p->next)
		if (p != plugin && p->subnet_checked)
			return true;
	return m->ingest.left_usec &&
	       now_monotonic_usec() - m->ingest.left_usec < m->conf.plugin_timeout_usec;
}
