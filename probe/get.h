// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The Get requests that ibsm-probe can send: how each is built, and what its answer says.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/umad.h>

#include <ibsm/probe.h>

/*
 * libibmad packs and unpacks MADs (mad_build_pkt(), mad_get_field(): its table of fields is what
 * infiniband-diags reads by, so both read the same answer the same way). Its calls that wait for
 * an answer are not used: they block, retry and print. Sending and receiving is libibumad's.
 */

#define GET_MAD_BYTES 256

/* One MAD with umad's head, as umad_send() and umad_recv() take it. */
union get_buffer {
	struct ib_user_mad umad;
	uint8_t bytes[sizeof(struct ib_user_mad) + GET_MAD_BYTES];
};

/* Write the Get of a checked query @order with the transaction id @tid into @ret_buffer. Pure. */
void get_build(const struct ibsm_probe_order *order, uint32_t tid, union get_buffer *ret_buffer);

/*
 * The last gate before umad_send(): whether @buffer holds one of the Gets above and nothing else.
 * Looks at the bytes alone, so that a mistake in what built them ends here. Pure.
 */
bool get_may_be_sent(const union get_buffer *buffer);

/* Management class of a query type: which of the link's agents sends it. Pure. */
int get_class(uint16_t type);

/* Wipe SM_Key or M_Key, and the M_Key field of the SMP, from a received MAD. */
void get_wipe_keys(union get_buffer *buffer);

/* The 32 bits of a MAD's transaction id that are ours; the kernel uses the others. Pure. */
uint32_t get_tid(const union get_buffer *buffer);

/*
 * Unpack an answer to the query @type into the reply's body; sets result.status and
 * result.mad_status. @length: of the MAD, as umad_recv() gave it. Keys must have been wiped. Pure.
 */
void get_decode(uint16_t type, union get_buffer *buffer, size_t length,
		union ibsm_probe_any_reply *reply);
