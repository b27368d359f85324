// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare_attributes.c - owners, modes and extended attributes.
 *
 * They are set through a pin, see prepare.h. Owners first: a change of owner takes set-user-id
 * away, and capabilities. The mode last: it may forbid to set attributes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "prepare.h"

#define LIST_BYTES 65536 /* the kernel's limit, of a list and of a value */

/* -- extended attributes ------------------------------------------------------------- */

/* Not every file system has all of them, and not everybody may set them: they are counted. */
static void count_failure(struct preparer *p, const struct wanted *wanted, const char *name, int err)
{
	struct prepare_result *result = p->result;

	if (!result->xattrs_failed++)
		snprintf(result->xattr_failed, sizeof(result->xattr_failed), "%s/%s: %s: %s",
			 p->options->target, wanted->path, name, strerror(-err));
}

static const struct iot_program_xattr *find_xattr(const struct preparer *p,
						  const struct iot_program_xattr *xattrs, u32 count,
						  const char *name)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!strcmp(iot_program_string(p->program, xattrs[i].name), name))
			return &xattrs[i];
	return NULL;
}

/*
 * Whether to remove an unwanted attribute. If the program does not know the attributes of an
 * object, those inherited from its directory stay.
 */
static bool is_removed(const struct preparer *p, const struct wanted *wanted, const char *name)
{
	if (!iot_xattr_is_state(name))
		return false;
	return le32_to_cpu(entry_of(p, wanted)->flags) & IOT_ENTRY_XATTRS ||
	       strncmp(name, "system.", 7);
}

/*
 * A caller other than root needs the rights of a file to read and set its attributes; the mode is
 * set after them. Return: true if it is worth another try.
 */
static bool can_open(const char *path)
{
	return errno == EACCES && geteuid() && !chmod(path, S_IRWXU);
}

/* The value to set. Return: the value, valid until the next call. */
static const void *value_to_set(const struct preparer *p, const struct iot_program_xattr *xattr)
{
	static u8 value[LIST_BYTES];
	u32 bytes = le32_to_cpu(xattr->value_bytes);

	memcpy(value, iot_program_string(p->program, xattr->value), bytes);
	if (!p->options->is_privileged)
		iot_harmless_value(iot_program_string(p->program, xattr->name), value, bytes);
	return value;
}

static bool is_set(const struct preparer *p, const char *path, const struct iot_program_xattr *xattr)
{
	static u8 value[LIST_BYTES];
	u32 value_bytes = le32_to_cpu(xattr->value_bytes);
	const char *name = iot_program_string(p->program, xattr->name);
	ssize_t bytes = getxattr(path, name, value, sizeof(value));

	if (bytes < 0 && can_open(path))
		bytes = getxattr(path, name, value, sizeof(value));
	return bytes >= 0 && (u32)bytes == value_bytes &&
	       !memcmp(value, value_to_set(p, xattr), value_bytes);
}

/* Return: true if something was removed. */
static bool remove_xattrs(struct preparer *p, const struct wanted *wanted, const char *path,
			  const struct iot_program_xattr *xattrs, u32 count)
{
	static char names[LIST_BYTES];
	ssize_t bytes = listxattr(path, names, sizeof(names));
	bool has_removed = false;
	const char *name;

	for (name = names; bytes > 0 && name < names + bytes; name += strlen(name) + 1) {
		if (!is_removed(p, wanted, name) || find_xattr(p, xattrs, count, name))
			continue;
		if (!removexattr(path, name) || (can_open(path) && !removexattr(path, name)))
			has_removed = true;
		else if (errno != ENODATA)
			count_failure(p, wanted, name, -errno);
	}
	return has_removed;
}

static bool set_xattr(const struct preparer *p, const char *path,
		      const struct iot_program_xattr *xattr)
{
	const char *name = iot_program_string(p->program, xattr->name);
	const void *value = value_to_set(p, xattr);
	u32 bytes = le32_to_cpu(xattr->value_bytes);

	return !setxattr(path, name, value, bytes, 0) ||
	       (can_open(path) && !setxattr(path, name, value, bytes, 0));
}

static void set_xattrs(struct preparer *p, const struct wanted *wanted, const char *path)
{
	const struct iot_program_xattr *xattrs;
	bool has_changed;
	u32 count, i;

	xattrs = iot_tree_xattrs(p->program, wanted->index, &count);
	if (wanted->is_new && !(le32_to_cpu(entry_of(p, wanted)->flags) & IOT_ENTRY_XATTRS))
		return;
	has_changed = remove_xattrs(p, wanted, path, xattrs, count);
	for (i = 0; i < count; i++) {
		const char *name = iot_program_string(p->program, xattrs[i].name);

		if (!iot_xattr_is_state(name) || is_set(p, path, &xattrs[i]))
			continue;
		if (set_xattr(p, path, &xattrs[i]))
			has_changed = true;
		else
			count_failure(p, wanted, name, -errno);
	}
	if (has_changed && !wanted->is_new)
		prepare_changed(p, wanted->path, PREPARE_xattrs);
}

/* -- owners and modes ---------------------------------------------------------------- */

static bool is_owner_wrong(const struct iot_program_entry *entry, u32 uid, u32 gid)
{
	return !geteuid() && (uid != le32_to_cpu(entry->uid) || gid != le32_to_cpu(entry->gid));
}

static bool is_mode_wrong(u32 wanted, u32 mode)
{
	return !S_ISLNK(mode) && (mode ^ wanted) & 07777;
}

static int set_owner(int pin, const struct iot_program_entry *entry, struct stat *stat)
{
	if (!is_owner_wrong(entry, stat->st_uid, stat->st_gid))
		return 0;
	if (fchownat(pin, "", le32_to_cpu(entry->uid), le32_to_cpu(entry->gid), AT_EMPTY_PATH))
		return -errno;
	return fstat(pin, stat) ? -errno : 0; /* the mode may have changed */
}

/* Access control lists have a say in the mode, and were set just now. */
static int set_mode(int pin, u32 wanted, const char *path)
{
	struct stat stat;

	if (fstat(pin, &stat))
		return -errno;
	if (!is_mode_wrong(wanted, stat.st_mode))
		return 0;
	return chmod(path, wanted & 07777) ? -errno : 0;
}

/* place_may_enter() may have opened it. */
static bool may_be_open(const struct iot_program_entry *entry)
{
	return geteuid() && S_ISDIR(le32_to_cpu(entry->mode));
}

/**
 * attributes_count() - count an entry that would give rights, and is there without them
 * @p: the work
 * @wanted: the entry
 *
 * Return: 0.
 */
int attributes_count(struct preparer *p, struct wanted *wanted)
{
	const struct iot_program_entry *entry = entry_of(p, wanted);
	const struct iot_program_xattr *xattrs;
	bool is_harmless;
	u32 count, i;

	if (is_further_name(wanted))
		return 0;
	is_harmless = mode_to_make(p, wanted) != mode_of(p, wanted) ||
		      rdev_to_make(p, wanted) != le64_to_cpu(entry->rdev);
	xattrs = iot_tree_xattrs(p->program, wanted->index, &count);
	for (i = 0; i < count && !is_harmless; i++)
		is_harmless = iot_xattr_is_state(iot_program_string(p->program, xattrs[i].name)) &&
			      memcmp(value_to_set(p, &xattrs[i]), iot_program_string(p->program, xattrs[i].value),
				     le32_to_cpu(xattrs[i].value_bytes));
	p->result->harmless += is_harmless;
	return 0;
}

/**
 * attributes_set() - set owner, mode and extended attributes
 * @p: the preparation
 * @wanted: the object
 *
 * Return: 0 or a negative errno.
 */
int attributes_set(struct preparer *p, struct wanted *wanted)
{
	const struct iot_program_entry *entry = entry_of(p, wanted);
	char path[PIN_PATH_BYTES];
	struct stat stat;
	bool is_wrong;
	int pin, err;

	if (is_further_name(wanted))
		return 0;
	is_wrong = is_owner_wrong(entry, wanted->was.uid, wanted->was.gid) ||
		   is_mode_wrong(mode_to_make(p, wanted), wanted->was.mode);
	if (wanted->is_there && !wanted->is_suspect && !is_wrong && !may_be_open(entry))
		return 0;
	pin = place_pin(p, wanted, &stat);
	if (pin < 0)
		return pin;
	place_pin_path(pin, path);
	err = set_owner(pin, entry, &stat);
	if (!err) {
		set_xattrs(p, wanted, path);
		err = set_mode(pin, mode_to_make(p, wanted), path);
	}
	close(pin);
	if (!err && is_wrong && wanted->is_there)
		prepare_changed(p, wanted->path, PREPARE_attributes);
	return err;
}

/**
 * attributes_shut_target() - deny access to the target to users without access to the traced directory
 * @p: the preparation
 *
 * The target has the names of the traced directory. Users that own neither are not considered.
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int attributes_shut_target(struct preparer *p)
{
	const u32 entering = S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
	const struct iot_program_entry *entry = iot_tree_root(p->program);
	struct stat stat;
	u32 more;

	if (!entry)
		return 0;
	if (fstat(p->target_fd, &stat))
		return prepare_refuse(p, ".", -errno);
	more = stat.st_mode & entering & ~le32_to_cpu(entry->mode);
	if (!more)
		return 0;
	if (!fchmod(p->target_fd, (stat.st_mode & 07777) & ~more))
		return 0;
	if (errno != EPERM)
		return prepare_refuse(p, ".", -errno);
	p->result->is_open = true;
	return 0;
}

/**
 * attributes_set_target() - set owner and mode of the target to those of the traced directory
 * @p: the work
 *
 * Return: 0 or a negative errno after a message.
 */
int attributes_set_target(struct preparer *p)
{
	const struct iot_program_entry *entry = iot_tree_root(p->program);
	struct stat stat;

	if (!entry)
		return 0;
	if (fstat(p->target_fd, &stat))
		return prepare_refuse(p, ".", -errno);
	if (is_owner_wrong(entry, stat.st_uid, stat.st_gid) &&
	    fchown(p->target_fd, le32_to_cpu(entry->uid), le32_to_cpu(entry->gid)))
		return prepare_refuse(p, ".", -errno);
	if (is_mode_wrong(le32_to_cpu(entry->mode), stat.st_mode) &&
	    fchmod(p->target_fd, le32_to_cpu(entry->mode) & 07777))
		return prepare_refuse(p, ".", -errno);
	return 0;
}
