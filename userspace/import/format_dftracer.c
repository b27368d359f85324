// SPDX-License-Identifier: GPL-2.0-only
/*
 * format_dftracer.c - logs of DFTracer: .pfw, a line of JSON for each call.
 *
 * Source of the format: "Trace format" of DFTracer's documentation: events of the Chrome format with
 * times in microseconds. Names of files and hosts are in the arguments (fname, hostname), or, in newer
 * versions, are hashes (fhash, hhash) that metadata events FH and HH explain, before or behind their use.
 * Of failures the cause is missing, and of many calls the result.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "foreign.h"
#include "json_line.h"

#define WALL_CLOCK_S 100000000ull /* times beyond this are no times since the start */

/* The name for a hash; with the prefix C, the working directory of a process. */
struct dft_name {
	UT_hash_handle hh;
	char *name;
	char key[];
};

struct dftracer {
	struct dft_name *names;
	bool is_relative; /* a log had no wall clock */
};

/* An event, and its arguments. */
struct dft_event {
	struct json_member members[JSON_MEMBERS_MAX];
	struct json_member args[JSON_MEMBERS_MAX];
	int count;
	int arg_count;
};

static bool recognise(const char *line)
{
	line += strspn(line, " \t");
	return *line == '{' && strstr(line, "\"name\"") && strstr(line, "\"cat\"") && strstr(line, "\"pid\"");
}

static int begin(struct foreign *f)
{
	f->context = calloc(1, sizeof(struct dftracer));
	return f->context ? 0 : -ENOMEM;
}

static const char *name_find(const struct dftracer *d, char kind, const char *hash)
{
	char key[FOREIGN_PATH_BYTES];
	size_t bytes = (size_t)snprintf(key, sizeof(key), "%c%s", kind, hash);
	struct dft_name *name;

	if (bytes >= sizeof(key))
		return NULL;
	HASH_FIND(hh, d->names, key, bytes, name);
	return name ? name->name : NULL;
}

static int name_add(struct dftracer *d, char kind, const char *hash, const char *text)
{
	size_t bytes = strlen(hash) + 1;
	struct dft_name *name;

	if (bytes >= FOREIGN_PATH_BYTES || strlen(text) >= FOREIGN_PATH_BYTES || name_find(d, kind, hash))
		return 0;
	name = calloc(1, sizeof(*name) + bytes + 1);
	if (!name)
		return -ENOMEM;
	name->key[0] = kind;
	memcpy(name->key + 1, hash, bytes);
	name->name = strdup(text);
	if (!name->name) {
		free(name);
		return -ENOMEM;
	}
	HASH_ADD_KEYPTR(hh, d->names, name->key, bytes, name);
	return 0;
}

/* -- an event -------------------------------------------------------------------------------------------- */

static const char *member(const struct dft_event *e, const char *key)
{
	return json_find(e->members, e->count, key) ?: "";
}

static const char *arg(const struct dft_event *e, const char *key)
{
	return json_find(e->args, e->arg_count, key);
}

/* An argument that is a number; FOREIGN_UNKNOWN if there is none. */
static u64 arg_number(const struct dft_event *e, const char *key)
{
	const char *text = arg(e, key);
	s64 number;

	return text && foreign_signed(text, &number) ? (u64)number : FOREIGN_UNKNOWN;
}

/* Return: is it an event? */
static bool event_parse(char *line, struct dft_event *e)
{
	int i;

	e->arg_count = 0;
	e->count = json_object(line, e->members);
	for (i = 0; i < e->count; i++)
		if (e->members[i].is_object && !strcmp(e->members[i].key, "args"))
			e->arg_count = json_object(e->members[i].value, e->args);
	if (e->arg_count < 0)
		e->arg_count = 0;
	return e->count > 0 && *member(e, "name");
}

/* Its host and process, which identify it among those of all nodes. */
static void event_label(const struct dftracer *d, const struct dft_event *e, char *label, size_t room)
{
	const char *host = arg(e, "hostname"), *hash = arg(e, "hhash");

	if (!host && hash)
		host = name_find(d, 'H', hash) ?: hash;
	snprintf(label, room, "%.255s%s%.32s", host ?: "", host ? "/" : "", member(e, "pid"));
}

/* -- names, which the first pass collects ----------------------------------------------------------------- */

/* A process, as named by its own events: the names for their hashes are not known yet. */
static void cwd_key(const struct dft_event *e, char *key, size_t room)
{
	snprintf(key, room, "%.255s/%.32s", arg(e, "hostname") ?: arg(e, "hhash") ?: "", member(e, "pid"));
}

static int take_names(struct foreign *f, const struct dft_event *e)
{
	struct dftracer *d = f->context;
	const char *name = arg(e, "name"), *value = arg(e, "value"), *kind = member(e, "name"), *cwd = arg(e, "cwd");
	char key[320];

	if (name && value && (!strcmp(kind, "FH") || !strcmp(kind, "HH") || !strcmp(kind, "SH")))
		return name_add(d, *kind, value, name);
	if (!cwd || strcmp(kind, "start"))
		return 0;
	cwd_key(e, key, sizeof(key));
	return name_add(d, 'C', key, cwd);
}

/* The path for a name or for a hash of a name. */
static const char *name_of(const struct dftracer *d, const char *text)
{
	const char *name;

	if (!text)
		return NULL;
	name = name_find(d, 'F', text);
	return name ?: name_find(d, 'S', text) ?: text;
}

/* An absolute path, if the log shows the directory of a relative name. */
static const char *absolute(const struct dftracer *d, const struct dft_event *e, const char *path, char *room)
{
	char key[320];
	const char *cwd;
	int n;

	if (!path || *path == '/')
		return path;
	cwd_key(e, key, sizeof(key));
	cwd = name_of(d, name_find(d, 'C', key));
	if (!cwd || *cwd != '/')
		return path;
	n = snprintf(room, FOREIGN_PATH_BYTES, "%s/%s", cwd, path);
	return n < FOREIGN_PATH_BYTES ? room : path;
}

/* -- calls -------------------------------------------------------------------------------------------------- */

static bool take_times(struct foreign *f, const struct dft_event *e, struct posix_call *call)
{
	struct dftracer *d = f->context;
	u64 begin_us, duration_us;

	if (!foreign_number(member(e, "ts"), &begin_us) || begin_us >> 53 || !foreign_number(member(e, "dur"), &duration_us) ||
	    duration_us >> 43)
		return false;
	call->begin_ns = begin_us * 1000;
	if (call->begin_ns < WALL_CLOCK_S * FOREIGN_NS_PER_S) {
		f->gaps[IMPORT_GAP_no_wall_clock] += !d->is_relative;
		d->is_relative = true;
		call->begin_ns += FOREIGN_NS_PER_S;
	}
	call->end_ns = call->begin_ns + duration_us * 1000;
	return true;
}

/* openat has the name of its directory as name of the file, and a path that may be relative to it. */
static void take_path_at(const struct dft_event *e, struct posix_call *call, char *room)
{
	const char *path = arg(e, "pathname");
	int n;

	if (!path || *path == '/' || !call->path || *call->path != '/') {
		call->path = path;
		return;
	}
	n = snprintf(room, FOREIGN_PATH_BYTES, "%s/%s", call->path, path);
	call->path = n < FOREIGN_PATH_BYTES ? room : NULL;
}

static int take_call(struct foreign *f, const struct dft_event *e)
{
	struct dftracer *d = f->context;
	struct posix_call call = POSIX_CALL_UNKNOWN;
	char path[FOREIGN_PATH_BYTES], path2[FOREIGN_PATH_BYTES], label[320];
	u64 pid = 0, tid = 0;

	if (!take_times(f, e, &call)) {
		f->gaps[IMPORT_GAP_damaged]++;
		return 0;
	}
	f->is_any = true;
	call.name = member(e, "name");
	call.path = absolute(d, e, name_of(d, arg(e, "fname") ?: arg(e, "fhash")), path);
	call.path2 = absolute(d, e, name_of(d, arg(e, "newpath") ?: arg(e, "path2")), path2);
	if (!strncmp(call.name, "openat", 6))
		take_path_at(e, &call, path2);
	call.fd = arg_number(e, "fd");
	call.count = arg_number(e, "count");
	call.offset_bytes = arg_number(e, "offset");
	call.flags = arg_number(e, "flags");
	call.mode = arg_number(e, "mode");
	if (call.mode == FOREIGN_UNKNOWN)
		call.mode = arg_number(e, "amode");
	call.whence = arg_number(e, "whence");
	call.length_bytes = arg_number(e, "length");
	call.has_result = arg(e, "ret") && foreign_signed(arg(e, "ret"), &call.result);
	if (foreign_number(member(e, "pid"), &pid) && foreign_number(member(e, "tid"), &tid) && tid == pid)
		tid = 0;
	event_label(d, e, label, sizeof(label));
	return posix_put(f, foreign_thread(f, label, pid, tid), &call);
}

static int take_event(struct foreign *f, const struct dft_event *e)
{
	const char *phase = member(e, "ph"), *category = member(e, "cat");

	if (*phase == 'M')
		return 0;
	if (!strcmp(category, "POSIX") && (!*phase || *phase == 'X'))
		return take_call(f, e);
	if (!strcmp(category, "STDIO"))
		return posix_is_known(member(e, "name")) ? take_call(f, e) : 0;
	return foreign_named(f, IMPORT_GAP_upper, category); /* of the application, or a library */
}

static int take_line(struct foreign *f, char *line, u32 pass)
{
	struct dft_event e;
	char *p = line + strspn(line, " \t[,");

	if (*p != '{') {
		if (pass && *p && *p != ']')
			return foreign_skip(f, p);
		return 0;
	}
	if (!event_parse(p, &e)) {
		f->gaps[IMPORT_GAP_damaged] += pass;
		return 0;
	}
	return pass ? take_event(f, &e) : take_names(f, &e);
}

static void end(struct foreign *f)
{
	struct dftracer *d = f->context;
	struct dft_name *name, *next;

	if (!d)
		return;
	HASH_ITER (hh, d->names, name, next) {
		HASH_DEL(d->names, name);
		free(name->name);
		free(name);
	}
	free(d);
	f->context = NULL;
}

const struct foreign_format foreign_format_dftracer = {
	.name = "dftracer",
	.recognise = recognise,
	.begin = begin,
	.line = take_line,
	.end = end,
	.passes = 2,
};
