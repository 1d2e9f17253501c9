// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sweep stories: ties opensm's events and the fabric's changes into one object a sweep.
#pragma once

/*
 * A teller is fed the records of one plugin connection and the changes that each snapshot brought,
 * and makes a struct story of each heavy sweep and each reroute. It is a pure state machine: no
 * clock, no I/O; all times come from the records.
 *
 * Order. The plugin's two rings each keep their order, but a control record may be read long before
 * or after a bulk record of the same moment. Of the bulk ring only LFT_CHANGE matters here. So
 * control records drive the state, and an LFT_CHANGE is put by its monotonic time into the story
 * that was running then: the running one, or one of the last STORY_AMENDABLE that have ended (a
 * stalled sender empties its control ring first, so late is the usual case). One that no story
 * covers is held until the next control record: a UCAST_ROUTING_DONE(reroute) makes a reroute's
 * story of what is held, a HEAVY_SWEEP_START that began earlier takes it in, a later one proves a
 * reroute that failed. TRAPs come from several threads of opensm and may be some microseconds out
 * of order.
 *
 * What opensm does (osm_state_mgr.c, do_sweep(); osm_trap_rcv.c), and what is made of it:
 *
 *  - On trap 128, or 144 that says more than a new NodeDescription, opensm sets force_heavy_sweep
 *    and wakes its sweeper before it raises TRAP: START may come before the TRAP that caused it.
 *    START is raised while the flags still stand, so START's flag FORCE_HEAVY says that somebody
 *    asked. A TRAP between START and DONE is therefore a cause of this sweep: either it started it,
 *    or, if it came while discovery ran, opensm repeated the discovery for it within the same START
 *    … DONE.
 *  - The same trap after DONE cannot change this sweep any more: opensm sets off another one as
 *    soon as SUBNET_UP is reached. It is kept as a cause of the next sweep, whose cause is
 *    "followed".
 *  - Traps 256-259, 145 and vendor traps make a light sweep, which raises no event; a heavy one
 *    follows only if the light one finds a change: such a trap is a further cause, never the main
 *    one. 64-67 are what sweeps (and SA) tell others: counted, no causes.
 *  - START without FORCE_HEAVY: INITIALIZATION_ERROR is a retry; COMING_OUT_OF_STANDBY a former
 *    standby; state DISCOVERING a start, or a port that was down; OPT_FORCE_HEAVY each sweep.
 *    FORCE_HEAVY and no trap: a light sweep found a change, or SIGHUP, or the console.
 *  - No event says that a sweep ended badly. STATE_CHANGE ends it (a higher SM, or the SM's port is
 *    down); an SM_STATE that left MASTER after DONE is a handover; else the next START tells. One
 *    without DONE: hop 0 or hop 1 failed. One with DONE but no routing: every engine failed (START
 *    then has no engine), or another master was waited for. Such a story ends with its last record,
 *    since no later time is known.
 *  - A snapshot shows what the newest sweep or reroute that had begun by then left behind; one
 *    copied while discovery still runs (an owed one), what the sweep before did.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diff.h"
#include "fabric.h"
#include "ibsm/limits.h"
#include "ibsm/wire.h"
#include "printable.h"

#define STORY_CAUSES_MAX 16 /* further causes kept one by one; the rest are counted */
#define STORY_LFT_TOP 64    /* switches named among those whose LFT was rewritten */
#define STORY_AMENDABLE 16  /* ended stories that late records still reach */
#define STORY_TRAP_MAX_AGE_USEC (UINT64_C(60) * 1000000) /* an older trap caused nothing */

enum story_type {
	STORY_HEAVY,   /* a heavy sweep */
	STORY_REROUTE, /* routing alone, asked for on the console */
};

enum story_cause_kind {
	STORY_CAUSE_UNKNOWN, /* it had begun before the plugin's records did, or nothing explains it
			      */
	STORY_CAUSE_TRAP,
	STORY_CAUSE_BECAME_MASTER,     /* SM in DISCOVERING: opensm began, or its port was down */
	STORY_CAUSE_LEFT_STANDBY,      /* master gone, or it handed over */
	STORY_CAUSE_RETRY,	       /* the sweep before had errors */
	STORY_CAUSE_EVERY_SWEEP_HEAVY, /* option force_heavy_sweep */
	STORY_CAUSE_REROUTE,	       /* asked for on the console */
	STORY_CAUSE_FOLLOWED,	       /* asked for while another sweep ran */
	STORY_CAUSE_NO_TRAP,	       /* a light sweep found a change, SIGHUP, or the console */
	STORY_CAUSE_KINDS,
};

struct story_cause {
	enum story_cause_kind kind;
	uint16_t trap;		 /* number; 0: none */
	bool vendor_trap;	 /* then `trap` is the vendor's device id */
	uint16_t change_flags;	 /* trap 144: enum ibsm_trap_change */
	uint32_t count;		 /* the same trap of the same sender, folded */
	uint64_t monotonic_usec; /* of the first */
	uint64_t realtime_usec;
	uint64_t last_monotonic_usec;
	struct fabric_end sender; /* name NULL where no node has the LID (sender.lid) */
};

enum story_phase {
	STORY_DISCOVERY, /* HEAVY_SWEEP_START … HEAVY_SWEEP_DONE */
	STORY_ROUTING,	 /* … UCAST_ROUTING_DONE: LIDs, P_Keys, LFTs */
	STORY_SETUP,	 /* … SUBNET_UP: multicast, links armed and active */
	STORY_PHASES,
};

struct story_phase_times {
	uint64_t start_monotonic_usec; /* 0: not reached, or not seen */
	uint64_t end_monotonic_usec;   /* 0: not ended */
	uint64_t start_realtime_usec;
};

enum story_result {
	STORY_RUNNING,
	STORY_UP,
	STORY_UP_WITH_ERRORS, /* SUBNET_UP with opensm's subnet_initialization_error set */
	STORY_ROUTING_FAILED,
	STORY_ABORTED,
	STORY_HANDED_OVER,
	STORY_RESULT_UNKNOWN, /* the plugin went, or its records were lost */
	STORY_RESULTS,
};

struct story_lft_switch {
	uint64_t node_guid;
	const char *name; /* NULL: not known when it happened */
	uint32_t blocks;  /* acknowledged 64-LID blocks */
	bool top;	  /* LinearFDBTop was set, too */
};

/* Times in microseconds. Read-only for all but the teller; owned by references, one thread. */
struct story {
	unsigned int refs;
	uint64_t number;
	enum story_type type;
	enum story_result result;
	const char *result_text; /* NULL where it ended well or runs: why, a static sentence */
	uint64_t sm_port_guid;
	bool start_seen; /* false: the times are those of the first record that was seen */
	uint64_t start_monotonic_usec;
	uint64_t start_realtime_usec;
	uint64_t end_monotonic_usec; /* 0: it runs */
	uint64_t end_realtime_usec;
	struct story_phase_times phases[STORY_PHASES];

	struct story_cause cause;
	struct story_cause *further; /* other reasons, STORY_CAUSES_MAX at most */
	size_t further_count;
	uint64_t further_not_listed;

	uint32_t start_flags; /* enum ibsm_sweep_flags at the start and at the end */
	uint32_t end_flags;
	uint8_t start_sm_state;
	uint8_t end_sm_state;
	char engine[PRINTABLE_BYTES(32)]; /* in use at its end, printable; "" none or not known */
	bool engine_known;

	uint64_t traps;	     /* received while it ran, of all kinds that wake opensm */
	uint64_t traps_sent; /* 64-67, made by opensm itself */
	bool mads_known;
	uint32_t mads_sent; /* SMPs and other QP0 MADs */
	uint32_t mads_received;

	uint64_t lft_blocks;   /* acknowledged */
	uint32_t lft_switches; /* with at least one block, or a new LinearFDBTop */
	bool lft_events;       /* false: opensm raises none in its first sweep as master */

	bool snapshot_seen;
	uint64_t snapshot_monotonic_usec; /* when the copy began */
	uint64_t snapshot_generation;
	struct fabric_changes
		*changes; /* what it found, IBSM_SWEEP_EVENTS_MAX at most; NULL: none yet */
	uint64_t changes_total;

	struct story_private *private;
};

struct story *story_ref(struct story *story);
struct story *story_unref(struct story *story); /* accepts NULL, returns NULL */
DEFINE_CLEANUP(struct story *, story_unref);

/* Whether somebody should look into how it ended: with errors, without routing, or broken off for
 * another reason than that there is another master. False while it runs. */
bool story_has_failed(const struct story *story);

/* Its duration; 0 while it runs and where its start was not seen. */
uint64_t story_duration_usec(const struct story *story);

/* The `max` switches with most blocks, most first, then by GUID: fills `ret` and returns how many.
 * Names belong to the story. */
size_t story_lft_top(const struct story *story, struct story_lft_switch *ret, size_t max);

/* Stable names, as in io.ibsm.Monitor: "heavy"; "left-standby"; "discovery"; "up-with-errors". */
const char *story_type_name(enum story_type type);
const char *story_cause_kind_name(enum story_cause_kind kind);
const char *story_phase_name(enum story_phase phase);
const char *story_result_name(enum story_result result);

/* A cause as a sentence without full stop, its sender named: "trap 128 (link state changed) from
 * spine02 (LID 7), 3 times". Cut to `size`, always NUL-terminated. Returns `buffer`. */
const char *story_cause_text(const struct story_cause *cause, char *buffer, size_t size);
#define STORY_CAUSE_TEXT_BYTES 512

enum story_step {
	STORY_OPENED,
	STORY_CHANGED, /* a cause, a phase or a snapshot was added, also to one that has ended */
	STORY_ENDED,
};

/* Told of each step. The story is the teller's: take a reference to keep it. Must not call back
 * into the teller. */
typedef void (*story_fn)(struct story *story, enum story_step step, void *userdata);

struct story_teller;

/**
 * story_teller_new - for one plugin connection (or one after the other of one plugin instance)
 * @numbers: the caller's; raised by one for each new story, which gets it as its number. Tellers of
 *           one daemon share it; it must outlive the teller
 * @told:    gets the steps
 *
 * Returns 0; -ENOMEM.
 */
int story_teller_new(uint64_t *numbers, story_fn told, void *userdata, struct story_teller **ret);

/* Ends a running story as "unknown" (the plugin is gone) and frees. Accepts NULL, returns NULL. */
struct story_teller *story_teller_free(struct story_teller *teller);
DEFINE_CLEANUP(struct story_teller *, story_teller_free);

/**
 * story_teller_record - take in the next record
 * @record: checked by wire_check(); types that say nothing about sweeps are accepted
 * @fabric: to name nodes by LID and GUID; NULL when none is known yet. Not kept
 *
 * A HELLO of another instance than before ends what ran.
 *
 * Returns 0; -ENOMEM: the record may be missing from the story, everything else holds.
 */
int story_teller_record(struct story_teller *teller, const union ibsm_wire_record *record,
			const struct fabric *fabric);

/**
 * story_teller_changes - tell which changes a snapshot brought
 * @header:  the snapshot's own
 * @changes: its diff against the one before; copied up to IBSM_SWEEP_EVENTS_MAX
 * @ret:     gets the story that found them, one reference, or NULL: none (groups copied between
 *           sweeps, or its records were lost); may be NULL
 *
 * May come before or after the SUBNET_UP record of the same sweep. Several snapshots of one story
 * add up.
 *
 * Returns 0; -ENOMEM.
 */
int story_teller_changes(struct story_teller *teller, const struct ibsm_snapshot_header *header,
			 const struct fabric_changes *changes, struct story **ret);

/* The story that runs, or NULL. The teller's. */
struct story *story_teller_running(const struct story_teller *teller);

/* LFT_CHANGE records that no story could be found for. */
uint64_t story_teller_unplaced(const struct story_teller *teller);
