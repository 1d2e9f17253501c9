// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The socket to ibsmd: connects and sends without ever waiting.

/*
 * A connect() on AF_UNIX is over at once: there, refused, or, on a non-blocking socket, EAGAIN when
 * the listener's queue is full. Every send is MSG_DONTWAIT, since opensm must not wait for us, and
 * MSG_NOSIGNAL, since opensm leaves SIGPIPE at its default. A record counts as sent, and uses up a
 * sequence number, when the socket took it.
 */

#include "connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "util/cleanup.h"

#define SEND_BATCH 64u

int connection_open(struct connection *connection, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t n = strlen(path);
	_cleanup_close_ int fd = -1;

	if (n >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, n);

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	connection->fd = TAKE_FD(fd);
	connection->blocked = false;
	return 0;
}

void connection_close(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	connection->blocked = false;
}

/* Out of kernel memory is not "full": nothing would tell us when to try again. The caller takes it
 * for the end of the connection and comes back later. */
static bool is_full(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

int connection_send(struct connection *connection, struct ibsm_wire_header *record, int fd)
{
	struct iovec iov = {.iov_base = record, .iov_len = record->length};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	}
	record->sequence = connection->sequence + 1;
	if (sendmsg(connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (!is_full(errno))
			return -errno;
		connection->blocked = true;
		return 0;
	}
	connection->sequence++;
	return 1;
}

int connection_send_ring(struct connection *connection, struct ring *ring, uint64_t before_nsec)
{
	struct mmsghdr messages[SEND_BATCH];
	struct iovec iov[SEND_BATCH];
	unsigned int n;
	int sent;

	for (n = 0; n < SEND_BATCH; n++) {
		union ring_record *record = ring_peek(ring, n);

		if (!record || record->header.monotonic_nsec >= before_nsec)
			break;
		record->header.sequence = connection->sequence + 1 + n;
		iov[n] = (struct iovec){.iov_base = record, .iov_len = record->header.length};
		messages[n] = (struct mmsghdr){.msg_hdr.msg_iov = &iov[n], .msg_hdr.msg_iovlen = 1};
	}
	if (n == 0)
		return 0;
	sent = sendmmsg(connection->fd, messages, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0) {
		if (!is_full(errno))
			return -errno;
		connection->blocked = true;
		return 0;
	}
	ring_consume(ring, (uint64_t)sent);
	connection->sequence += (uint64_t)sent;
	return sent;
}
