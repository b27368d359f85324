// SPDX-License-Identifier: GPL-2.0-only
/*
 * files.c - hints on opens, attributes, directories, and files of single processes.
 */
#include "evidence.h"

#include <string.h>

#define PROCESSES_MIN 32 /* that have private files in one directory */

/* Does the operation name something, or query or change attributes? The others of the class only end an open file. */
static bool is_metadata(u16 kind)
{
	switch (kind) {
	case IOT_KIND_flush:
	case IOT_KIND_release:
	case IOT_KIND_denied:
	case IOT_KIND_follow:
	case IOT_KIND_ioctl:
		return false;
	default:
		return iot_op_class_of(kind) == IOT_OP_CLASS_metadata;
	}
}

static bool is_counted(u16 kind)
{
	return is_metadata(kind) || iot_op_class_of(kind) != IOT_OP_CLASS_metadata;
}

static int count_metadata(struct evidence *e, const struct operation *o)
{
	struct subject *directory = NULL;
	int err = 0;

	if (!is_counted(o->record->kind))
		return 0;
	if (o->subject && is_metadata(o->record->kind))
		err = evidence_directory(e, o->subject->path, &directory);
	evidence_count(e, ADVISE_metadata_storm, directory ?: o->subject, is_metadata(o->record->kind));
	return err;
}

/* -- opens and queries ---------------------------------------------------------------------------------- */

static int take_open(struct evidence *e, const struct operation *o)
{
	const struct iot_rec_open *r = &o->record->open;
	struct pair *pair;

	if (r->result < 0 || r->flags & IOT_OPEN_directory)
		return 0;
	if (!o->subject) {
		evidence_count(e, ADVISE_redundant_opens, NULL, false);
		return 0;
	}
	pair = evidence_pair(e, o->subject, o->process);
	if (!pair)
		return -ENOMEM;
	evidence_count(e, ADVISE_redundant_opens, o->subject, pair->opened == o->subject->births + 1);
	pair->opened = o->subject->births + 1;
	return 0;
}

static int take_stat(struct evidence *e, const struct operation *o)
{
	struct pair *pair;

	if (o->record->op.result < 0)
		return 0;
	if (!o->subject) {
		evidence_count(e, ADVISE_redundant_stats, NULL, false);
		return 0;
	}
	pair = evidence_pair(e, o->subject, o->process);
	if (!pair)
		return -ENOMEM;
	evidence_count(e, ADVISE_redundant_stats, o->subject, pair->queried == o->subject->version + 1);
	pair->queried = o->subject->version + 1;
	return 0;
}

/* -- changes of attributes --------------------------------------------------------------------------------- */

static int path_change(struct evidence *e, const char *path, bool is_rebirth)
{
	struct subject *subject, *directory;
	int err = evidence_subject(e, path, strlen(path), &subject);

	if (!err)
		err = evidence_directory(e, path, &directory);
	if (err || !subject)
		return err;
	subject->version++;
	subject->births += is_rebirth;
	if (directory)
		directory->version++;
	return 0;
}

/* The fields of both kinds of copies begin alike. */
static int take_copy(struct evidence *e, struct iot_names *names, const struct iot_rec_copy_range *r)
{
	struct iot_label label = iot_names_handle(names, r->to_handle);
	const char *path = label.generation ? label.path : iot_names_object(names, r->to_object).path;
	struct subject *subject;
	int err = evidence_subject(e, path, strlen(path), &subject);

	if (!err && subject)
		subject->version++;
	return err;
}

static int note_change(struct evidence *e, struct iot_names *names, const struct operation *o)
{
	const struct iot_record *r = o->record;
	const char *path = o->subject ? o->subject->path : "";

	if (r->op.result < 0)
		return 0;
	switch (r->kind) {
	case IOT_KIND_write:
	case IOT_KIND_setattr:
	case IOT_KIND_fallocate:
	case IOT_KIND_setxattr:
	case IOT_KIND_removexattr:
	case IOT_KIND_setfileattr:
		if (o->subject)
			o->subject->version++;
		return 0;
	case IOT_KIND_touch:
	case IOT_KIND_submit:
		if (o->subject && (r->kind == IOT_KIND_touch ? r->touch.flags & IOT_TOUCH_write :
							       r->submit.flags & IOT_RW_write))
			o->subject->version++;
		return 0;
	case IOT_KIND_open:
		return r->open.flags & (IOT_OPEN_create | IOT_OPEN_trunc) ? path_change(e, path, false) : 0;
	case IOT_KIND_mkdir:
	case IOT_KIND_mknod:
	case IOT_KIND_symlink:
		return path_change(e, path, false);
	case IOT_KIND_link: /* the old name has one link more */
		return path_change(e, path, false) ?: path_change(e, iot_names_path(names, r->link.old_name), false);
	case IOT_KIND_unlink:
	case IOT_KIND_rmdir:
		return path_change(e, path, true);
	case IOT_KIND_rename:
		return path_change(e, path, true) ?: path_change(e, iot_names_path(names, r->rename.new_name), true);
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		return take_copy(e, names, &r->copy_range);
	default:
		return 0;
	}
}

/* -- files of one process ------------------------------------------------------------------------------------ */

static void note_data(const struct operation *o)
{
	const struct iot_record *r = o->record;
	struct subject *file = o->subject;
	bool is_write = r->kind == IOT_KIND_write || (r->kind == IOT_KIND_touch && r->touch.flags & IOT_TOUCH_write) ||
			(r->kind == IOT_KIND_submit && r->submit.flags & IOT_RW_write);

	if (!file || r->op.result < 0)
		return;
	if (!is_write && r->kind != IOT_KIND_read && r->kind != IOT_KIND_touch && r->kind != IOT_KIND_submit)
		return;
	if (!file->has_data)
		file->first_process = o->process;
	file->has_data = true;
	file->is_written |= is_write;
	file->is_shared |= file->first_process != o->process;
}

/**
 * files_take() - count an operation for the hints of this file
 * @e: the evidence
 * @names: as of the record
 * @o: any operation on a file
 *
 * Return: 0 or -ENOMEM.
 */
int files_take(struct evidence *e, struct iot_names *names, const struct operation *o)
{
	int err = count_metadata(e, o);

	if (!err && o->record->kind == IOT_KIND_open)
		err = take_open(e, o);
	if (!err && o->record->kind == IOT_KIND_stat)
		err = take_stat(e, o);
	if (!err)
		err = note_change(e, names, o);
	note_data(o);
	return err;
}

static bool is_private(const struct subject *file)
{
	return file->is_written && !file->is_shared;
}

static int count_owners(struct evidence *e, struct subject *file)
{
	struct subject *directory;
	struct pair *pair;
	int err = evidence_directory(e, file->path, &directory);

	if (err || !directory)
		return err;
	pair = evidence_pair(e, directory, file->first_process);
	if (!pair)
		return -ENOMEM;
	directory->processes += !pair->is_owner;
	pair->is_owner = true;
	return 0;
}

/**
 * files_finish() - count the files of single processes, after all operations
 *
 * Return: 0 or -ENOMEM.
 */
int files_finish(struct evidence *e)
{
	struct subject *file, *directory;
	int err = 0;

	/* tables grow at their ends, with directories, which have no data */
	for (file = e->subjects; file && !err; file = file->hh.next)
		if (is_private(file))
			err = count_owners(e, file);
	for (file = e->subjects; file && !err; file = file->hh.next) {
		if (!file->has_data)
			continue;
		err = evidence_directory(e, file->path, &directory);
		if (!err)
			evidence_count(e, ADVISE_file_per_process, directory,
				       is_private(file) && directory && directory->processes >= PROCESSES_MIN);
	}
	return err;
}
