// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Gives up what a process that only sends Gets has no use for.
#pragma once

/*
 * Close every descriptor but stdin, stdout, stderr and @keep_fd. Before libibumad is used.
 */
void harden_close_others(int keep_fd);

/*
 * No new privileges, no core dumps, no ptrace by others of the same user, and no capability: as
 * root it stays root, which is what opens /dev/infiniband/umad* again after a device came back, but
 * a root who may do no more than own files.
 *
 * Best effort: what the kernel refuses is left as it was. seccomp is its unit's matter, as what
 * libibumad calls differs between a kernel's devices and umad2sim's.
 */
void harden_self(void);
