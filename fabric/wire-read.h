// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Checks one datagram from the plugin and copies it into a record.
#pragma once

#include <stddef.h>

#include "ibsm/wire.h"

struct wire_error {
	char text[160]; /* one printable line that names what was wrong */
};

/**
 * wire_check - check a datagram and copy it out as a record
 * @datagram:  `length` bytes, any alignment, any content
 * @ret:       gets the record. Bytes that a shorter writer left out cannot be missing (see
 * -EBADMSG); fields that a newer one appended are cut, and header.length is then what this version
 *             knows
 * @ret_error: gets the reason of a failure; may be NULL
 *
 * Checked: length against the type's, magic, version, that strings are NUL-terminated, and the
 * enums and indexes that the plugin itself sets (SM states, LFT blocks); what a device said, such
 * as a trap's number, is any value. Strings are not made printable: use printable() on them. Pure;
 * any thread.
 *
 * Returns 0; -EMSGSIZE: longer than IBSM_WIRE_RECORD_MAX; -EPROTO: no record at all (too short for
 * a header, wrong magic, length that is not the datagram's); -EPROTONOSUPPORT: another version;
 * -EOPNOTSUPP: a type that this version does not know (skip and count it: the connection is fine);
 * -EBADMSG: a known type, but its body is too short or a field cannot be.
 */
int wire_check(const void *datagram, size_t length, union ibsm_wire_record *ret,
	       struct wire_error *ret_error);
