// SPDX-License-Identifier: GPL-2.0-only
/*
 * left_out.c - calls that do something to files of the root, and of which there is no record: each is
 * counted, by its name. Also the unknown parts of calls that were ignored.
 */
#include <ctype.h>
#include <stdlib.h>

#include "model.h"

#define NAME_ROOM 96

/* -- counts -------------------------------------------------------------------------------------- */

static size_t copy_word(char *to, size_t room, struct text word)
{
	size_t i = 0;

	while (i < word.bytes && i + 1 < room &&
	       (isalnum((unsigned char)word.p[i]) || word.p[i] == '_'))
		i++;
	if (i) /* a word that is not there has no place either */
		memcpy(to, word.p, i);
	to[i] = 0;
	return i;
}

/**
 * gap_named() - count something that has a name
 * @what: its kind
 * @call: name of the call
 * @detail: the part of it, such as the request of an ioctl(2); may be empty. Text after its first word is ignored
 */
void gap_named(struct import *im, enum import_gap what, struct text call, struct text detail)
{
	char name[NAME_ROOM];
	size_t bytes = copy_word(name, sizeof(name) / 2, call), more;

	gap(im, what);
	if (detail.bytes) {
		name[bytes++] = '.';
		more = copy_word(name + bytes, sizeof(name) - bytes, detail);
		bytes = more ? bytes + more : bytes - 1;
	}
	name[bytes] = 0;
	gap_named_more(im, what, name, 1);
}

/**
 * gap_named_more() - add to the count of a name, but not to that of its kind
 */
void gap_named_more(struct import *im, enum import_gap what, const char *name, u64 count)
{
	size_t bytes = strlen(name);
	struct named_gap *named;

	HASH_FIND(hh, im->named_gaps, name, bytes, named);
	if (!named) {
		named = import_allocate(im, sizeof(*named) + bytes + 1);
		if (!named)
			return;
		named->kind = what;
		memcpy(named->name, name, bytes);
		HASH_ADD(hh, im->named_gaps, name, bytes, named);
	}
	named->count += count;
}

void named_gaps_forget(struct import *im)
{
	struct named_gap *named, *next;

	HASH_ITER (hh, im->named_gaps, named, next) {
		HASH_DEL(im->named_gaps, named);
		free(named);
	}
}

/**
 * gap_bytes() - count the bytes of omitted operations
 * @what: the kind of its count
 * @bytes: their number, or IOT_OMISSION_UNKNOWN
 */
void gap_bytes(struct import *im, enum import_gap what, u64 bytes)
{
	u64 *sum = &im->gap_bytes[what];

	*sum = *sum > IOT_OMISSION_UNKNOWN - bytes ? IOT_OMISSION_UNKNOWN : *sum + bytes;
}

/* Return: how many times the bytes that a call returns were transferred to or from files. */
static u64 data_moves(call_fn fn)
{
	if (fn == call_copy_range)
		return 2; /* read and written */
	return fn == call_read || fn == call_write || fn == call_sendfile || fn == call_splice;
}

/**
 * gap_moved() - count an omitted operation and its bytes
 * @what: the kind of its count
 */
void gap_moved(struct import *im, enum import_gap what, const struct call *call)
{
	const struct call_kind *kind = call_kind(im, call->name);

	if (!kind)
		gap_bytes(im, what, IOT_OMISSION_UNKNOWN);
	else if (call->has_result && call->result > 0)
		gap_bytes(im, what, data_moves(kind->leave) * (u64)call->result);
}

/* -- does a call concern the root? -------------------------------------------------------------------- */

/* Without looking anybody up: a name that leads there by links is found by calls that are understood. */
static bool name_concerns_root(struct import *im, const struct call *call, u32 index)
{
	u8 path[2 * PATH_ROOM];
	const struct inode *base;
	size_t bytes, at = 0;

	if (value_string(call->args[index], path + PATH_ROOM, PATH_ROOM, &bytes) < 0 || !bytes)
		return false;
	if (path[PATH_ROOM] == '/')
		return path_is_inside(im, path + PATH_ROOM, bytes);
	base = place_base(im, call, (int)index - 1);
	if (!base || base == im->nothing)
		return false;
	if (inode_is_inside(im, base))
		return true;
	at = base->entry ? entry_path(base->entry, path, PATH_ROOM - 1) : 0;
	path[at++] = '/';
	memmove(path + at, path + PATH_ROOM, bytes);
	return path_is_inside(im, path, at + bytes);
}

static bool descriptor_concerns_root(struct import *im, struct text text, bool is_descriptor)
{
	const struct descriptor *descriptor;
	u8 path[PATH_ROOM];
	struct text quoted;
	size_t bytes;
	s64 fd;

	if (!value_fd(text, &fd, &quoted))
		return false;
	if (quoted.bytes) {
		value_path(quoted, path, sizeof(path), &bytes);
		return path_is_inside(im, path, bytes);
	}
	if (!is_descriptor || fd < 0)
		return false;
	descriptor = fd_find(im->task->fds, fd);
	return descriptor && inode_is_inside(im, descriptor->file->inode);
}

/**
 * call_concerns_root() - check whether an argument of a call leads below the root
 * @descriptors: arguments that are descriptors, as bits; others count as one only if -y shows their path
 */
bool call_concerns_root(struct import *im, const struct call *call, u32 descriptors)
{
	u32 i;

	for (i = 0; i < call->arg_count; i++) {
		struct text arg = call->args[i];

		if (arg.bytes && (*arg.p == '"' ? name_concerns_root(im, call, i) :
						  descriptor_concerns_root(im, arg, descriptors >> i & 1)))
			return true;
	}
	return false;
}

/* -- calls ------------------------------------------------------------------------------------------- */

static bool has_succeeded(const struct call *call)
{
	return call->has_result && call->result >= 0;
}

void call_left_out(struct import *im, const struct call *call, const struct call_kind *kind)
{
	if (!has_succeeded(call) || !call_concerns_root(im, call, kind->variant))
		return;
	gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
}

/**
 * call_unknown() - a call that is in no table: its first argument may be a descriptor
 */
void call_unknown(struct import *im, const struct call *call)
{
	if (!has_succeeded(call) || !call_concerns_root(im, call, 1))
		return;
	gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
}

/* A call on addresses: is anything of the root mapped? */
void call_on_memory(struct import *im, const struct call *call, const struct call_kind *kind)
{
	(void)kind;
	if (!has_succeeded(call) || !im->task->memory->count)
		return;
	gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
	memory_lose(im->task->memory);
}

/* Is the argument that identifies the file of the call missing or unknown? */
static bool is_object_missing(const struct call *call, const struct call_kind *kind)
{
	struct text path;
	s64 fd;

	return kind->arg >= call->arg_count ||
	       (*call->args[kind->arg].p != '"' && !value_fd(call->args[kind->arg], &fd, &path));
}

/* The file of the call is unknown: every state that the call may have changed becomes uncertain. */
static void lose_files(struct import *im)
{
	struct descriptor *descriptor, *next;

	HASH_ITER (hh, im->task->fds->descriptors, descriptor, next) {
		descriptor->file->is_position_lost = true;
		descriptor->file->inode->has_exact_size = false;
	}
}

/**
 * call_object_lost() - where a call has a descriptor there is something else
 */
void call_object_lost(struct import *im, const struct call *call)
{
	if (!has_succeeded(call))
		return;
	gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
	lose_files(im);
}

static bool changes_names(call_fn fn)
{
	return fn == call_mkdir || fn == call_mknod || fn == call_symlink || fn == call_link ||
	       fn == call_unlink || fn == call_rename;
}

static bool changes_memory(call_fn fn)
{
	return fn == call_mmap || fn == call_munmap || fn == call_mremap || fn == call_mprotect ||
	       fn == call_mlock;
}

static bool returns_descriptor(call_fn fn)
{
	return fn == call_open || fn == call_open_tree || fn == call_open_handle || fn == call_dup ||
	       fn == call_fcntl || fn == call_no_file || fn == call_any_file;
}

/**
 * call_short() - a call of a known kind has succeeded, and some of its arguments are missing
 *
 * The arguments that are present cannot be identified. Calls without effect on files do not matter.
 */
void call_short(struct import *im, const struct call *call, const struct call_kind *kind)
{
	if (!has_succeeded(call))
		return;
	gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
	lose_files(im);
	if (changes_memory(kind->leave))
		memory_lose(im->task->memory);
	if (changes_names(kind->leave)) {
		names_lose(im, call);
		im->are_names_lost = true;
	}
	if (kind->leave == call_chdir)
		im->task->fs->cwd = NULL;
	if (returns_descriptor(kind->leave))
		fd_forget(im, call->result);
}

static u32 descriptors_of(const struct call_kind *kind)
{
	if (kind->leave == call_splice || kind->leave == call_copy_range ||
	    (kind->dir >= 0 && (kind->leave == call_rename || kind->leave == call_link)))
		return 1 | 4;
	if (kind->leave == call_sendfile)
		return 1 | 2;
	return 1u << (kind->dir < 0 ? kind->arg : (u32)kind->dir);
}

/**
 * call_not_understood() - a call of a known kind that lacks something, or has something that is not known
 *
 * It is counted where it concerns the root, or where that is not known either.
 */
void call_not_understood(struct import *im, const struct call *call, const struct call_kind *kind)
{
	if (!has_succeeded(call) ||
	    (!is_object_missing(call, kind) && !call_concerns_root(im, call, descriptors_of(kind))))
		return;
	gap_named(im, IMPORT_GAP_call, call->name, (struct text){});
	gap_moved(im, IMPORT_GAP_call, call);
}

/* The first of some flags that is not known. */
static struct text unknown_flag(struct text flags)
{
	const char *p = flags.p, *end = p + flags.bytes;
	struct text word = { p, 0 };
	s64 value;

	while (p < end) {
		word.p = p;
		while (p < end && is_word(*p))
			p++;
		word.bytes = (size_t)(p - word.p);
		if (!word.bytes || !value_number(word, &value))
			break;
		p += p < end;
	}
	return word;
}

/**
 * flags_partly() - some flags of a call that concerns the root are not known, and are ignored
 */
void flags_partly(struct import *im, const struct call *call, struct text flags)
{
	if (has_succeeded(call) && call_concerns_root(im, call, 1))
		gap_named(im, IMPORT_GAP_flag, call->name, unknown_flag(flags));
}
