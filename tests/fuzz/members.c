// SPDX-License-Identifier: GPL-2.0-only
/*
 * members.c - strace logs from which a member is dropped: an argument, or a member of a structure or a list.
 *
 *	members [OPTION]... LOG...		see fuzz_options()
 *
 * The importer may only create operations that the complete log has: on the same file, with the same
 * values. Operations that are not certain any more must be left out and counted, unless
 * the call failed. Stated guesses
 * are permitted: how a file was opened that was found open, a umask, the end of a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uthash.h>

#include "import/import.h"
#include "lib/iotape.h"
#include "mutate.h"

#define LOG_MAX_BYTES (1 << 20)
#define DEED_BYTES    6000

static u64 seed_now;
static char dropped[1000]; /* the line without a member */
static char directory[] = "/tmp/iotape-members-XXXXXX";
static char log_path[sizeof(directory) + sizeof("/log")];
static char trace_path[sizeof(directory) + sizeof("/trace")];

/* An operation as text, and its number of occurrences. Times are not compared: they depend on the other operations of a call. */
struct deed {
	UT_hash_handle hh;
	u32 count;
	u32 left; /* occurrences that the other log has not had */
	char text[];
};

/* A handle that the importer opened because it found it in use, or a mapping of one. */
struct found {
	UT_hash_handle hh;
	struct found_key {
		u64 id;
		u64 is_map;
	} key;
};

struct deeds {
	struct deed *head;
	struct found *found;
	struct import_summary summary;
	const struct deeds *whole; /* NULL while this is the whole log's */
};

static void fail(const char *what, const char *detail)
{
	fprintf(stderr, "# a promise is broken with --seed=%llu --count=1: %s: %s: %s\n",
		(unsigned long long)seed_now, what, detail, dropped);
	abort();
}

/* -- contents of a trace ------------------------------------------------------------------------------ */

static u64 id_of(const struct iot_record *record, enum iot_class class)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (info->fields[i].class == class)
			return iot_field_get(record, &info->fields[i]);
	return 0;
}

static void add_found(struct deeds *deeds, u64 id, bool is_map)
{
	struct found *found = calloc(1, sizeof(*found));

	found->key = (struct found_key){ id, is_map };
	HASH_ADD(hh, deeds->found, key, sizeof(found->key), found);
}

static bool is_found(const struct deeds *deeds, const struct iot_record *record)
{
	const struct found_key keys[] = { { id_of(record, IOT_CLASS_handle), 0 },
					  { id_of(record, IOT_CLASS_map), 1 } };
	struct found *found;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		HASH_FIND(hh, deeds->found, &keys[i], sizeof(keys[i]), found);
		if (found && record->kind == IOT_KIND_map)
			add_found((struct deeds *)deeds, record->map.map, true);
		if (found)
			return true;
	}
	return false;
}

/* An open at the first use, with guesses. */
static bool is_open_of_found(const struct iot_record *record)
{
	return record->kind == IOT_KIND_open && !record->op.duration_ns && record->open.handle &&
	       !record->open.mode &&
	       (record->open.flags == (IOT_OPEN_read | IOT_OPEN_write) ||
		record->open.flags == (IOT_OPEN_read | IOT_OPEN_directory));
}

static bool is_guessed(const struct deeds *deeds, const struct iot_record *record, const struct iot_field *field)
{
	const u64 *now = deeds->summary.gaps, *before = deeds->whole->summary.gaps;

	if (now[IMPORT_GAP_umask] > before[IMPORT_GAP_umask] && field->class == IOT_CLASS_mode)
		return true;
	return now[IMPORT_GAP_size] > before[IMPORT_GAP_size] && record->kind == IOT_KIND_write &&
	       record->write.flags & IOT_RW_append && field->class == IOT_CLASS_offset;
}

/* Whether an open created the file is a guess if nothing else shows it. */
static u64 value_of(const struct iot_record *record, const struct iot_field *field)
{
	u64 value = iot_field_get(record, field);

	return field->class == IOT_CLASS_open_flags ? value & ~(u64)IOT_OPEN_created : value;
}

static void print(char *text, struct iot_names *names, const struct iot_record *record, const struct deeds *deeds)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	const char *path = record->kind == IOT_KIND_link ? iot_names_path(names, record->link.name) :
							   iot_names_of_record(names, record).path;
	size_t at;
	u32 i;

	at = (size_t)snprintf(text, DEED_BYTES, "%s %.4000s", info->name, path);
	for (i = 0; i < info->field_count; i++) {
		const struct iot_field *field = &info->fields[i];

		if (!iot_class_info(field->class).is_compared || at + 64 > DEED_BYTES)
			continue;
		if (deeds->whole && is_guessed(deeds, record, field))
			at += (size_t)snprintf(text + at, DEED_BYTES - at, " %s=?", field->name);
		else
			at += (size_t)snprintf(text + at, DEED_BYTES - at, " %s=%llu", field->name,
					       (unsigned long long)value_of(record, field));
	}
}

static struct deed *deed_of(const struct deeds *deeds, const char *text)
{
	struct deed *deed;

	HASH_FIND_STR(deeds->head, text, deed);
	return deed;
}

/* Is there an operation of the complete log that differs only where the other one has a question mark? */
static bool has_guess(const struct deeds *whole, const char *text)
{
	const struct deed *deed;

	for (deed = whole->head; deed; deed = deed->hh.next) {
		const char *a = text, *b = deed->text;

		while (*a && *a == *b) {
			a++;
			b++;
			if (*a == '?' && a[-1] == '=') {
				a++;
				b += strcspn(b, " ");
			}
		}
		if (!*a && !*b)
			return true;
	}
	return false;
}

static int take(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct deeds *deeds = context;
	static char text[DEED_BYTES];
	struct deed *deed;

	if (iot_kind_info(record->kind)->group != IOT_GROUP_op)
		return 0;
	if (is_open_of_found(record))
		add_found(deeds, record->open.handle, false);
	if (deeds->whole && is_found(deeds, record))
		return 0;
	if (deeds->whole && record->kind == IOT_KIND_lookup && !record->op.result)
		return 0; /* the first user of a name has the lookup */
	if (deeds->whole && (record->kind == IOT_KIND_follow || record->op.result < 0))
		return 0; /* with an unknown or remaining link, names lead elsewhere */
	if (deeds->whole && (record->kind == IOT_KIND_flush || record->kind == IOT_KIND_release ||
			     record->kind == IOT_KIND_unmap))
		return 0; /* if the call that ends it is missing, another one does, perhaps several */
	print(text, names, record, deeds);
	if (deeds->whole) {
		deed = deed_of(deeds->whole, text);
		if (deed && deed->left)
			deed->left--;
		else if (!(strstr(text, "=?") && has_guess(deeds->whole, text)))
			fail("an operation has a value that the log does not", text);
		return 0;
	}
	deed = deed_of(deeds, text);
	if (!deed) {
		deed = calloc(1, sizeof(*deed) + strlen(text) + 1);
		strcpy(deed->text, text);
		HASH_ADD_STR(deeds->head, text, deed);
	}
	deed->count++;
	return 0;
}

static void deeds_free(struct deeds *deeds)
{
	struct deed *deed, *next;
	struct found *found, *next_found;

	HASH_ITER (hh, deeds->head, deed, next) {
		HASH_DEL(deeds->head, deed);
		free(deed);
	}
	HASH_ITER (hh, deeds->found, found, next_found) {
		HASH_DEL(deeds->found, found);
		free(found);
	}
	import_summary_free(&deeds->summary);
}

/* Return: was the log accepted? */
static bool import(struct deeds *deeds)
{
	char *logs[] = { log_path }, *roots[] = { "/tmp/job/root" };
	const struct import_options options = {
		.logs = logs, .log_count = 1, .trace = trace_path, .roots = roots, .root_count = 1,
	};
	struct iot_reject reject;
	int err = import_logs(&options, &deeds->summary);

	if (err)
		return false;
	if (iot_trace_walk(trace_path, take, deeds, NULL, &reject))
		fail("an imported trace can be read", iot_reject_sentence(&reject));
	unlink(trace_path);
	return true;
}

/* -- dropped members ----------------------------------------------------------------------------------- */

struct log_text {
	char *bytes;
	size_t count;
};

static bool read_log(const char *path, struct log_text *log)
{
	FILE *in = fopen(path, "re");

	log->bytes = malloc(LOG_MAX_BYTES);
	if (!in || !log->bytes)
		return false;
	log->count = fread(log->bytes, 1, LOG_MAX_BYTES, in);
	fclose(in);
	return log->count > 0;
}

static bool write_log(const struct log_text *log)
{
	FILE *out = fopen(log_path, "we");

	return out && fwrite(log->bytes, 1, log->count, out) == log->count && !fclose(out);
}

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\';
	return p;
}

/*
 * The limits of members on a line: brackets and commas that are not in strings, comments and output of -y.
 * For the members of the n-th bracket. Return: their number, at most @room; @ends: the position after each.
 */
static u32 members_of(const char *line, const char *end, u64 nth, const char *begins[], const char *ends[],
		      u32 room)
{
	const char *p = memchr(line, '(', (size_t)(end - line)) ?: end;
	u32 count = 0;
	int depth = 0, wanted = 0;

	for (; p < end; p++) {
		if (*p == '"') {
			p = skip_string(p, end);
		} else if (*p == '<' && p > line && (p[-1] >= '0' && p[-1] <= '9')) {
			while (p < end && *p != '>')
				p++;
		} else if (strchr("([{", *p)) {
			depth++;
			if (!wanted && !nth--) {
				wanted = depth;
				begins[0] = p + 1;
			}
		} else if (strchr(")]}", *p)) {
			if (depth-- != wanted || !wanted)
				continue;
			ends[count++] = p;
			return count;
		} else if (*p == ',' && depth == wanted && wanted && count + 1 < room) {
			ends[count++] = p;
			begins[count] = p + 1;
		}
	}
	return 0;
}

/* Return: was something dropped? */
static bool drop_member(struct rng *rng, struct log_text *log)
{
	const char *begins[64], *ends[64], *line, *end, *from, *to;
	size_t at = rng_below(rng, log->count);
	u32 count, which;

	while (at && log->bytes[at - 1] != '\n')
		at--;
	line = log->bytes + at;
	end = memchr(line, '\n', log->count - at);
	if (!end)
		return false;
	count = members_of(line, end, rng_below(rng, 4), begins, ends, 64);
	if (!count)
		return false;
	which = (u32)rng_below(rng, count);
	from = which ? ends[which - 1] : begins[0]; /* including the preceding or the following comma */
	to = which || count == 1 ? ends[which] : begins[1];
	while (!which && count > 1 && *to == ' ')
		to++;
	memmove(log->bytes + (from - log->bytes), to, log->count - (size_t)(to - log->bytes));
	log->count -= (size_t)(to - from);
	snprintf(dropped, sizeof(dropped), "%.*s", (int)(end - line - (to - from)), line);
	return true;
}

/* -- the run --------------------------------------------------------------------------------------------- */

static u64 count_of(const struct import_summary *summary, const struct import_named *named)
{
	size_t i;

	for (i = 0; i < summary->named_count; i++)
		if (summary->named[i].kind == named->kind && !strcmp(summary->named[i].name, named->name))
			return summary->named[i].count;
	return 0;
}

/* Does the second have more of something? */
static bool is_counted(const struct import_summary *part, const struct import_summary *whole)
{
	size_t i;

	for (i = 0; i < IMPORT_GAP_COUNT; i++)
		if (part->gaps[i] > whole->gaps[i])
			return true;
	for (i = 0; i < part->named_count; i++)
		if (part->named[i].count > count_of(whole, &part->named[i]))
			return true;
	return false;
}

/* A log, and the operations of all of it. */
struct whole {
	const char *path;
	struct deeds deeds;
};

static void take_whole(struct whole *whole)
{
	struct log_text log;

	if (!read_log(whole->path, &log) || !write_log(&log) || !import(&whole->deeds))
		fail("a log cannot be taken", whole->path);
	free(log.bytes);
}

static void check(struct rng *rng, struct whole *whole)
{
	struct deeds part = { .whole = &whole->deeds };
	struct log_text log;
	struct deed *deed;
	u32 tries = 0;

	for (deed = whole->deeds.head; deed; deed = deed->hh.next)
		deed->left = deed->count;
	if (!read_log(whole->path, &log))
		fail("a log cannot be read", whole->path);
	while (!drop_member(rng, &log) && tries++ < 1000)
		;
	if (!write_log(&log))
		fail("a log cannot be written", whole->path);
	if (import(&part) && !strstr(dropped, "= -1 ") && part.summary.operations < whole->deeds.summary.operations &&
	    !is_counted(&part.summary, &whole->deeds.summary))
		fail("operations are missing, and nothing is counted", whole->path);
	part.whole = NULL;
	deeds_free(&part);
	free(log.bytes);
}

int main(int argc, char **argv)
{
	struct fuzz_options options;
	struct whole *wholes;
	int first = fuzz_options(argc, argv, &options), i;
	u64 n;

	wholes = calloc((size_t)argc, sizeof(*wholes));
	if (first >= argc || !wholes || !mkdtemp(directory))
		return 1;
	sprintf(log_path, "%s/log", directory);
	sprintf(trace_path, "%s/trace", directory);
	fuzz_begin(options.seed);
	for (i = first; i < argc; i++) {
		wholes[i].path = argv[i];
		take_whole(&wholes[i]);
	}
	for (n = 0; n < options.count; n++) {
		struct rng rng;

		seed_now = options.seed + n;
		rng_seed(&rng, seed_now);
		fuzz_begin(seed_now);
		check(&rng, &wholes[first + (int)(seed_now % (u64)(argc - first))]);
	}
	for (i = first; i < argc; i++)
		deeds_free(&wholes[i].deeds);
	free(wholes);
	unlink(log_path);
	rmdir(directory);
	printf("1..1\nok 1 - of %llu logs without a member no operation has another value\n",
	       (unsigned long long)options.count);
	return 0;
}
