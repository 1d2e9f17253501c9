// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The state machine that makes stories of records: see story.h for what opensm does.
#include "story.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"
#include "story-internal.h"

/* opensm begins a retry, or a sweep asked for meanwhile, as soon as the last one is up. */
#define AT_ONCE_USEC (UINT64_C(2) * 1000000)

struct story_teller {
	uint64_t *numbers;
	story_fn told;
	void *userdata;
	uint64_t instance; /* of the plugin; 0: no HELLO yet */
	uint64_t sm_port_guid;
	struct story *running;
	struct story *ended[STORY_AMENDABLE]; /* newest first */
	struct story *pending;	/* a story never told: its causes are the next one's; NULL: none */
	struct lft_counts held; /* LFT blocks that no story covers yet */
	uint64_t held_first_usec;
	uint64_t held_first_realtime_usec;
	uint64_t held_last_usec;
	uint64_t held_last_realtime_usec;
	uint64_t unplaced;
};

/* When a record's event was raised. */
struct moment {
	uint64_t usec;
	uint64_t realtime_usec;
};

static struct moment moment_of(const struct ibsm_wire_header *header)
{
	return (struct moment){header->monotonic_nsec / 1000, header->realtime_nsec / 1000};
}

int story_teller_new(uint64_t *numbers, story_fn told, void *userdata, struct story_teller **ret)
{
	struct story_teller *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->numbers = numbers;
	t->told = told;
	t->userdata = userdata;
	*ret = t;
	return 0;
}

struct story *story_teller_running(const struct story_teller *teller)
{
	return teller->running;
}

uint64_t story_teller_unplaced(const struct story_teller *teller)
{
	return teller->unplaced;
}

static void tell(struct story_teller *t, struct story *story, enum story_step step)
{
	if (t->told)
		t->told(story, step, t->userdata);
}

/* ---- the life of a story ---- */

static bool reached(const struct story *s, enum story_phase phase)
{
	return s->phases[phase].start_monotonic_usec != 0;
}

static void begin_phase(struct story *s, enum story_phase phase, struct moment now)
{
	s->phases[phase].start_monotonic_usec = now.usec;
	s->phases[phase].start_realtime_usec = now.realtime_usec;
}

static void end_phase(struct story *s, enum story_phase phase, struct moment now)
{
	if (reached(s, phase) && !s->phases[phase].end_monotonic_usec)
		s->phases[phase].end_monotonic_usec = now.usec;
}

/* A story that begins `now`; `seen` false: it had begun before, unseen. Not told of yet. */
static int open_story(struct story_teller *t, enum story_type type, struct moment now, bool seen,
		      struct story **ret)
{
	struct story *s = story_new();

	if (!s)
		return -ENOMEM;
	s->number = ++*t->numbers;
	s->type = type;
	s->sm_port_guid = t->sm_port_guid;
	s->start_seen = seen;
	s->start_monotonic_usec = now.usec;
	s->start_realtime_usec = now.realtime_usec;
	s->cause.count = 1;
	s->cause.monotonic_usec = now.usec;
	s->cause.last_monotonic_usec = now.usec;
	s->cause.realtime_usec = now.realtime_usec;
	s->private->since_usec = now.usec;
	if (!seen)
		s->private->since_usec = t->ended[0] ? t->ended[0]->private->until_usec + 1 : 0;
	s->private->last_usec = now.usec;
	s->private->last_realtime_usec = now.realtime_usec;
	*ret = s;
	return 0;
}

/* Puts an ended story among those that late records still reach. Takes over the reference. */
static void keep_ended(struct story_teller *t, struct story *s)
{
	struct story *oldest = t->ended[STORY_AMENDABLE - 1];

	if (oldest) {
		lft_counts_shrink(&oldest->private->lft, STORY_LFT_TOP);
		story_unref(oldest);
	}
	memmove(t->ended + 1, t->ended, (STORY_AMENDABLE - 1) * sizeof(t->ended[0]));
	t->ended[0] = s;
}

/* Ends what runs at `now`. Records up to `until` may still be its own. */
static void end_running(struct story_teller *t, enum story_result result, const char *text,
			struct moment now, uint64_t until_usec)
{
	struct story *s = t->running;

	t->running = NULL;
	s->result = result;
	s->result_text = text;
	s->end_monotonic_usec = now.usec;
	s->end_realtime_usec = now.realtime_usec;
	s->private->until_usec = until_usec;
	for (enum story_phase phase = 0; phase < STORY_PHASES; phase++)
		end_phase(s, phase, now);
	keep_ended(t, s);
	tell(t, s, STORY_ENDED);
}

/* The end of what runs was not seen: it lies between its last record and the next one's time. */
static void end_unseen(struct story_teller *t, enum story_result result, const char *text,
		       uint64_t next_usec)
{
	struct moment last = {t->running->private->last_usec,
			      t->running->private->last_realtime_usec};

	end_running(t, result, text, last, next_usec > last.usec ? next_usec - 1 : last.usec);
}

/* A sweep begins while another runs: how did that end? */
static void infer_end(struct story_teller *t, const struct ibsm_wire_sweep *next)
{
	struct story *s = t->running;
	uint64_t usec = moment_of(&next->header).usec;

	if (reached(s, STORY_SETUP) || (!s->start_seen && !reached(s, STORY_ROUTING)))
		end_unseen(t, STORY_RESULT_UNKNOWN, "its end was not seen", usec);
	else if (!reached(s, STORY_ROUTING))
		end_unseen(t, STORY_ABORTED,
			   "discovery failed: the SM's own port or its neighbour did not answer",
			   usec);
	else if (next->sm_state != IBSM_SM_MASTER)
		end_unseen(t, STORY_HANDED_OVER, "this SM is no longer master", usec);
	else if (!next->engine_known || !next->routing_engine[0])
		end_unseen(t, STORY_ROUTING_FAILED, "every routing engine failed", usec);
	else
		end_unseen(t, STORY_ABORTED,
			   "another master was found; its handover was waited for", usec);
}

static void note_engine(struct story *s, const struct ibsm_wire_sweep *record)
{
	s->engine_known = record->engine_known;
	printable(record->routing_engine, sizeof(record->routing_engine), s->engine,
		  sizeof(s->engine));
}

static void touch(struct story *s, struct moment now)
{
	s->private->last_usec = now.usec;
	s->private->last_realtime_usec = now.realtime_usec;
}

static void note_end(struct story *s, const struct ibsm_wire_sweep *record)
{
	s->end_flags = record->sweep_flags;
	s->end_sm_state = record->sm_state;
	if (!s->start_seen || s->type != STORY_HEAVY)
		return;
	s->mads_known = true;
	s->mads_sent = record->qp0_mads_sent - s->private->start_mads_sent;
	s->mads_received = record->qp0_mads_rcvd - s->private->start_mads_received;
}

/* ---- LFT blocks ---- */

static void count_lft(struct story *s)
{
	s->lft_blocks = s->private->lft.blocks;
	if (s->lft_switches < s->private->lft.used)
		s->lft_switches = (uint32_t)s->private->lft.used;
	s->lft_events = true;
}

/* Gives a story what was held; the names stay with the counts. */
static void take_held(struct story_teller *t, struct story *s)
{
	if (!t->held.used)
		return;
	lft_counts_clear(&s->private->lft);
	s->private->lft = t->held;
	t->held = (struct lft_counts){0};
	count_lft(s);
}

/* The story to which a record of this moment belongs, NULL: none yet; `ret_past`: none ever, for it
 * lies between two that have ended, or before all. */
static struct story *find_story(struct story_teller *t, uint64_t usec, bool *ret_past)
{
	*ret_past = false;
	if (t->running && usec >= t->running->private->since_usec)
		return t->running;
	for (size_t i = 0; i < STORY_AMENDABLE && t->ended[i]; i++) {
		struct story *s = t->ended[i];

		if (usec > s->private->until_usec) {
			/* A gap: the newest story's is the present, unless something runs. */
			*ret_past = i > 0 || t->running;
			return NULL;
		}
		if (usec >= s->private->since_usec)
			return s;
	}
	*ret_past = t->running || t->ended[0];
	return NULL;
}

static const char *switch_name(const struct fabric *fabric, uint64_t guid)
{
	uint32_t node = fabric ? fabric_node_by_guid(fabric, guid) : IBSM_NONE;

	return node == IBSM_NONE ? NULL : fabric_node_name(fabric, node);
}

static int count_record(struct lft_counts *counts, const struct ibsm_wire_lft_change *record,
			const struct fabric *fabric)
{
	const char *name = NULL;
	int r = 0;

	if (lft_counts_unnamed(counts, record->node_guid))
		name = switch_name(fabric, record->node_guid);
	if (record->change & IBSM_LFT_CHANGED_TOP)
		r = lft_counts_add(counts, record->node_guid, name, true);
	if (r == 0 && record->change & IBSM_LFT_CHANGED_BLOCK)
		r = lft_counts_add(counts, record->node_guid, name, false);
	return r;
}

static int lft_change(struct story_teller *t, const struct ibsm_wire_lft_change *record,
		      const struct fabric *fabric)
{
	struct moment now = moment_of(&record->header);
	bool past;
	struct story *s = find_story(t, now.usec, &past);
	int r;

	if (s) {
		r = count_record(&s->private->lft, record, fabric);
		count_lft(s);
		/* A reroute begins with its first block. */
		if (!s->start_seen && now.usec < s->start_monotonic_usec) {
			s->start_monotonic_usec = now.usec;
			s->start_realtime_usec = now.realtime_usec;
			if (s->type == STORY_REROUTE)
				begin_phase(s, STORY_ROUTING, now);
		}
		return r;
	}
	if (past) {
		t->unplaced++;
		return 0;
	}
	if (!t->held.used || now.usec < t->held_first_usec) {
		t->held_first_usec = now.usec;
		t->held_first_realtime_usec = now.realtime_usec;
	}
	if (!t->held.used || now.usec > t->held_last_usec) {
		t->held_last_usec = now.usec;
		t->held_last_realtime_usec = now.realtime_usec;
	}
	return count_record(&t->held, record, fabric);
}

/* ---- causes ---- */

/* Traps that opensm makes itself, to tell others. */
static bool is_own_trap(const struct ibsm_wire_trap *trap)
{
	return trap->is_generic && trap->number >= 64 && trap->number <= 67;
}

/* Traps for which opensm sets force_heavy_sweep. */
static bool forces_heavy(const struct story_cause *cause)
{
	if (cause->vendor_trap)
		return false;
	return cause->trap == 128 ||
	       (cause->trap == 144 && cause->change_flags != IBSM_TRAP_CHANGE_NODE_DESCRIPTION);
}

static void name_sender(const struct fabric *fabric, uint16_t lid, struct fabric_end *end)
{
	uint32_t port = fabric ? fabric_port_by_lid(fabric, lid) : IBSM_NONE;

	*end = (struct fabric_end){.port = FABRIC_NO_PORT, .lid = lid};
	if (port == IBSM_NONE)
		return;
	end->node_guid = fabric_node(fabric, fabric_port(fabric, port)->node)->node_guid;
	end->port_guid = fabric_port(fabric, port)->port_guid;
	end->name = fabric_node_name(fabric, fabric_port(fabric, port)->node);
	end->type = fabric_node(fabric, fabric_port(fabric, port)->node)->type;
}

static void cause_of_trap(const struct ibsm_wire_trap *trap, const struct fabric *fabric,
			  struct story_cause *ret)
{
	struct moment now = moment_of(&trap->header);
	uint16_t lid = trap->issuer_lid;

	/* 128 and 144 tell of the node itself; opensm's issuer LID is the same unless relayed. */
	if (trap->is_generic && trap->fields & IBSM_TRAP_LID1 && trap->lid1)
		lid = trap->lid1;
	*ret = (struct story_cause){
		.kind = STORY_CAUSE_TRAP,
		.trap = trap->number,
		.vendor_trap = !trap->is_generic,
		.change_flags = trap->is_generic && trap->number == 144 ? trap->change_flags : 0,
		.count = 1,
		.monotonic_usec = now.usec,
		.last_monotonic_usec = now.usec,
		.realtime_usec = now.realtime_usec,
	};
	name_sender(fabric, lid, &ret->sender);
}

/* The first pending trap that forces a heavy sweep; NULL: none. */
static const struct story_cause *pending_heavy(const struct story_teller *t)
{
	for (size_t i = 0; t->pending && i < t->pending->further_count; i++)
		if (forces_heavy(&t->pending->further[i]))
			return &t->pending->further[i];
	return NULL;
}

static void drop_old_pending(struct story_teller *t, uint64_t now_usec)
{
	size_t kept = 0;

	if (!t->pending)
		return;
	for (size_t i = 0; i < t->pending->further_count; i++)
		if (t->pending->further[i].last_monotonic_usec + STORY_TRAP_MAX_AGE_USEC >=
		    now_usec)
			t->pending->further[kept++] = t->pending->further[i];
	t->pending->further_count = kept;
}

static int add_pending(struct story_teller *t, const struct story_cause *cause)
{
	if (!t->pending) {
		t->pending = story_new();
		if (!t->pending)
			return -ENOMEM;
	}
	drop_old_pending(t, cause->last_monotonic_usec);
	/* A crowd of others must not hide the one that matters. */
	if (t->pending->further_count == STORY_CAUSES_MAX && forces_heavy(cause) &&
	    !pending_heavy(t)) {
		t->pending->further_count--;
		t->pending->further_not_listed += t->pending->further[STORY_CAUSES_MAX - 1].count;
	}
	return story_add_cause(t->pending, cause);
}

/* A trap that came before discovery ended is a cause of the sweep, the main one where the flags say
 * that somebody asked and nobody else is known. */
static int add_trap_cause(struct story *s, const struct story_cause *cause)
{
	bool open_question = s->cause.kind == STORY_CAUSE_NO_TRAP ||
			     (s->cause.kind == STORY_CAUSE_UNKNOWN && s->start_seen);

	if (open_question && forces_heavy(cause))
		return story_set_cause(s, cause);
	return story_add_cause(s, cause);
}

static int trap(struct story_teller *t, const struct ibsm_wire_trap *record,
		const struct fabric *fabric)
{
	uint64_t usec = moment_of(&record->header).usec;
	struct story *s = t->running ? t->running : t->ended[0];
	bool during = s && usec >= s->private->since_usec && usec <= s->private->until_usec;
	struct story_cause cause;
	uint64_t done;
	int r;

	if (is_own_trap(record)) {
		if (during)
			s->traps_sent++;
		return 0;
	}
	cause_of_trap(record, fabric, &cause);
	if (during)
		s->traps++;
	if (!s || s->type != STORY_HEAVY)
		return add_pending(t, &cause);
	/* DONE, or for want of it the end, is when it is too late for this sweep. */
	done = s->phases[STORY_DISCOVERY].end_monotonic_usec;
	if (!done)
		done = s == t->running ? reached(s, STORY_ROUTING) || reached(s, STORY_SETUP)
						 ? 0
						 : UINT64_MAX
				       : s->end_monotonic_usec;
	if (usec > done)
		return add_pending(t, &cause);
	r = add_trap_cause(s, &cause);
	tell(t, s, STORY_CHANGED);
	return r;
}

static enum story_cause_kind judge_cause(const struct story_teller *t,
					 const struct ibsm_wire_sweep *start,
					 const struct story_cause *heavy)
{
	const struct story *before = t->ended[0];
	uint64_t usec = moment_of(&start->header).usec;
	uint32_t flags = start->sweep_flags;
	bool at_once = before && usec - before->end_monotonic_usec < AT_ONCE_USEC;
	bool asked_meanwhile =
		(heavy && before && heavy->monotonic_usec <= before->end_monotonic_usec) ||
		(at_once && before->end_flags & IBSM_SWEEP_FORCE_HEAVY);

	if (flags & IBSM_SWEEP_COMING_OUT_OF_STANDBY)
		return STORY_CAUSE_LEFT_STANDBY;
	if (start->sm_state == IBSM_SM_DISCOVERING)
		return STORY_CAUSE_BECAME_MASTER;
	if (flags & IBSM_SWEEP_FORCE_HEAVY && heavy && !asked_meanwhile)
		return STORY_CAUSE_TRAP;
	if (flags & IBSM_SWEEP_INITIALIZATION_ERROR)
		return STORY_CAUSE_RETRY;
	if (flags & IBSM_SWEEP_FORCE_HEAVY && asked_meanwhile)
		return STORY_CAUSE_FOLLOWED;
	if (flags & IBSM_SWEEP_OPT_FORCE_HEAVY)
		return STORY_CAUSE_EVERY_SWEEP_HEAVY;
	if (flags & IBSM_SWEEP_FORCE_HEAVY)
		return STORY_CAUSE_NO_TRAP;
	if (flags & IBSM_SWEEP_FORCE_REROUTE)
		return STORY_CAUSE_REROUTE;
	return STORY_CAUSE_UNKNOWN;
}

static int find_causes(struct story_teller *t, struct story *s, const struct ibsm_wire_sweep *start)
{
	_cleanup_(story_unrefp) struct story *pending = NULL;
	const struct story_cause *heavy;
	int r = 0;

	drop_old_pending(t, s->start_monotonic_usec);
	heavy = pending_heavy(t);
	s->cause.kind = judge_cause(t, start, heavy);
	if (s->cause.kind != STORY_CAUSE_TRAP && s->cause.kind != STORY_CAUSE_FOLLOWED)
		heavy = NULL;
	if (heavy) {
		struct story_cause cause = *heavy;

		cause.kind = s->cause.kind;
		r = story_set_cause(s, &cause);
	}
	pending = TAKE_PTR(t->pending);
	if (!pending)
		return r;
	for (size_t i = 0; i < pending->further_count; i++)
		if (&pending->further[i] != heavy && story_add_cause(s, &pending->further[i]) < 0)
			r = -ENOMEM;
	s->further_not_listed += pending->further_not_listed;
	return r;
}

/* ---- records of sweeps ---- */

/* Held blocks that a later sweep proves to be of a reroute that opensm told nothing else about. */
static int end_failed_reroute(struct story_teller *t, uint64_t next_usec)
{
	struct story *s;
	int r;

	r = open_story(t, STORY_REROUTE,
		       (struct moment){t->held_first_usec, t->held_first_realtime_usec}, true, &s);
	if (r < 0)
		return r;
	s->cause.kind = STORY_CAUSE_REROUTE;
	begin_phase(s, STORY_ROUTING,
		    (struct moment){t->held_first_usec, t->held_first_realtime_usec});
	take_held(t, s);
	t->running = s;
	tell(t, s, STORY_OPENED);
	end_running(t, STORY_ROUTING_FAILED, "a reroute of which opensm reported no end",
		    (struct moment){t->held_last_usec, t->held_last_realtime_usec}, next_usec - 1);
	return 0;
}

static int open_heavy(struct story_teller *t, const struct ibsm_wire_sweep *record, bool seen)
{
	struct moment now = moment_of(&record->header);
	struct story *s;
	int r = 0, r2;

	if (t->running)
		infer_end(t, record);
	if (t->held.used && seen && t->held_first_usec < now.usec)
		r = end_failed_reroute(t, now.usec);
	r2 = open_story(t, STORY_HEAVY, now, seen, &s);
	if (r2 < 0)
		return r2;
	s->start_flags = record->sweep_flags;
	s->start_sm_state = record->sm_state;
	if (record->sm_port_guid)
		s->sm_port_guid = record->sm_port_guid;
	take_held(t, s);
	if (seen) {
		s->private->start_mads_sent = record->qp0_mads_sent;
		s->private->start_mads_received = record->qp0_mads_rcvd;
		begin_phase(s, STORY_DISCOVERY, now);
		r2 = find_causes(t, s, record);
	}
	t->running = s;
	tell(t, s, STORY_OPENED);
	return r < 0 ? r : r2;
}

/* Sees to it that a heavy sweep runs that has not come to `phase` yet; its START may be lost. What
 * runs is always a heavy sweep: reroutes are known when they end. */
static int want_running(struct story_teller *t, const struct ibsm_wire_sweep *record,
			enum story_phase phase)
{
	if (t->running && !reached(t->running, phase) && !reached(t->running, STORY_SETUP))
		return 0;
	return open_heavy(t, record, false);
}

static int heavy_sweep_done(struct story_teller *t, const struct ibsm_wire_sweep *record)
{
	struct moment now = moment_of(&record->header);
	int r = want_running(t, record, STORY_ROUTING);

	if (!t->running)
		return r;
	end_phase(t->running, STORY_DISCOVERY, now);
	begin_phase(t->running, STORY_ROUTING, now);
	touch(t->running, now);
	tell(t, t->running, STORY_CHANGED);
	return r;
}

static int reroute_done(struct story_teller *t, const struct ibsm_wire_sweep *record)
{
	struct moment now = moment_of(&record->header);
	struct moment start = now;
	bool seen = t->held.used && t->held_first_usec <= now.usec;
	struct story *s;
	int r;

	if (t->running)
		infer_end(t, record);
	if (seen)
		start = (struct moment){t->held_first_usec, t->held_first_realtime_usec};
	r = open_story(t, STORY_REROUTE, start, seen, &s);
	if (r < 0)
		return r;
	s->private->since_usec = t->ended[0] ? t->ended[0]->private->until_usec + 1 : 0;
	s->cause.kind = STORY_CAUSE_REROUTE;
	s->start_flags = record->sweep_flags;
	s->start_sm_state = record->sm_state;
	begin_phase(s, STORY_ROUTING, start);
	if (seen)
		take_held(t, s);
	note_engine(s, record);
	note_end(s, record);
	t->running = s;
	tell(t, s, STORY_OPENED);
	end_running(t, STORY_UP, NULL, now, now.usec);
	return 0;
}

static int routing_done(struct story_teller *t, const struct ibsm_wire_sweep *record)
{
	struct moment now = moment_of(&record->header);
	int r;

	if (record->routing_kind == 2)
		return reroute_done(t, record);
	r = want_running(t, record, STORY_SETUP);
	if (!t->running)
		return r;
	end_phase(t->running, STORY_ROUTING, now);
	begin_phase(t->running, STORY_SETUP, now);
	note_engine(t->running, record);
	touch(t->running, now);
	tell(t, t->running, STORY_CHANGED);
	return r;
}

static int subnet_up(struct story_teller *t, const struct ibsm_wire_sweep *record)
{
	struct moment now = moment_of(&record->header);
	bool errors = record->sweep_flags & IBSM_SWEEP_INITIALIZATION_ERROR;
	int r = 0;

	if (!t->running)
		r = open_heavy(t, record, false);
	if (!t->running)
		return r;
	note_engine(t->running, record);
	note_end(t->running, record);
	end_running(t, errors ? STORY_UP_WITH_ERRORS : STORY_UP,
		    errors ? "opensm had errors during initialization; it sweeps again" : NULL, now,
		    now.usec);
	return r;
}

static int state_change(struct story_teller *t, const struct ibsm_wire_sweep *record)
{
	struct moment now = moment_of(&record->header);
	bool standby = record->sm_state == IBSM_SM_STANDBY ||
		       record->sweep_flags & IBSM_SWEEP_MASTER_SM_FOUND;

	if (!t->running)
		return 0;
	note_end(t->running, record);
	end_running(t, STORY_ABORTED,
		    standby ? "a master or higher SM was found: this one went to standby"
			    : "the SM's own port is down",
		    now, now.usec);
	return 0;
}

static int sm_state(struct story_teller *t, const struct ibsm_wire_sm_state *record)
{
	struct moment now = moment_of(&record->header);
	struct story *s = t->running;

	if (!s || record->old_state != IBSM_SM_MASTER || record->new_state == IBSM_SM_MASTER ||
	    !reached(s, STORY_ROUTING) || now.usec < s->phases[STORY_ROUTING].start_monotonic_usec)
		return 0;
	s->end_sm_state = record->new_state;
	end_running(t, STORY_HANDED_OVER, "this SM handed over to a higher one", now, now.usec);
	return 0;
}

static void forget(struct story_teller *t)
{
	t->pending = story_unref(t->pending);
	lft_counts_clear(&t->held);
	for (size_t i = 0; i < STORY_AMENDABLE; i++) {
		if (t->ended[i])
			lft_counts_shrink(&t->ended[i]->private->lft, STORY_LFT_TOP);
		t->ended[i] = story_unref(t->ended[i]);
	}
}

static void end_with_plugin(struct story_teller *t, const char *text)
{
	if (t->running)
		end_unseen(t, STORY_RESULT_UNKNOWN, text, UINT64_MAX);
}

static int hello(struct story_teller *t, const struct ibsm_wire_hello *record)
{
	if (t->instance && t->instance != record->instance) {
		end_with_plugin(t, "opensm ended, or loaded the plugin anew, before it did");
		/* Monotonic times may be another boot's or another host's. */
		forget(t);
	}
	t->instance = record->instance;
	t->sm_port_guid = record->sm_port_guid;
	return 0;
}

int story_teller_record(struct story_teller *teller, const union ibsm_wire_record *record,
			const struct fabric *fabric)
{
	switch (record->header.type) {
	case IBSM_WIRE_HELLO:
		return hello(teller, &record->hello);
	case IBSM_WIRE_SM_STATE:
		return sm_state(teller, &record->sm_state);
	case IBSM_WIRE_HEAVY_SWEEP_START:
		return open_heavy(teller, &record->sweep, true);
	case IBSM_WIRE_HEAVY_SWEEP_DONE:
		return heavy_sweep_done(teller, &record->sweep);
	case IBSM_WIRE_UCAST_ROUTING_DONE:
		return routing_done(teller, &record->sweep);
	case IBSM_WIRE_SUBNET_UP:
		return subnet_up(teller, &record->sweep);
	case IBSM_WIRE_STATE_CHANGE:
		return state_change(teller, &record->sweep);
	case IBSM_WIRE_TRAP:
		return trap(teller, &record->trap, fabric);
	case IBSM_WIRE_LFT_CHANGE:
		return lft_change(teller, &record->lft_change, fabric);
	default:
		return 0;
	}
}

/* The story that a snapshot of this moment shows the outcome of: the newest that had begun by then;
 * while discovery runs, nothing has changed yet, so it is the one before. */
static struct story *find_snapshot_story(struct story_teller *t, uint64_t usec)
{
	struct story *s = t->running;

	if (s && usec >= s->private->since_usec &&
	    (reached(s, STORY_ROUTING) || reached(s, STORY_SETUP) || !t->ended[0]))
		return s;
	for (size_t i = 0; i < STORY_AMENDABLE && t->ended[i]; i++)
		if (usec >= t->ended[i]->private->since_usec)
			return t->ended[i];
	return NULL;
}

int story_teller_changes(struct story_teller *teller, const struct ibsm_snapshot_header *header,
			 const struct fabric_changes *changes, struct story **ret)
{
	uint64_t usec = header->monotonic_nsec / 1000;
	struct story *s = NULL;
	size_t room;
	int r;

	if (header->reason == IBSM_SNAPSHOT_SUBNET_UP || header->reason == IBSM_SNAPSHOT_REROUTE)
		s = find_snapshot_story(teller, usec);
	if (ret)
		*ret = s ? story_ref(s) : NULL;
	if (!s)
		return 0;
	s->snapshot_seen = true;
	s->snapshot_monotonic_usec = usec;
	s->snapshot_generation = header->generation;
	s->changes_total += changes->count;
	room = IBSM_SWEEP_EVENTS_MAX - (s->changes ? s->changes->count : 0);
	if (s->changes)
		r = fabric_changes_append(s->changes, changes, room);
	else
		r = fabric_changes_copy(changes, room, &s->changes);
	tell(teller, s, STORY_CHANGED);
	return r;
}

struct story_teller *story_teller_free(struct story_teller *teller)
{
	if (!teller)
		return NULL;
	end_with_plugin(teller, "the plugin's connection ended before it did");
	forget(teller);
	free(teller);
	return NULL;
}
