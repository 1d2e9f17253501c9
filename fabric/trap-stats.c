// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Traps by number and by sender; bounded, the busiest senders kept, and which port each is about.
#include "trap-stats.h"

#include <errno.h>
#include <string.h>

/* IBTA table 142: made by the SM itself, about others. */
static bool is_of_sm(const struct trap_sample *sample)
{
	return !sample->vendor && sample->number >= 64 && sample->number <= 67;
}

static void count_number(struct trap_stats *stats, const struct trap_sample *sample,
			 const struct detect_time *now)
{
	struct trap_number *entry = NULL;

	for (size_t i = 0; i < stats->number_count && !entry; i++)
		if (stats->numbers[i].number == sample->number &&
		    stats->numbers[i].vendor == sample->vendor)
			entry = &stats->numbers[i];
	if (!entry) {
		if (stats->number_count == TRAP_NUMBERS_MAX) {
			stats->numbers_over++;
			return;
		}
		entry = &stats->numbers[stats->number_count++];
		*entry = (struct trap_number){.number = sample->number, .vendor = sample->vendor};
	}
	entry->count++;
	entry->last_realtime_usec = now->realtime_usec;
}

static bool is_sender(const struct trap_sender *sender, const struct trap_sample *sample)
{
	if (sample->node_guid != 0)
		return sender->node_guid == sample->node_guid;
	return sender->node_guid == 0 && sender->lid == sample->lid;
}

static struct trap_sender *get_sender(struct trap_stats *stats, const struct trap_sample *sample)
{
	struct trap_sender *smallest = &stats->senders[0];
	uint64_t error;

	for (size_t i = 0; i < stats->sender_count; i++) {
		if (is_sender(&stats->senders[i], sample))
			return &stats->senders[i];
		if (stats->senders[i].count < smallest->count)
			smallest = &stats->senders[i];
	}
	if (stats->sender_count < TRAP_SENDERS_MAX) {
		smallest = &stats->senders[stats->sender_count++];
		error = 0;
	} else {
		error = smallest->count;
		stats->senders_over++;
	}
	*smallest = (struct trap_sender){
		.node_guid = sample->node_guid,
		.lid = sample->lid,
		.count = error,
		.error = error,
	};
	return smallest;
}

static struct trap_port *get_port(struct trap_sender *sender, uint8_t port)
{
	struct trap_port *smallest = &sender->ports[0];
	uint64_t error;

	for (size_t i = 0; i < sender->port_count; i++) {
		struct trap_port *entry = &sender->ports[i];

		if (entry->port == port)
			return entry;
		if (entry->traps + entry->changes < smallest->traps + smallest->changes)
			smallest = entry;
	}
	if (sender->port_count < TRAP_PORTS_MAX) {
		smallest = &sender->ports[sender->port_count++];
		*smallest = (struct trap_port){.port = port};
	} else {
		error = smallest->traps + smallest->changes;
		smallest->port = port;
		smallest->error = error;
	}
	return smallest;
}

enum damper_change trap_stats_add(struct trap_stats *stats, const struct trap_sample *sample,
				  const struct damper_config *config, const struct detect_time *now,
				  struct trap_sender **ret)
{
	struct trap_sender *sender;

	stats->total++;
	count_number(stats, sample, now);
	*ret = NULL;
	if (is_of_sm(sample))
		return DAMPER_SAME;
	sender = get_sender(stats, sample);
	sender->count++;
	sender->lid = sample->lid;
	if (sample->name)
		sm_name_copy(sender->name, sample->name);
	sender->last_number = sample->number;
	sender->last_realtime_usec = now->realtime_usec;
	if (sample->port != 0)
		get_port(sender, sample->port)->traps++;
	*ret = sender;
	return damper_add(&sender->damper, config, 1, now->monotonic_usec);
}

void trap_stats_link_changed(struct trap_stats *stats, uint64_t node_guid, uint8_t port)
{
	for (size_t i = 0; i < stats->sender_count; i++)
		if (stats->senders[i].node_guid == node_guid)
			get_port(&stats->senders[i], port)->changes++;
}

const struct trap_port *trap_sender_port(const struct trap_sender *sender)
{
	const struct trap_port *best = NULL;

	for (size_t i = 0; i < sender->port_count; i++)
		if (!best ||
		    sender->ports[i].traps + sender->ports[i].changes > best->traps + best->changes)
			best = &sender->ports[i];
	return best;
}

size_t trap_stats_numbers_by_count(const struct trap_stats *stats,
				   uint8_t ret[static TRAP_NUMBERS_MAX])
{
	for (size_t i = 0; i < stats->number_count; i++) {
		size_t j = i;

		for (; j > 0 && stats->numbers[ret[j - 1]].count < stats->numbers[i].count; j--)
			ret[j] = ret[j - 1];
		ret[j] = (uint8_t)i;
	}
	return stats->number_count;
}

size_t trap_stats_senders_by_count(const struct trap_stats *stats,
				   uint8_t ret[static TRAP_SENDERS_MAX])
{
	for (size_t i = 0; i < stats->sender_count; i++) {
		size_t j = i;

		for (; j > 0 && stats->senders[ret[j - 1]].count < stats->senders[i].count; j--)
			ret[j] = ret[j - 1];
		ret[j] = (uint8_t)i;
	}
	return stats->sender_count;
}

void trap_stats_save(const struct trap_stats *stats, const struct damper_config *config,
		     const struct detect_time *now, struct trap_stats *ret)
{
	*ret = *stats;
	for (size_t i = 0; i < ret->sender_count; i++) {
		struct damper *damper = &ret->senders[i].damper;

		damper->penalty = damper_penalty(damper, config, now->monotonic_usec);
		damper->usec = now->realtime_usec;
	}
}

int trap_stats_load(const struct trap_stats *saved, const struct damper_config *config,
		    const struct detect_time *now, struct trap_stats *ret)
{
	*ret = (struct trap_stats){0};
	if (saved->number_count > TRAP_NUMBERS_MAX || saved->sender_count > TRAP_SENDERS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < saved->sender_count; i++)
		if (saved->senders[i].port_count > TRAP_PORTS_MAX)
			return -EBADMSG;
	*ret = *saved;
	for (size_t i = 0; i < ret->sender_count; i++) {
		struct trap_sender *sender = &ret->senders[i];
		const struct damper_saved damper = {
			.penalty = sender->damper.penalty,
			.realtime_usec = sender->damper.usec,
			.tripped = sender->damper.tripped,
		};

		damper_load(&damper, config, now->monotonic_usec, now->realtime_usec,
			    &sender->damper);
		sender->name[SM_NAME_BYTES - 1] = '\0';
	}
	return 0;
}
