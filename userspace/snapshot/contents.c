// SPDX-License-Identifier: GPL-2.0-only
/*
 * contents.c - where a file has data, and which extended attributes an object has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "scan.h"

#define EXTENTS_MAX 0xfffffff0u

/* -- data and holes ------------------------------------------------------------------ */

static int add_extent(struct found *found, u64 offset_bytes, u64 end_bytes)
{
	struct extent *last = found->extent_count ? &found->extents[found->extent_count - 1] : NULL;
	struct extent *larger;

	if (last && last->offset_bytes + last->length_bytes >= offset_bytes) {
		last->length_bytes = end_bytes - last->offset_bytes;
		return 0;
	}
	if (!(found->extent_count & (found->extent_count - 1))) { /* full: 0, 1, 2, 4, ... */
		size_t room = found->extent_count ? 2ull * found->extent_count : 1;

		if (found->extent_count >= EXTENTS_MAX / 2)
			return -EFBIG;
		larger = realloc(found->extents, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		found->extents = larger;
	}
	found->extents[found->extent_count++] = (struct extent){ offset_bytes, end_bytes - offset_bytes };
	return 0;
}

/* Return: 0; -EAGAIN if the file system does not report it. */
static int find_extents(int fd, struct found *found)
{
	off_t at = 0, data, hole, size = (off_t)found->size_bytes;
	int err = 0;

	while (at < size && !err) {
		data = lseek(fd, at, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO ? 0 : -EAGAIN;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			return errno == ENXIO ? 0 : -EAGAIN; /* it was cut just now */
		if (hole <= data)
			return -EAGAIN; /* another process punches holes concurrently */
		if (data < size)
			err = add_extent(found, (u64)data, (u64)(hole < size ? hole : size));
		at = hole;
	}
	return err;
}

/**
 * contents_extents() - where a file has data
 * @scan: the walk
 * @dir: descriptor of the directory it is in
 * @name: in there
 * @found: gets extents and a flag, and the size that goes with them
 *
 * Return: 0 or a negative errno; a file that cannot be read is counted.
 */
int contents_extents(struct scan *scan, int dir, const char *name, struct found *found)
{
	int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC), err;
	struct stat stat;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : errno == ENFILE || errno == EMFILE ? -errno :
		       scan_gap(scan, SNAPSHOT_unread_file, found->path);
	if (fstat(fd, &stat) || stat.st_ino != found->inode || !S_ISREG(stat.st_mode)) {
		close(fd);
		return -ENOENT; /* another took its name */
	}
	found->size_bytes = (u64)stat.st_size;
	err = find_extents(fd, found);
	close(fd);
	if (err == -EAGAIN) {
		found->extent_count = 0;
		return scan_gap(scan, SNAPSHOT_unread_file, found->path);
	}
	found->flags |= IOT_ENTRY_EXTENTS;
	return err;
}

/* -- extended attributes ------------------------------------------------------------- */

static int read_value(const char *path, const char *name, struct xattr *xattr)
{
	ssize_t bytes = lgetxattr(path, name, NULL, 0);

	if (bytes < 0)
		return -errno;
	xattr->value = malloc((size_t)bytes + 1);
	if (!xattr->value)
		return -ENOMEM;
	bytes = lgetxattr(path, name, xattr->value, (size_t)bytes);
	if (bytes < 0)
		return -errno;
	xattr->value_bytes = (u32)bytes;
	return 0;
}

/* Return: 0; -ENODATA if it cannot be had, and is not among those of @found then. */
static int add_xattr(struct found *found, const char *path, const char *name)
{
	struct xattr *larger = realloc(found->xattrs, (found->xattr_count + 1) * sizeof(*larger));
	struct xattr *xattr;
	int err;

	if (!larger)
		return -ENOMEM;
	found->xattrs = larger;
	xattr = &larger[found->xattr_count];
	*xattr = (struct xattr){ .name = strdup(name) };
	err = xattr->name ? read_value(path, name, xattr) : -ENOMEM;
	if (!err) {
		found->xattr_count++;
		return 0;
	}
	free(xattr->name);
	free(xattr->value);
	return err == -ENOMEM ? err : -ENODATA;
}

static int compare_xattrs(const void *a, const void *b)
{
	const struct xattr *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int add_xattrs(struct scan *scan, const char *path, const char *names, size_t bytes,
		      struct found *found)
{
	const char *name;
	int err = 0;

	for (name = names; name < names + bytes && !err; name += strlen(name) + 1) {
		if (!iot_xattr_is_state(name))
			continue;
		err = add_xattr(found, path, name);
		if (err == -ENODATA)
			err = scan_gap(scan, SNAPSHOT_unread_xattrs, found->path);
	}
	if (found->xattr_count > 1)
		qsort(found->xattrs, found->xattr_count, sizeof(*found->xattrs), compare_xattrs);
	found->flags |= IOT_ENTRY_XATTRS;
	return err;
}

/**
 * contents_xattrs() - which extended attributes an object has
 * @scan: the walk
 * @dir: descriptor of the directory it is in
 * @name: in there
 * @found: gets attributes, and a flag if they could be listed
 *
 * Return: 0 or a negative errno; unreadable files are counted.
 */
int contents_xattrs(struct scan *scan, int dir, const char *name, struct found *found)
{
	char path[NAME_MAX + 64], names[65536]; /* the kernel's limit */
	ssize_t bytes;

	/* The descriptor stands for the directory; a link at the end is not followed. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	bytes = llistxattr(path, names, sizeof(names));
	if (bytes >= 0)
		return add_xattrs(scan, path, names, (size_t)bytes, found);
	if (errno == ENOTSUP) { /* then there are none */
		found->flags |= IOT_ENTRY_XATTRS;
		return 0;
	}
	return errno == ENOENT ? -ENOENT : scan_gap(scan, SNAPSHOT_unread_xattrs, found->path);
}
