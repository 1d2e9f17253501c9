// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Any bytes as the datagrams of a plugin, and what passes the check as a sweep's story.
#include <stdlib.h>
#include <string.h>

#include "fabric/story.h"
#include "fabric/wire-read.h"

/*
 * The input is a row of datagrams, each with its length (16 bits, little-endian) before it.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void told(struct story *story, enum story_step step, void *userdata)
{
	struct story_lft_switch top[4];
	char text[STORY_CAUSE_TEXT_BYTES];
	uint64_t *ended = userdata;

	story_cause_text(&story->cause, text, sizeof(text));
	for (size_t i = 0; i < story->further_count; i++)
		story_cause_text(&story->further[i], text, sizeof(text));
	if (story_lft_top(story, top, 4) > story->lft_switches)
		abort();
	if ((step == STORY_OPENED && story->result != STORY_RUNNING) ||
	    (step == STORY_ENDED && story->result == STORY_RUNNING))
		abort();
	*ended += step == STORY_ENDED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct story_teller *teller = NULL;
	uint64_t numbers = 0, ended = 0;

	if (story_teller_new(&numbers, told, &ended, &teller) < 0)
		abort();
	while (size >= 2) {
		size_t length = (size_t)(data[0] | data[1] << 8);
		union ibsm_wire_record record;
		struct wire_error why = {""};

		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		if (wire_check(data, length, &record, &why) == 0)
			story_teller_record(teller, &record, NULL);
		else if (!why.text[0])
			abort();
		data += length;
		size -= length;
	}
	story_teller_free(teller);
	/* Each story that was begun is ended once. */
	if (ended != numbers)
		abort();
	return 0;
}
