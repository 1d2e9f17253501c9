// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A finding: a condition that holds now and that a person should know.
#include "fabric/finding.h"

#include <stddef.h>

const char *finding_severity_name(enum finding_severity severity)
{
	switch (severity) {
	case FINDING_NOTICE:
		return "notice";
	case FINDING_WARNING:
		return "warning";
	case FINDING_CRITICAL:
		return "critical";
	}
	return NULL;
}
