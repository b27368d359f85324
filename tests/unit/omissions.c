// SPDX-License-Identifier: GPL-2.0-only
/*
 * omissions.c - omissions are stated, read back, added up and printed, and unknown numbers stay
 * unknown.
 */
#include "lib/iotape.h"

#include "suite.h"

#define UNKNOWN IOT_OMISSION_UNKNOWN

static void take(struct iot_omissions *o, const char *fact)
{
	struct iot_record record = {
		.kind = IOT_KIND_fact,
		.tail = (const u8 *)fact,
		.tail_bytes = (u16)strlen(fact),
	};

	iot_omissions_take(o, &record);
}

/* A finished trace by a writer of this version. */
static const struct iot_trace_info whole = { .is_complete = true, .states_omissions = true };

static bool has(const struct iot_omissions *o, enum iot_omission_reason reason, u64 count, u64 operations,
		u64 bytes, const char *detail)
{
	const struct iot_omission *of = &o->of[reason];

	return of->count == count && of->operations == operations && of->bytes == bytes &&
	       !strcmp(of->detail, detail);
}

static u32 count_reasons(const struct iot_omissions *o)
{
	u32 i, count = 0;

	for (i = 0; i < IOT_OMISSION_END; i++)
		count += o->of[i].count != 0;
	return count;
}

/* -- facts ---------------------------------------------------------------------------------- */

static const struct {
	const char *fact;
	u64 count, operations, bytes;
	const char *detail;
} facts[] = {
	{ "omission.descendants=2 ? ? sleep (12), cron (13)", 2, UNKNOWN, UNKNOWN, "sleep (12), cron (13)" },
	{ "omission.not_expressed=5 5 20480 ioctl 3, write 2", 5, 5, 20480, "ioctl 3, write 2" },
	{ "omission.unexplained=1 0 0", 1, 0, 0, "" },
	{ "omission.async=3 ? 0", 3, UNKNOWN, 0, "" },
};

static void facts_are_read_back(void **state)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(facts); i++) {
		struct iot_omissions o = {};
		u32 reason = 1;

		take(&o, facts[i].fact);
		iot_omissions_finish(&o, &whole);
		assert_row(facts[i].fact, count_reasons(&o) == 1);
		while (!o.of[reason].count)
			reason++;
		assert_row(facts[i].fact, has(&o, reason, facts[i].count, facts[i].operations,
					      facts[i].bytes, facts[i].detail));
		assert_row(facts[i].fact, iot_omission_fact(&o, reason, text) > 0);
		assert_row(facts[i].fact, !strcmp(text, facts[i].fact));
	}
}

static void unreadable_facts_are_reported(void **state)
{
	static const char *const odd[] = {
		"omission.of_a_later_version=1 2 3", "omission.lost=", "omission.lost=x ? ?",
		"omission.lost=3", "omission.lost=3 ?", "omission.=1 1 1",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		struct iot_omissions o = {};

		take(&o, odd[i]);
		iot_omissions_finish(&o, &whole);
		assert_row(odd[i], count_reasons(&o) == 1);
		assert_row(odd[i], o.of[IOT_OMISSION_partial].count == 1);
		assert_row(odd[i], o.of[IOT_OMISSION_partial].operations == UNKNOWN);
	}
}

static void numbers_do_not_overflow(void **state)
{
	struct iot_omissions o = {};
	char text[IOT_OMISSION_TEXT_BYTES];
	bool is_more;

	(void)state;
	take(&o, "omission.not_expressed=18446744073709551614 18446744073709551614 18446744073709551614");
	take(&o, "omission.not_expressed=2 2 2");
	assert_true(has(&o, IOT_OMISSION_not_expressed, UNKNOWN, UNKNOWN, UNKNOWN, ""));
	assert_int_equal(iot_omissions_operations(&o, &is_more), 0);
	assert_true(is_more);
	assert_true(iot_omissions_text(&o, text) > 0);
	assert_true(iot_omission_fact(&o, IOT_OMISSION_not_expressed, text) > 0);
	assert_string_equal(text, "omission.not_expressed=? ? ?");
}

/* A recorder with a filter was killed before it stated how many operations the filter excluded. */
static void unknown_counts_are_words(void **state)
{
	struct iot_omissions o = {};
	char text[IOT_OMISSION_TEXT_BYTES];

	(void)state;
	take(&o, "filter=size < 4k");
	iot_omissions_finish(&o, &whole);
	assert_true(iot_omission_text(&o, IOT_OMISSION_filtered, text) > 0);
	assert_string_equal(text, "an unknown number of operations were excluded by a filter");
}

static void details_are_cut_and_stay_one_line(void **state)
{
	char fact[2 * IOT_OMISSION_DETAIL_BYTES] = "omission.descendants=1 ? ? a\nb\033[0m";
	char text[IOT_OMISSION_TEXT_BYTES];
	struct iot_omissions o = {};
	size_t bytes = strlen(fact);

	(void)state;
	memset(fact + bytes, 'x', sizeof(fact) - bytes - 1);
	take(&o, fact);
	assert_int_equal(strlen(o.of[IOT_OMISSION_descendants].detail), IOT_OMISSION_DETAIL_BYTES - 1);
	assert_int_equal(strncmp(o.of[IOT_OMISSION_descendants].detail, "a?b?[0mxx", 9), 0);
	take(&o, fact);
	assert_true(iot_omission_text(&o, IOT_OMISSION_descendants, text) < IOT_OMISSION_TEXT_BYTES);
	assert_true(iot_omission_fact(&o, IOT_OMISSION_descendants, text) < IOT_OMISSION_TEXT_BYTES);
}

/* -- omissions shown by a trace itself ------------------------------------------------------------ */

static const struct {
	const char *name;
	struct iot_trace_info info;
	enum iot_omission_reason reason;
	u64 count;
} shown[] = {
	{ "no end", { .states_omissions = true }, IOT_OMISSION_unfinished, 1 },
	{ "torn", { .states_omissions = true, .is_torn = true }, IOT_OMISSION_torn, 1 },
	{ "dropped", { .states_omissions = true, .is_complete = true, .lost = 7 }, IOT_OMISSION_lost, 7 },
	{ "not there", { .states_omissions = true, .is_complete = true, .missing = 3 },
	  IOT_OMISSION_missing, 3 },
	{ "not known", { .states_omissions = true, .is_complete = true, .unknown = 2 },
	  IOT_OMISSION_unknown, 2 },
	{ "old", { .is_complete = true }, IOT_OMISSION_unstated, 1 },
};

static void omissions_shown_by_a_file_are_added(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shown); i++) {
		struct iot_omissions o = {};

		iot_omissions_finish(&o, &shown[i].info);
		assert_row(shown[i].name, count_reasons(&o) == 1);
		assert_row(shown[i].name, has(&o, shown[i].reason, shown[i].count, UNKNOWN, UNKNOWN, ""));
		assert_row(shown[i].name, !iot_omissions_is_none(&o));
	}
}

static void put_map(struct iot_omissions *o, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_map, .map.result = result };

	iot_omissions_take(o, &record);
}

static void put_control(struct iot_omissions *o, u32 verb, u64 since_ns, u64 time_ns, u64 operations)
{
	struct iot_record record = {
		.kind = IOT_KIND_control,
		.control = { .time_ns = time_ns, .since_ns = since_ns, .verb = verb, .operations = operations },
	};

	iot_omissions_take(o, &record);
}

static void a_pause_is_a_gap(void **state)
{
	struct iot_omissions o = {};

	(void)state;
	put_control(&o, IOT_VERB_policy, 1000000000, 1000000000, 0);
	put_control(&o, IOT_VERB_pause, 2000000000, 2100000000, 0);
	put_control(&o, IOT_VERB_resume, 2900000000, 3000000000, 5);
	put_control(&o, IOT_VERB_pause, 4000000000, 4000000000, 0);
	put_control(&o, IOT_VERB_stop, 4500000000, 5000000000, 2);
	put_control(&o, IOT_VERB_stop, 5000000000, 5000000000, 0);
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_paused, 2, 7, UNKNOWN, "2.000 s of 4.000 s"));
	assert_false(iot_omissions_is_whole(&o));

	o = (struct iot_omissions){}; /* a trace without operations */
	put_control(&o, IOT_VERB_pause, 1000000000, 1000000000, 0);
	put_control(&o, IOT_VERB_resume, 1500000000, 1500000000, 0);
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_paused, 1, 0, 0, "0.500 s of 0.500 s"));

	o = (struct iot_omissions){}; /* the end is lost */
	put_control(&o, IOT_VERB_pause, 1000000000, 1000000000, 0);
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_paused, 1, UNKNOWN, UNKNOWN, "0.000 s of 0.000 s"));

	o = (struct iot_omissions){}; /* the beginning is lost; a fact counts for the whole trace */
	put_control(&o, IOT_VERB_resume, 1000000000, 1000000000, 3);
	take(&o, "omission.paused=4 9 ?");
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_paused, 4, 9, UNKNOWN, ""));

	o = (struct iot_omissions){};
	put_control(&o, IOT_VERB_mmap, 1000000000, 1000000000, 0);
	put_map(&o, 0);
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_mapping, 1, UNKNOWN, UNKNOWN, ""));
}

/* In a merged trace, a fact covers all parts. */
static void a_fact_overrides_records(void **state)
{
	const struct iot_record unseen = {
		.kind = IOT_KIND_state,
		.state = { .unseen_files = 2, .unseen_maps = 1, .unseen_tasks = 2 },
	};
	struct iot_omissions o = {};

	(void)state;
	take(&o, "mmap=off");
	put_map(&o, 0);
	put_map(&o, 0);
	put_map(&o, -ENODEV);
	iot_omissions_take(&o, &unseen);
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_mapping, 2, UNKNOWN, UNKNOWN, ""));
	assert_true(has(&o, IOT_OMISSION_around, 3, UNKNOWN, UNKNOWN, "of 2 processes"));
	assert_int_equal(count_reasons(&o), 2);

	o = (struct iot_omissions){};
	put_map(&o, 0);
	iot_omissions_finish(&o, &whole);
	assert_true(iot_omissions_is_none(&o));

	o = (struct iot_omissions){};
	take(&o, "mmap=off");
	put_map(&o, 0);
	iot_omissions_take(&o, &unseen);
	take(&o, "omission.mapping=9 ? ?");
	take(&o, "omission.around=5 ? ?");
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_mapping, 9, UNKNOWN, UNKNOWN, ""));
	assert_true(has(&o, IOT_OMISSION_around, 5, UNKNOWN, UNKNOWN, ""));
}

static void runs_that_ended_early_are_partial(void **state)
{
	struct iot_omissions o = {};
	char text[IOT_OMISSION_TEXT_BYTES];

	(void)state;
	take(&o, "partial=iotape record was killed, which ended the recording");
	take(&o, "omission.partial=1 ? ? 3 of 6 operations were performed");
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_partial, 2, UNKNOWN, UNKNOWN,
			"iotape record was killed, which ended the recording, 3 of 6 operations were performed"));
	o.of[IOT_OMISSION_partial].count = 1;
	iot_omission_text(&o, IOT_OMISSION_partial, text);
	assert_int_equal(strncmp(text, "the trace is partial: iotape record was", 39), 0);
}

/* Older traces state the same by other facts. */
static void gaps_of_older_traces_of_logs_are_omissions(void **state)
{
	struct iot_trace_info old = { .is_complete = true };
	struct iot_omissions o = {};

	(void)state;
	take(&o, "import.map=4");
	take(&o, "import.aio=2");
	take(&o, "import.no_fd=3");
	take(&o, "import.foreign=1");
	iot_omissions_finish(&o, &old);
	assert_true(has(&o, IOT_OMISSION_mapping, 4, UNKNOWN, UNKNOWN, ""));
	assert_true(has(&o, IOT_OMISSION_async, 2, UNKNOWN, UNKNOWN, ""));
	assert_true(has(&o, IOT_OMISSION_log, 4, UNKNOWN, UNKNOWN, "no_fd 3, foreign 1"));

	o = (struct iot_omissions){};
	take(&o, "import.map=4");
	iot_omissions_finish(&o, &whole);
	assert_true(iot_omissions_is_none(&o));
}

static void mpi_calls_alone_are_an_omission(void **state)
{
	const struct iot_record call = { .kind = IOT_KIND_mpi_coll };
	const struct iot_record mount = { .kind = IOT_KIND_mount };
	struct iot_omissions o = {};

	(void)state;
	iot_omissions_take(&o, &call);
	iot_omissions_finish(&o, &whole);
	assert_true(has(&o, IOT_OMISSION_mpi_only, 1, UNKNOWN, UNKNOWN, ""));
	o = (struct iot_omissions){};
	iot_omissions_take(&o, &mount);
	iot_omissions_take(&o, &call);
	iot_omissions_finish(&o, &whole);
	assert_true(iot_omissions_is_none(&o));
}

/* -- shares -------------------------------------------------------------------------------------- */

static const struct {
	const char *fact;
	const char *more;
	const char *text;
	bool is_whole;
} shares[] = {
	{ "omission.not_expressed=2 2 100", NULL,
	  "incomplete: 2 of 10 operations (20.0 %) and 100 of 400 bytes (25.0 %) are missing" },
	{ "omission.not_expressed=2 2 100", "omission.log=1 1 ?",
	  "incomplete: 3 of 11 operations (27.3 %) and at least 100 of 400 bytes (25.0 %) are missing" },
	{ "omission.lost=7 ? ?", NULL,
	  "incomplete: an unknown number of operations and an unknown number of bytes are missing" },
	{ "omission.lost=7 ? ?", "omission.not_expressed=2 2 0",
	  "incomplete: at least 2 of 10 operations (20.0 %) and an unknown number of bytes are missing" },
	{ "omission.unexplained=2 0 0", NULL, "incomplete: the order of some operations is not known",
	  .is_whole = true },
	{ "omission.not_expressed=1 1 0", NULL, "incomplete: 1 of 9 operations (11.1 %) and 0 of 300 bytes (0.0 %) are missing" },
};

/* Eight operations, of which two read 150 bytes each. */
static void put_operations(struct iot_omissions *o)
{
	struct iot_record record = { .kind = IOT_KIND_read };
	int i;

	for (i = 0; i < 8; i++) {
		record.read.result = i < 2 ? 150 : -EIO;
		iot_omissions_take(o, &record);
	}
}

static void shares_refer_to_the_run(void **state)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shares); i++) {
		struct iot_omissions o = {};

		put_operations(&o);
		take(&o, shares[i].fact);
		if (shares[i].more)
			take(&o, shares[i].more);
		iot_omissions_text(&o, text);
		assert_row(text, !strcmp(text, shares[i].text));
		assert_row(text, iot_omissions_is_whole(&o) == shares[i].is_whole);
	}
}

static void absent_omission_has_no_text(void **state)
{
	char text[IOT_OMISSION_TEXT_BYTES] = "x";
	struct iot_omissions o = {};
	u32 i;

	(void)state;
	put_operations(&o);
	iot_omissions_finish(&o, &whole);
	assert_true(iot_omissions_is_whole(&o));
	assert_int_equal(iot_omissions_text(&o, text), 0);
	assert_string_equal(text, "");
	for (i = 1; i < IOT_OMISSION_END; i++) {
		assert_int_equal(iot_omission_text(&o, i, text), 0);
		assert_int_equal(iot_omission_fact(&o, i, text), 0);
	}
}

/* Like `iotape diff` and `iotape merge`. */
static void omissions_of_two_traces_add_up(void **state)
{
	struct iot_omissions o = {}, other = {};

	(void)state;
	put_operations(&o);
	put_operations(&other);
	take(&o, "omission.lost=1 ? ?");
	take(&other, "omission.lost=2 ? ?");
	take(&other, "omission.not_expressed=3 3 30 lock 3");
	iot_omissions_sum(&o, &other);
	assert_int_equal(o.operations, 16);
	assert_int_equal(o.bytes, 600);
	assert_true(has(&o, IOT_OMISSION_lost, 3, UNKNOWN, UNKNOWN, ""));
	assert_true(has(&o, IOT_OMISSION_not_expressed, 3, 3, 30, "lock 3"));
}

static const struct {
	const char *name;
	struct iot_record record;
	u64 bytes;
} moved[] = {
	{ "read", { .kind = IOT_KIND_read, .read.result = 5 }, 5 },
	{ "write", { .kind = IOT_KIND_write, .write.result = 6 }, 6 },
	{ "failed", { .kind = IOT_KIND_write, .write = { .length_bytes = 9, .result = -ENOSPC } }, 0 },
	{ "copy", { .kind = IOT_KIND_copy_range, .copy_range.result = 7 }, 14 },
	{ "touch", { .kind = IOT_KIND_touch, .touch.length_bytes = 4096 }, 4096 },
	{ "end of a request", { .kind = IOT_KIND_complete, .complete.result = 8 }, 8 },
	{ "stat", { .kind = IOT_KIND_stat, .stat.size_bytes = 9 }, 0 },
};

static void bytes_are_moved_bytes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(moved); i++)
		assert_row(moved[i].name, iot_record_moved_bytes(&moved[i].record) == moved[i].bytes);
}

SUITE("omissions", TEST(facts_are_read_back) TEST(unreadable_facts_are_reported)
			   TEST(numbers_do_not_overflow) TEST(unknown_counts_are_words)
			   TEST(details_are_cut_and_stay_one_line)
			   TEST(omissions_shown_by_a_file_are_added)
			   TEST(a_pause_is_a_gap)
			   TEST(a_fact_overrides_records)
			   TEST(runs_that_ended_early_are_partial)
			   TEST(gaps_of_older_traces_of_logs_are_omissions)
			   TEST(mpi_calls_alone_are_an_omission) TEST(shares_refer_to_the_run)
			   TEST(absent_omission_has_no_text)
			   TEST(omissions_of_two_traces_add_up)
			   TEST(bytes_are_moved_bytes))
