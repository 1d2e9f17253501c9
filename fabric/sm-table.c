// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Every subnet manager known, with what each view says of it: its own plugin, an opensm, the wire.
#include "sm-table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ibsm/wire.h"

/* PortInfo.CapabilityMask, IBTA 14.2.5.6. */
#define CAPABILITY_IS_SM (1u << 1)

/* ActCount has 32 bits. A fall from the last quarter into the first one is its wrap, not a start.
 */
#define ACT_COUNT_QUARTER (UINT32_MAX / 4)

struct sm_entry *sm_table_find(struct sm_table *table, uint64_t port_guid)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->entries[i].port_guid == port_guid)
			return &table->entries[i];
	return NULL;
}

static bool seen_at(const struct sm_seen *seen, uint16_t lid)
{
	return seen->known && seen->lid == lid;
}

struct sm_entry *sm_table_find_lid(struct sm_table *table, uint16_t lid)
{
	struct sm_entry *best = NULL;

	if (lid == 0)
		return NULL;
	for (size_t i = 0; i < table->count; i++) {
		struct sm_entry *entry = &table->entries[i];

		if ((seen_at(&entry->self, lid) || seen_at(&entry->told, lid) ||
		     seen_at(&entry->outside, lid)) &&
		    (!best || entry->last_usec > best->last_usec))
			best = entry;
	}
	return best;
}

static struct sm_entry *get(struct sm_table *table, uint64_t port_guid,
			    const struct detect_time *now, unsigned int *news)
{
	struct sm_entry *entry = sm_table_find(table, port_guid);

	if (entry)
		return entry;
	if (table->count == SM_TABLE_MAX) {
		table->left_out++;
		*news |= SM_NEWS_LEFT_OUT;
		return NULL;
	}
	entry = &table->entries[table->count++];
	*entry = (struct sm_entry){
		.port_guid = port_guid,
		.self.priority = SM_PRIORITY_UNKNOWN,
		.told.priority = SM_PRIORITY_UNKNOWN,
		.outside.priority = SM_PRIORITY_UNKNOWN,
		.first_realtime_usec = now->realtime_usec,
	};
	*news |= SM_NEWS_NEW;
	return entry;
}

static void sign_of_life(struct sm_entry *entry, const struct detect_time *now)
{
	entry->last_usec = now->monotonic_usec;
	entry->last_realtime_usec = now->realtime_usec;
}

unsigned int sm_table_self(struct sm_table *table, const struct sm_self *self,
			   const struct detect_time *now, struct sm_entry **ret)
{
	unsigned int news = 0;
	struct sm_entry *entry = NULL;

	if (self->port_guid != 0)
		entry = get(table, self->port_guid, now, &news);
	if (ret)
		*ret = entry;
	if (!entry)
		return news;
	if (entry->instance != 0 && entry->instance != self->instance) {
		news |= SM_NEWS_RESTARTED_SELF;
		entry->act_count_base = false;
	}
	entry->instance = self->instance;
	entry->follows = self->state == IBSM_SM_STANDBY ? self->master_sm_guid : 0;
	entry->connected = true;
	entry->self.known = true;
	entry->self.state = self->state;
	if (self->priority != SM_PRIORITY_UNKNOWN)
		entry->self.priority = self->priority;
	if (self->lid != 0)
		entry->self.lid = self->lid;
	entry->self.usec = now->monotonic_usec;
	if (self->sweep_interval_known) {
		entry->sweep_interval_known = true;
		entry->sweep_interval_sec = self->sweep_interval_sec;
	}
	sign_of_life(entry, now);
	return news;
}

void sm_table_self_gone(struct sm_table *table, uint64_t port_guid)
{
	struct sm_entry *entry = sm_table_find(table, port_guid);

	if (entry) {
		entry->connected = false;
		entry->answered = 0;
	}
}

static bool act_count_fell(const struct sm_entry *entry, uint32_t act_count)
{
	uint32_t before = entry->outside.act_count;

	if (!entry->act_count_base || act_count >= before)
		return false;
	return before <= UINT32_MAX - ACT_COUNT_QUARTER || act_count >= ACT_COUNT_QUARTER;
}

static unsigned int answer(struct sm_table *table, const struct sm_reply *reply,
			   const struct detect_time *now, struct sm_entry **ret)
{
	unsigned int news = 0;
	struct sm_entry *entry = get(table, reply->guid, now, &news);
	struct sm_entry *former;

	/* Whoever else was thought to have this LID is not there. */
	while ((former = sm_table_find_lid(table, reply->lid)) && former != entry) {
		struct sm_seen *const views[] = {&former->self, &former->told, &former->outside};

		for (size_t i = 0; i < ELEMENTSOF(views); i++)
			if (views[i]->lid == reply->lid)
				views[i]->lid = 0;
	}
	*ret = entry;
	if (!entry)
		return news;
	if (act_count_fell(entry, reply->act_count))
		news |= SM_NEWS_RESTARTED_OUTSIDE;
	entry->outside = (struct sm_seen){
		.known = true,
		.state = reply->state,
		.priority = reply->priority,
		.lid = reply->lid,
		.act_count = reply->act_count,
		.usec = now->monotonic_usec,
	};
	entry->act_count_base = true;
	entry->asked = true;
	entry->answered++;
	entry->missed = 0;
	entry->rtt_usec = reply->rtt_usec;
	sign_of_life(entry, now);
	return news;
}

unsigned int sm_table_reply(struct sm_table *table, const struct sm_reply *reply,
			    const struct detect_time *now, struct sm_entry **ret)
{
	struct sm_entry *entry;
	unsigned int news = 0;

	if (reply->status == 0 && reply->guid != 0) {
		news = answer(table, reply, now, &entry);
	} else {
		entry = sm_table_find_lid(table, reply->lid);
		if (entry) {
			entry->asked = true;
			entry->answered = 0;
			entry->missed++;
			entry->miss_status = reply->status;
		}
	}
	if (ret)
		*ret = entry;
	return news;
}

void sm_table_outside_lost(struct sm_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		struct sm_entry *entry = &table->entries[i];

		entry->asked = false;
		entry->answered = 0;
		entry->missed = 0;
	}
}

/* Names and place of an SM's port, where the fabric has it. */
static void locate(struct sm_entry *entry, const struct fabric *fabric)
{
	uint32_t port = fabric_port_by_guid(fabric, entry->port_guid);
	const struct ibsm_snap_port *row;

	entry->in_fabric =
		port != IBSM_NONE && fabric_node_present(fabric, fabric_port(fabric, port)->node);
	if (port == IBSM_NONE)
		return;
	row = fabric_port(fabric, port);
	entry->node_guid = fabric_node(fabric, row->node)->node_guid;
	entry->node_type = fabric_node(fabric, row->node)->type;
	entry->port = row->port;
	entry->is_sm_bit = row->capability_mask & CAPABILITY_IS_SM;
	sm_name_copy(entry->node, fabric_node_name(fabric, row->node));
}

void sm_table_fabric(struct sm_table *table, const struct fabric *fabric,
		     const struct detect_time *now)
{
	const struct snapshot *snapshot = fabric->snapshot;

	for (size_t i = 0; i < table->count; i++)
		table->entries[i].listed = false;
	for (uint32_t i = 0; i < snapshot_sms(snapshot); i++) {
		const struct ibsm_snap_sm *row = snapshot_sm(snapshot, i);
		unsigned int news = 0;
		struct sm_entry *entry;

		if (row->port_guid == 0)
			continue;
		entry = get(table, row->port_guid, now, &news);
		if (!entry)
			continue;
		entry->listed = true;
		entry->told_by_itself = row->self;
		entry->told = (struct sm_seen){
			.known = true,
			.state = row->state,
			.priority = row->priority,
			.lid = row->lid,
			.act_count = row->act_count,
			.usec = now->monotonic_usec,
		};
		/* A row about another SM may be of one that is long dead: it is no sign of life,
		 * but where nothing better is there. */
		if (row->self || !entry->asked)
			sign_of_life(entry, now);
	}
	for (size_t i = 0; i < table->count; i++)
		locate(&table->entries[i], fabric);
}

void sm_table_set_local(struct sm_table *table, const uint64_t *port_guids, size_t count)
{
	table->local_count = count < SM_LOCAL_PORTS_MAX ? count : SM_LOCAL_PORTS_MAX;
	if (table->local_count > 0)
		memcpy(table->local_ports, port_guids,
		       table->local_count * sizeof(table->local_ports[0]));
}

void sm_table_expire(struct sm_table *table, uint64_t age_usec, const struct detect_time *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct sm_entry *entry = &table->entries[i];

		if (!entry->connected && detect_age_usec(now, entry->last_usec) >= age_usec)
			continue;
		if (kept != i)
			table->entries[kept] = *entry;
		kept++;
	}
	table->count = kept;
}

bool sm_entry_is_local(const struct sm_table *table, const struct sm_entry *entry)
{
	if (entry->connected)
		return true;
	for (size_t i = 0; i < table->local_count; i++)
		if (table->local_ports[i] == entry->port_guid)
			return true;
	return false;
}

/* The freshest kind of view of one that is alive, or NULL. */
static const struct sm_seen *live_view(const struct sm_entry *entry)
{
	if (entry->connected)
		return &entry->self;
	if (entry->asked)
		return entry->answered > 0 ? &entry->outside : NULL;
	return entry->listed && entry->in_fabric && !entry->told_by_itself ? &entry->told : NULL;
}

bool sm_entry_is_alive(const struct sm_entry *entry)
{
	return live_view(entry) != NULL;
}

int sm_entry_state(const struct sm_entry *entry)
{
	const struct sm_seen *view = live_view(entry);

	return view ? view->state : -1;
}

/* The views with the best first: live, then by age. */
static void by_freshness(const struct sm_entry *entry, const struct sm_seen *ret[SM_VIEWS])
{
	const struct sm_seen *live = live_view(entry);
	const struct sm_seen *views[SM_VIEWS] = {&entry->self, &entry->outside, &entry->told};

	for (size_t i = 1; i < SM_VIEWS; i++)
		for (size_t j = i; j > 0; j--) {
			const struct sm_seen *a = views[j - 1], *b = views[j];

			if (a == live || (b != live && a->usec >= b->usec))
				break;
			views[j - 1] = b;
			views[j] = a;
		}
	memcpy(ret, views, sizeof(views));
}

uint8_t sm_entry_priority(const struct sm_entry *entry)
{
	const struct sm_seen *views[SM_VIEWS];

	by_freshness(entry, views);
	for (size_t i = 0; i < SM_VIEWS; i++)
		if (views[i]->priority != SM_PRIORITY_UNKNOWN)
			return views[i]->priority;
	return SM_PRIORITY_UNKNOWN;
}

uint16_t sm_entry_lid(const struct sm_entry *entry)
{
	const struct sm_seen *views[SM_VIEWS];

	by_freshness(entry, views);
	for (size_t i = 0; i < SM_VIEWS; i++)
		if (views[i]->lid != 0)
			return views[i]->lid;
	return 0;
}

const char *sm_entry_label(const struct sm_entry *entry, char buffer[static SM_LABEL_BYTES])
{
	if (entry->node[0])
		snprintf(buffer, SM_LABEL_BYTES, "%s", entry->node);
	else
		snprintf(buffer, SM_LABEL_BYTES, "0x%016" PRIx64, entry->port_guid);
	return buffer;
}

size_t sm_entry_views(const struct sm_entry *entry, const char *ret[static SM_VIEWS])
{
	size_t n = 0;

	if (entry->self.known && entry->connected)
		ret[n++] = "self";
	if (entry->told.known && entry->listed)
		ret[n++] = "told";
	if (entry->outside.known && entry->asked)
		ret[n++] = "outside";
	return n;
}

size_t sm_table_save(const struct sm_table *table, struct sm_saved ret[static SM_TABLE_MAX])
{
	for (size_t i = 0; i < table->count; i++) {
		const struct sm_entry *entry = &table->entries[i];

		ret[i] = (struct sm_saved){
			.port_guid = entry->port_guid,
			.node_guid = entry->node_guid,
			.first_realtime_usec = entry->first_realtime_usec,
			.last_realtime_usec = entry->last_realtime_usec,
			.instance = entry->instance,
			.act_count = entry->outside.act_count,
			.act_count_base = entry->act_count_base,
			.lid = sm_entry_lid(entry),
			.priority = sm_entry_priority(entry),
			.node_type = entry->node_type,
		};
		sm_name_copy(ret[i].node, entry->node);
	}
	return table->count;
}

size_t sm_table_load(struct sm_table *table, const struct sm_saved *saved, size_t count,
		     const struct detect_time *now)
{
	size_t left_out = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned int news = 0;
		struct sm_entry *entry;

		if (saved[i].port_guid == 0 || saved[i].last_realtime_usec > now->realtime_usec ||
		    saved[i].first_realtime_usec > saved[i].last_realtime_usec) {
			left_out++;
			continue;
		}
		entry = get(table, saved[i].port_guid, now, &news);
		if (!entry) {
			left_out++;
			continue;
		}
		entry->node_guid = saved[i].node_guid;
		entry->node_type = saved[i].node_type;
		sm_name_copy(entry->node, saved[i].node);
		entry->first_realtime_usec = saved[i].first_realtime_usec;
		entry->last_realtime_usec = saved[i].last_realtime_usec;
		entry->last_usec = detect_from_realtime(now, saved[i].last_realtime_usec);
		/* So that a start meanwhile is seen. */
		entry->instance = saved[i].instance;
		entry->outside.act_count = saved[i].act_count;
		entry->act_count_base = saved[i].act_count_base;
		/* Remembered, but not told by any view: a LID to ask, and a priority. */
		entry->told.priority = saved[i].priority;
		entry->told.lid = saved[i].lid;
	}
	return left_out;
}
