// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Private memory that a snapshot is copied into under opensm's lock, and who owns it when.

#include "snapshot-buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define AREA_GRAIN (16u << 10)
#define TOUCH_STEP 4096u /* the smallest page that Linux has */

void snapshot_buffer_reset(struct snapshot_buffer *buffer)
{
	for (int i = 0; i < SNAPSHOT_AREAS; i++) {
		buffer->areas[i].used = 0;
		buffer->areas[i].wanted = 0;
	}
}

static void memory_unmap(struct snapshot_memory *memory)
{
	if (memory->data)
		munmap(memory->data, memory->capacity);
	*memory = (struct snapshot_memory){.wanted = memory->wanted};
}

void snapshot_buffer_clear(struct snapshot_buffer *buffer)
{
	for (int i = 0; i < SNAPSHOT_AREAS; i++)
		memory_unmap(&buffer->areas[i]);
}

void *snapshot_append(struct snapshot_buffer *buffer, int area, size_t bytes, size_t align)
{
	struct snapshot_memory *memory = &buffer->areas[area];
	size_t at = (memory->used + align - 1) & ~(align - 1);

	memory->wanted = ((memory->wanted + align - 1) & ~(align - 1)) + bytes;
	if (bytes > memory->capacity || at > memory->capacity - bytes)
		return NULL;
	memset(memory->data + memory->used, 0, at - memory->used);
	memory->used = at + bytes;
	return memory->data + at;
}

bool snapshot_buffer_short(const struct snapshot_buffer *buffer)
{
	for (int i = 0; i < SNAPSHOT_AREAS; i++)
		if (buffer->areas[i].wanted > buffer->areas[i].capacity)
			return true;
	return false;
}

void snapshot_buffer_want(struct snapshot_buffer *buffer, int area, size_t bytes)
{
	if (buffer->areas[area].wanted < bytes)
		buffer->areas[area].wanted = bytes;
}

/*
 * MAP_POPULATE makes the pages, but only an access from here makes the processor see them: under a
 * hypervisor with shadow page tables the first one to each page still costs some 8 us (seen: 80 ms
 * for 30 MB). Better now than under opensm's lock.
 */
static void touch(uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += TOUCH_STEP)
		*(volatile uint8_t *)(p + i) = 0;
}

/* A new mapping rather than mremap(): the content is not needed, and MAP_POPULATE faults it in. */
static int memory_grow(struct snapshot_memory *memory)
{
	size_t bytes = memory->wanted ? memory->wanted : 1;
	void *p;

	if (bytes <= memory->capacity)
		return 0;
	bytes += bytes / 8 + AREA_GRAIN;
	bytes -= bytes % AREA_GRAIN;
	memory_unmap(memory);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	touch(p, bytes);
	memory->data = p;
	memory->capacity = bytes;
	return 0;
}

int snapshot_buffer_grow(struct snapshot_buffer *buffer)
{
	for (int i = 0; i < SNAPSHOT_AREAS; i++) {
		int r = memory_grow(&buffer->areas[i]);

		if (r < 0)
			return r;
	}
	snapshot_buffer_reset(buffer);
	return 0;
}
