// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Plays ibsmd: listens on a plugin.sock and prints each record that a plugin sends as a line of
// text.

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "fabric/snapshot-read.h"
#include "ibsm/snapshot.h"
#include "ibsm/wire.h"
#include "util/cleanup.h"
#include "wire-text.h"

#define PEERS_MAX 32

struct peer {
	int fd;
	struct snapshot *snapshot; /* the last one of this connection */
};

static const char *arg_save;
static unsigned long arg_exit_after;

static int listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	(void)unlink(path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 8) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static const char *table_name(uint32_t id)
{
	static const char *const names[] = {
		[IBSM_TABLE_SUBNET] = "subnet",
		[IBSM_TABLE_STRINGS] = "strings",
		[IBSM_TABLE_NODES] = "nodes",
		[IBSM_TABLE_PORTS] = "ports",
		[IBSM_TABLE_SWITCHES] = "switches",
		[IBSM_TABLE_LFT] = "lft",
		[IBSM_TABLE_SMS] = "sms",
		[IBSM_TABLE_GROUPS] = "groups",
		[IBSM_TABLE_GROUP_MEMBERS] = "group_members",
		[IBSM_TABLE_PARTITIONS] = "partitions",
		[IBSM_TABLE_PARTITION_MEMBERS] = "partition_members",
		[IBSM_TABLE_OPTIONS] = "options",
		[IBSM_TABLE_STATISTICS] = "statistics",
		[IBSM_TABLE_ENGINES] = "engines",
	};

	return id < ELEMENTSOF(names) && names[id] ? names[id] : "unknown";
}

/* As ibsmd would read it: against the one before it on this connection. */
static void judge(struct peer *peer, int fd)
{
	struct snapshot_error error;
	struct snapshot *snapshot;
	int r = snapshot_read(fd, peer->snapshot, &snapshot, &error);

	if (r < 0) {
		printf("  INVALID %s (%s)\n", error.text, strerror(-r));
		return;
	}
	snapshot_unref(peer->snapshot);
	peer->snapshot = snapshot;
	printf("  valid tables_taken=%u asymmetric_remotes=%u odd_values=%u %s\n",
	       snapshot->tables_taken, snapshot->warnings.asymmetric_remotes,
	       snapshot->warnings.odd_values, snapshot->warnings.first);
}

/* The directory of a snapshot. */
static void print_directory(const uint8_t *p, size_t size)
{
	struct ibsm_snapshot_header header;

	if (size < sizeof(header))
		return;
	memcpy(&header, p, sizeof(header));
	printf("  snapshot generation=%" PRIu64 " reason=%u bytes=%" PRIu64 "\n", header.generation,
	       header.reason, header.size_bytes);
	for (uint32_t i = 0; i < header.tables; i++) {
		size_t at = header.header_bytes + (size_t)i * sizeof(struct ibsm_snapshot_table);
		struct ibsm_snapshot_table table;

		if (at + sizeof(table) > size)
			return;
		memcpy(&table, p + at, sizeof(table));
		printf("  table %s rows=%" PRIu64 " row_bytes=%u generation=%" PRIu64 "%s\n",
		       table_name(table.id), table.count, table.row_bytes, table.generation,
		       table.offset ? "" : " not-here");
	}
}

static void take_snapshot(struct peer *peer, int fd, uint64_t generation)
{
	struct stat st;
	char path[512];
	FILE *file;
	void *p;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return;
	print_directory(p, (size_t)st.st_size);
	judge(peer, fd);
	if (arg_save) {
		snprintf(path, sizeof(path), "%s/%" PRIu64 ".snapshot", arg_save, generation);
		file = fopen(path, "we");
		if (!file || fwrite(p, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
		if (file)
			fclose(file);
	}
	munmap(p, (size_t)st.st_size);
}

/* Returns false at the end of the connection. */
static bool read_record(struct peer *peer)
{
	char bytes[IBSM_WIRE_RECORD_MAX];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(bytes)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(peer->fd, &message, MSG_CMSG_CLOEXEC);
	struct ibsm_wire_snapshot snapshot = {0};
	_cleanup_close_ int passed = -1;

	if (n <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(&passed, CMSG_DATA(c), sizeof(passed));
	wire_text(stdout, bytes, (size_t)n);
	memcpy(&snapshot, bytes, (size_t)n < sizeof(snapshot) ? (size_t)n : sizeof(snapshot));
	if (passed >= 0)
		take_snapshot(peer, passed, snapshot.generation);
	return true;
}

static void help(FILE *out)
{
	fputs("ibsm-wire-dump [--save=DIR] [--exit-after=CONNECTIONS] SOCKET\n\n"
	      "Listen on SOCKET as ibsmd does and print each record of each plugin that connects.\n"
	      "  --save=DIR       write each snapshot to DIR/GENERATION.snapshot\n"
	      "  --exit-after=N   end when N connections have ended (default: run until killed)\n",
	      out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"save", required_argument, NULL, 's'},
		{"exit-after", required_argument, NULL, 'e'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct pollfd fds[PEERS_MAX + 1];
	struct peer peers[PEERS_MAX + 1];
	unsigned long ended = 0;
	nfds_t n = 1;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			arg_save = optarg;
			break;
		case 'e':
			arg_exit_after = strtoul(optarg, NULL, 10);
			break;
		case 'h':
			help(stdout);
			return 0;
		default:
			help(stderr);
			return 2;
		}
	}
	if (optind != argc - 1) {
		help(stderr);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	fds[0] = (struct pollfd){.fd = listen_on(argv[optind]), .events = POLLIN};
	if (fds[0].fd < 0) {
		fprintf(stderr, "%s: %s\n", argv[optind], strerror(-fds[0].fd));
		return 1;
	}

	while (arg_exit_after == 0 || ended < arg_exit_after) {
		if (poll(fds, n, -1) < 0)
			return 1;
		for (nfds_t i = n - 1; i > 0; i--) {
			if (fds[i].revents == 0 || read_record(&peers[i]))
				continue;
			printf("CLOSED\n");
			close(fds[i].fd);
			snapshot_unref(peers[i].snapshot);
			n--;
			fds[i] = fds[n];
			peers[i] = peers[n];
			ended++;
		}
		if (fds[0].revents & POLLIN) {
			int fd = accept4(fds[0].fd, NULL, NULL, SOCK_CLOEXEC);

			if (fd >= 0 && n <= PEERS_MAX) {
				peers[n] = (struct peer){.fd = fd};
				fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
			} else if (fd >= 0) {
				close(fd);
			}
		}
	}
	return 0;
}
