// SPDX-License-Identifier: GPL-2.0-only
/*
 * paths.c - filters: paths of objects, and the decision on operations at their end.
 *
 * The results of a filter's tests of a path are kept with the dentry, in one word, so that they are read and replaced
 * as a whole:
 *
 *	bits 0-15	results, bit N of test N
 *	bits 16-35	number of the filter program
 *	bits 36-63	sequence of renames
 *
 * The kernel counts the renames of all file systems in one sequence (rename_lock). A result from before the last
 * rename is not used: names above may have changed.
 */
#include <linux/dcache.h>

#include "tapefs.h"
#include "emit.h"

#define PATH_BYTES 1024 /* filters know nothing of a longer path */

struct path_room {
	char bytes[PATH_BYTES];
};

static DEFINE_PER_CPU(struct path_room, path_room);

static u64 key_of(u32 number, unsigned int sequence)
{
	return ((u64)sequence << 36) | ((u64)(number & 0xfffff) << 16);
}

/*
 * Writes a path into the end of @room. RCU keeps the parents. Return: the first byte of the path; NULL if there is
 * no room, or if the name is in no directory of the mount.
 */
static const char *path_write(const struct dentry *dentry, char *room, u32 bytes)
{
	char *at = room + bytes;
	const unsigned char *name;
	u32 length;

	while (dentry != dentry->d_sb->s_root) {
		if (IS_ROOT(dentry))
			return NULL;
		/* The lock keeps the name and its length consistent. */
		spin_lock(&((struct dentry *)dentry)->d_lock);
		name = dentry->d_name.name;
		length = dentry->d_name.len;
		if (at - room < length + 1) {
			spin_unlock(&((struct dentry *)dentry)->d_lock);
			return NULL;
		}
		if (at != room + bytes)
			*--at = '/';
		at -= length;
		memcpy(at, name, length);
		spin_unlock(&((struct dentry *)dentry)->d_lock);
		dentry = READ_ONCE(dentry->d_parent);
	}
	return at;
}

/* If the path of the mount is not known, patterns of whole paths match nothing. */
static u32 tests_of(const struct iot_source *source, const struct iot_filter_head *program, const char *path, u32 bytes,
		    const char *room)
{
	size_t root_bytes = source->path ? strlen(source->path) : 0;
	char *root;

	if (root_bytes && source->path[root_bytes - 1] == '/')
		root_bytes--;
	if (!source->path || path - room < root_bytes + 1)
		return iot_filter_paths(program, NULL, 0, path, bytes);
	root = (char *)path - root_bytes - 1;
	memcpy(root, source->path, root_bytes);
	root[root_bytes] = '/';
	return iot_filter_paths(program, root, root_bytes + 1, path, bytes);
}

static noinline s64 paths_find(const struct iot_source *source, const struct dentry *dentry,
			       const struct iot_filter_head *program, u64 key)
{
	char *room = get_cpu_ptr(&path_room)->bytes;
	const char *path = path_write(dentry, room, PATH_BYTES);
	s64 bits = -1;

	if (path) {
		bits = tests_of(source, program, path, room + PATH_BYTES - path, room);
		WRITE_ONCE(TFS_D(dentry)->paths, key | bits);
	}
	put_cpu_ptr(&path_room);
	return bits;
}

/**
 * tfs_paths() - results of the tests of a path
 * @source: that of the mount
 * @dentry: of it
 * @program: verified
 * @number: of the program
 *
 * Context: RCU. Return: bit N is set if test N is true; -1 if the path is not known.
 */
s64 tfs_paths(const struct iot_source *source, const struct dentry *dentry, const struct iot_filter_head *program,
	      u32 number)
{
	u64 key = key_of(number, read_seqbegin(&rename_lock)), kept = READ_ONCE(TFS_D(dentry)->paths);

	if (likely((kept & ~0xffffull) == key && kept))
		return kept & 0xffff;
	return paths_find(source, dentry, program, key);
}

/**
 * tfs_filter_keeps() - let a filter decide on an operation that is pending
 * @session: entered; if the operation is refused, it has been left, and the span has ended
 * @span: of the operation
 * @sb: of its object
 * @kind: of its record
 * @what: all that is known of it. A value, not a pointer: a local variable would cost each caller a stack protector
 *
 * If entries of a readdir have been recorded with the number of the operation, the number is not used again.
 *
 * Return: false if the operation is not recorded.
 */
bool tfs_filter_keeps(struct iot_session *session, struct iot_span *span, const struct super_block *sb,
		      enum iot_kind kind, struct iot_what what)
{
	if (iot_gate_keeps(session, &TFS_SB(sb)->source, span, kind, &what))
		return true;
	iot_session_leave();
	if (kind == IOT_KIND_readdir)
		iot_span_end(span);
	else
		iot_span_cancel(span);
	return false;
}

/* A name that is gone, or made up, does not name the object. */
static void announce(struct iot_session *session, const struct inode *inode, const struct dentry *dentry)
{
	if (dentry && ((d_unhashed(dentry) && !IS_ROOT(dentry)) || d_inode_rcu(dentry) != inode))
		dentry = NULL;
	tfs_object_id(session, inode, dentry);
}

static u64 object_of(const struct inode *inode)
{
	return inode ? TFS_I(inode)->object : 0;
}

/* The bytes that a copy wrote count for its destination. */
static void count_copied(struct iot_session *session, const struct iot_span *span, const struct iot_source *source,
			 enum iot_kind kind, const struct iot_what *what)
{
	const struct inode *inode = d_inode_rcu(what->to);
	struct iot_row *row = iot_row_find(session, source, span, kind, object_of(inode), true);

	iot_row_add_bytes(row, what->result);
	if (iot_row_has_object(row))
		announce(session, inode, what->to);
}

/* Objects are announced only for rows that have them, so overflow adds nothing to the trace. */
static void count(struct iot_session *session, const struct iot_span *span, const struct iot_source *source,
		  enum iot_kind kind, const struct iot_what *what)
{
	if (iot_span_count(session, source, span, kind, object_of(what->inode), what))
		announce(session, what->inode, what->dentry);
	if (what->to && what->result > 0)
		count_copied(session, span, source, kind, what);
}

/**
 * tfs_keeps() - decide on an operation that is pending, and count one that has no record
 * @session: entered; if the operation is not recorded, it has been left, and the span has ended
 * @span: of the operation, which has ended
 * @sb: of its object
 * @kind: of its record; of an asynchronous request that of a read or a write
 * @what: all that is known of it
 *
 * Return: false if the operation is not recorded.
 */
bool tfs_keeps(struct iot_session *session, struct iot_span *span, const struct super_block *sb, enum iot_kind kind,
	       struct iot_what what)
{
	if (span->is_pending && !tfs_filter_keeps(session, span, sb, kind, what))
		return false;
	if (!span->is_counted)
		return true;
	count(session, span, &TFS_SB(sb)->source, what.is_submit ? IOT_KIND_submit : kind, &what);
	tfs_leave(span);
	return false;
}

/**
 * tfs_ino() - inode number of an object in records
 * @inode: upper inode
 */
u64 tfs_ino(const struct inode *inode)
{
	return TFS_I(inode)->lower->i_ino;
}
