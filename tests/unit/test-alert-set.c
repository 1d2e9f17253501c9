// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Alerts: raised once, updated, cleared once, bounded, restored with their ids; kinds and evidence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "fabric/alert-set.h"

static struct {
	int raised, updated, cleared;
	uint64_t id;
} told;

static void tell(const struct alert *alert, enum alert_step step, void *userdata)
{
	assert_ptr_equal(userdata, &told);
	told.id = alert->id;
	told.raised += step == ALERT_RAISED;
	told.updated += step == ALERT_UPDATED;
	told.cleared += step == ALERT_CLEARED;
}

static int setup(void **state)
{
	struct alert_set *set;

	memset(&told, 0, sizeof(told));
	assert_int_equal(alert_set_new(tell, &told, &set), 0);
	*state = set;
	return 0;
}

static int teardown(void **state)
{
	alert_set_free(*state);
	return 0;
}

static struct detect_time at(uint64_t usec)
{
	return (struct detect_time){usec, 1000000 + usec};
}

static int report(struct alert_set *set, unsigned int kind, struct alert_subject subject,
		  uint64_t occurrences, uint64_t usec)
{
	const struct alert_report r = {
		.kind = kind,
		.subject = subject,
		.severity = FINDING_WARNING,
		.occurrences = occurrences,
		.message = "it is so",
	};
	struct detect_time now = at(usec);

	return alert_set_report(set, &r, &now);
}

static void test_once(void **state)
{
	struct alert_set *set = *state;
	struct alert_subject subject = alert_subject_guid(0x17, "leaf1");
	struct detect_time now = at(9);
	const struct alert *alert;
	uint64_t id;

	assert_int_equal(report(set, DETECT_SM_HUNG, subject, 1, 1), 0);
	assert_int_equal(report(set, DETECT_SM_HUNG, subject, 0, 2), 0);
	assert_int_equal(told.raised, 1);
	assert_int_equal(told.updated, 0);
	assert_int_equal(report(set, DETECT_SM_HUNG, subject, 2, 3), 0);
	assert_int_equal(told.updated, 1);
	alert = alert_set_find(set, DETECT_SM_HUNG, &subject);
	assert_int_equal(alert->count, 3);
	assert_int_equal(alert->since_realtime_usec, 1000001);
	assert_int_equal(alert->last_realtime_usec, 1000003);
	assert_string_equal(alert->subject.name, "leaf1");
	id = alert->id;

	/* Another kind, another subject, another port: another alert. */
	report(set, DETECT_SM_LOST, subject, 1, 4);
	subject.port = 1;
	report(set, DETECT_SM_HUNG, subject, 1, 4);
	report(set, DETECT_SM_HUNG, alert_subject_word("subnet"), 1, 4);
	assert_int_equal(told.raised, 4);
	assert_int_equal(alert_set_open(set), 4);
	assert_int_equal(alert_set_count(set, FINDING_WARNING), 4);
	assert_int_equal(alert_set_count(set, FINDING_CRITICAL), 0);

	subject.port = 0;
	assert_true(alert_set_clear(set, DETECT_SM_HUNG, &subject, &now));
	assert_false(alert_set_clear(set, DETECT_SM_HUNG, &subject, &now));
	assert_int_equal(told.cleared, 1);
	assert_int_equal(told.id, id);
	assert_int_equal(alert_set_cleared(set), 1);
	assert_int_equal(alert_set_get_cleared(set, 0)->cleared_realtime_usec, 1000009);
	assert_null(alert_set_get_cleared(set, 1));

	/* Raised again it is another one; raised at the same time it is the same one. */
	report(set, DETECT_SM_HUNG, subject, 1, 10);
	assert_true(told.id != id);
	alert_set_clear(set, DETECT_SM_HUNG, &subject, &now);
	report(set, DETECT_SM_HUNG, subject, 1, 1);
	assert_int_equal(told.id, id);
}

static void test_begin_and_end(void **state)
{
	struct alert_set *set = *state;
	struct detect_time now = at(5);

	report(set, DETECT_SM_CONFIG, alert_subject_word("a"), 1, 1);
	report(set, DETECT_SM_CONFIG, alert_subject_word("b"), 1, 1);
	report(set, DETECT_SM_CONFIG, alert_subject_word("c"), 1, 1);
	report(set, DETECT_SM_LOST, alert_subject_word("a"), 1, 1);
	alert_set_begin(set, DETECT_SM_CONFIG);
	report(set, DETECT_SM_CONFIG, alert_subject_word("b"), 0, 5);
	alert_set_keep(set, DETECT_SM_CONFIG, &(struct alert_subject){.key = "c"});
	alert_set_end(set, DETECT_SM_CONFIG, &now);
	assert_int_equal(told.cleared, 1);
	assert_int_equal(alert_set_open(set), 3);
	assert_null(alert_set_find(set, DETECT_SM_CONFIG, &(struct alert_subject){.key = "a"}));
}

static void test_bounds(void **state)
{
	struct alert_set *set = *state;
	struct detect_time now = at(1);

	for (uint64_t i = 1; i <= ALERTS_OPEN_MAX; i++)
		assert_int_equal(report(set, DETECT_TRAP_FLOOD, alert_subject_guid(i, NULL), 1, 1),
				 0);
	assert_int_equal(report(set, DETECT_TRAP_FLOOD, alert_subject_guid(99999, NULL), 1, 1),
			 -ENOSPC);
	assert_int_equal(alert_set_not_raised(set), 1);
	assert_int_equal(told.raised, ALERTS_OPEN_MAX);
	for (uint64_t i = 1; i <= ALERTS_OPEN_MAX; i++)
		alert_set_clear(set, DETECT_TRAP_FLOOD, &(struct alert_subject){.guid = i}, &now);
	assert_int_equal(alert_set_open(set), 0);
	assert_int_equal(alert_set_cleared(set), ALERTS_CLEARED_MAX);
	assert_int_equal(alert_set_get_cleared(set, ALERTS_CLEARED_MAX - 1)->subject.guid,
			 ALERTS_OPEN_MAX);
}

static void test_restore(void **state)
{
	struct alert_set *set = *state, *other;
	struct evidence evidence = {0};
	struct detect_time now = at(1);
	struct alert_report r = {
		.kind = DETECT_SM_FLAPPING,
		.subject = alert_subject_word("subnet"),
		.severity = FINDING_CRITICAL,
		.occurrences = 4,
		.message = "m",
		.evidence = &evidence,
	};
	struct alert broken;

	evidence_list_text(&evidence, "names", "a");
	evidence_list_text(&evidence, "names", "b");
	evidence_number(&evidence, "n", 5);
	assert_int_equal(alert_set_report(set, &r, &now), 0);
	assert_int_equal(evidence.count, 0); /* taken over */

	assert_int_equal(alert_set_new(NULL, NULL, &other), 0);
	assert_int_equal(alert_set_restore(other, alert_set_get(set, 0)), 0);
	assert_int_equal(alert_set_restore(other, alert_set_get(set, 0)), -EEXIST);
	assert_int_equal(alert_set_get(other, 0)->id, alert_set_get(set, 0)->id);
	assert_int_equal(alert_set_get(other, 0)->count, 4);
	assert_int_equal(evidence_count(&alert_set_get(other, 0)->evidence, "names"), 2);
	assert_string_equal(alert_set_get(other, 0)->evidence.fields[1].text, "b");

	/* What is restored is open: reported again, it is not raised again. */
	r.occurrences = 1;
	alert_set_report(other, &r, &now);
	assert_int_equal(alert_set_open(other), 1);
	assert_int_equal(alert_set_get(other, 0)->count, 5);
	assert_int_equal(alert_set_get(other, 0)->evidence.count, 0);

	alert_set_clear(set, DETECT_SM_FLAPPING, &r.subject, &now);
	assert_int_equal(alert_set_restore(other, alert_set_get_cleared(set, 0)), 0);
	assert_int_equal(alert_set_cleared(other), 1);
	broken = *alert_set_get_cleared(set, 0);
	broken.kind = DETECT_KINDS;
	assert_int_equal(alert_set_restore(other, &broken), -EINVAL);
	broken = *alert_set_get_cleared(set, 0);
	broken.severity = (enum finding_severity)17;
	assert_int_equal(alert_set_restore(other, &broken), -EINVAL);
	alert_set_free(other);
}

static void test_findings(void **state)
{
	struct alert_set *set = *state;
	struct finding findings[2] = {
		{.kind = FINDING_PLUGIN_LOST,
		 .severity = FINDING_WARNING,
		 .subject = "plugin",
		 .message = "gone",
		 .n_evidence = 2,
		 .evidence = {{.name = "silent_usec", .type = FINDING_NUMBER, .number = 12},
			      {.name = "names",
			       .type = FINDING_LIST,
			       .number = 2,
			       .texts = {"x", "y"}}}},
		{.kind = FINDING_EVENTS_DROPPED,
		 .severity = FINDING_WARNING,
		 .subject = "plugin",
		 .message = "dropped",
		 .occurrence = 3},
	};
	struct detect_time now = at(1);
	const struct alert *alert;

	alert_set_findings(set, findings, 2, UINT_MAX, &now);
	assert_int_equal(told.raised, 2);
	alert = alert_set_get(set, 0);
	assert_string_equal(detect_kind_name(alert->kind), "plugin-lost");
	assert_int_equal(evidence_find(&alert->evidence, "silent_usec")->number, 12);
	assert_int_equal(evidence_count(&alert->evidence, "names"), 2);

	/* The same occurrence is no news, another one is, and what is not there is over. */
	alert_set_findings(set, &findings[1], 1, UINT_MAX, &now);
	assert_int_equal(told.cleared, 1);
	assert_int_equal(told.updated, 0);
	findings[1].occurrence = 4;
	alert_set_findings(set, &findings[1], 1, UINT_MAX, &now);
	assert_int_equal(told.updated, 1);
	assert_int_equal(alert_set_get(set, 0)->count, 2);
	/* What is not known to be over stays. */
	alert_set_findings(set, NULL, 0, 0, &now);
	assert_int_equal(told.cleared, 1);
	alert_set_findings(set, NULL, 0, UINT_MAX, &now);
	assert_int_equal(told.cleared, 2);
}

static void test_kinds(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < DETECT_KINDS; i++) {
		const struct detect_kind_info *info = detect_kind_info(i);

		assert_int_equal(detect_kind_from_name(detect_kind_name(i)), i);
		assert_true(info->raised[0] && info->cleared[0] && info->advice[0]);
		assert_true(info->raised[strlen(info->raised) - 1] != '.');
		assert_true(info->cleared[strlen(info->cleared) - 1] != '.');
		assert_true(info->advice[strlen(info->advice) - 1] == '.');
		assert_non_null(finding_severity_name(info->severity));
	}
	assert_null(detect_kind_name(DETECT_KINDS));
	assert_int_equal(detect_kind_from_name("nonsense"), -EINVAL);
}

static void test_evidence_is_bounded(void **state)
{
	struct evidence evidence = {0};

	(void)state;
	evidence_text(&evidence, "none", "");
	evidence_text(&evidence, "none", NULL);
	evidence_guid(&evidence, "none", 0);
	assert_int_equal(evidence.count, 0);
	evidence_real(&evidence, "real", 0.5);
	evidence_truth(&evidence, "truth", true);
	evidence_guid(&evidence, "guid", 1);
	for (int i = 0; i < EVIDENCE_FIELDS_MAX; i++)
		evidence_list_text(&evidence, "list", "text");
	assert_int_equal(evidence.count, EVIDENCE_FIELDS_MAX);
	assert_int_equal(evidence.left_out, 3);
	assert_int_equal(evidence_count(&evidence, "list"), EVIDENCE_FIELDS_MAX - 3);
	assert_null(evidence_find(&evidence, "none"));
	assert_true(evidence_find(&evidence, "truth")->type == EVIDENCE_TRUTH);
	evidence_clear(&evidence);
	assert_int_equal(evidence.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_begin_and_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_restore, setup, teardown),
		cmocka_unit_test_setup_teardown(test_findings, setup, teardown),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_evidence_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
