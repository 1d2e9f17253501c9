// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Fuzz target: a Varlink interface description, and values that are held against it.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "varlink/idl.h"

/* The description up to a NUL, then JSON for a call, a reply and an error of it. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct varlink_interface_method *method;
	struct varlink_interface *interface = NULL;
	struct varlink_mismatch mismatch;
	size_t length = strnlen((const char *)data, size);
	char *text = strndup((const char *)data, length);
	unsigned line = 0;
	json_t *value;
	int r;

	r = varlink_interface_parse(text, &interface, &line);
	free(text);
	if (r < 0) {
		if (line == 0 || line > length + 1)
			abort();
		return 0;
	}

	value = length < size
			? json_loadb((const char *)data + length + 1, size - length - 1, 0, NULL)
			: NULL;
	method = varlink_interface_method(interface, "M");
	if (value && method) {
		(void)varlink_interface_method_has_list(method, "a");
		r = varlink_interface_check_call(method, value, &mismatch);
		if (r < 0 && (strlen(mismatch.path) >= sizeof(mismatch.path) || !mismatch.why))
			abort();
		(void)varlink_interface_check_reply(method, value, NULL);
	}
	if (value)
		(void)varlink_interface_check_error(interface, "E", value, &mismatch);
	json_decref(value);
	varlink_interface_free(interface);
	return 0;
}
