// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit_maps.c - records of mappings and of accesses to them.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "emit.h"
#include "map.h"

static u64 object_of(struct iot_session *session, const struct file *file)
{
	return tfs_object_id(session, file_inode(file), file_dentry(file));
}

/**
 * tfs_prot_of() - access that a vma permits
 * @vma: locked
 *
 * Return: IOT_PROT_*.
 */
u32 tfs_prot_of(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_READ ? IOT_PROT_read : 0) |
	       (vma->vm_flags & VM_WRITE ? IOT_PROT_write : 0) |
	       (vma->vm_flags & VM_EXEC ? IOT_PROT_exec : 0);
}

/**
 * tfs_map_flags_of() - flags of a mapping in records
 * @vma: locked
 *
 * The kernel clears VM_SHARED of a shared mapping if its handle is not open for writing, so VM_MAYSHARE decides.
 *
 * Return: IOT_MAP_*.
 */
u32 tfs_map_flags_of(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_MAYSHARE ? IOT_MAP_shared : 0) |
	       (vma->vm_flags & VM_LOCKED ? IOT_MAP_locked : 0) |
	       (vma->vm_flags & VM_SYNC ? IOT_MAP_sync : 0);
}

/* @how: IOT_MAP_inherited, IOT_MAP_moved or 0 */
void tfs_emit_map(struct iot_span *span, const struct file *file, const struct tfs_piece *piece,
		  const struct vm_area_struct *vma, u32 how, s64 result)
{
	struct iot_session *session;
	struct iot_rec_map r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_map,
			       tfs_what_range(tfs_what_file(file, result), (s64)piece->first << PAGE_SHIFT,
					      (u64)piece->pages << PAGE_SHIFT));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.handle = tfs_handle_id(session, span, file);
	r.map = piece->map;
	r.offset_bytes = (s64)piece->first << PAGE_SHIFT;
	r.length_bytes = (u64)piece->pages << PAGE_SHIFT;
	r.prot = tfs_prot_of(vma);
	r.flags = tfs_map_flags_of(vma) | how;
	r.result = result;
	IOT_EMIT_SPAN(session, span, map, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_unmap(struct iot_span *span, const struct file *file, const struct tfs_piece *piece)
{
	struct iot_session *session;
	struct iot_rec_unmap r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_unmap,
			       tfs_what_range(tfs_what_file(file, 0), (s64)piece->first << PAGE_SHIFT,
					      (u64)piece->pages << PAGE_SHIFT));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.map = piece->map;
	r.offset_bytes = (s64)piece->first << PAGE_SHIFT;
	r.length_bytes = (u64)piece->pages << PAGE_SHIFT;
	r.result = 0;
	IOT_EMIT_SPAN(session, span, unmap, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_touch(struct iot_span *span, const struct file *file, u64 map, pgoff_t page,
		    unsigned long pages, u32 flags, bool is_major, s64 result)
{
	struct iot_session *session;
	struct iot_rec_touch r;

	session = tfs_enter_on(span, file_inode(file)->i_sb, IOT_KIND_touch,
			       tfs_what_range(tfs_what_file(file, result), (s64)page << PAGE_SHIFT, (u64)pages << PAGE_SHIFT));
	if (!session)
		return;
	r.object = object_of(session, file);
	r.map = map;
	r.offset_bytes = (s64)page << PAGE_SHIFT;
	r.length_bytes = (u64)pages << PAGE_SHIFT;
	r.flags = flags;
	r.major = is_major;
	r.result = result;
	IOT_EMIT_SPAN(session, span, touch, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_msync(struct iot_span *span, const struct dentry *dentry, u64 handle, loff_t start,
		    loff_t end, int datasync, s64 result)
{
	struct iot_session *session;
	struct iot_rec_msync r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_msync, tfs_what_at(tfs_what_name(dentry, result), start));
	if (!session)
		return;
	r.object = tfs_object_id(session, d_inode_rcu(dentry), dentry);
	r.handle = handle;
	r.offset_bytes = start;
	r.end_bytes = end;
	r.flags = datasync ? IOT_RW_datasync : 0;
	r.result = result;
	IOT_EMIT_SPAN(session, span, msync, &r, NULL, 0);
	tfs_leave(span);
}

/* A hole made through a mapping. */
void tfs_emit_punch(struct iot_span *span, const struct dentry *dentry, u64 handle, loff_t offset,
		    loff_t length, u64 old_size_bytes, s64 result)
{
	struct iot_session *session;
	struct iot_rec_fallocate r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_fallocate,
			       tfs_what_range(tfs_what_name(dentry, result), offset, length));
	if (!session)
		return;
	r.object = tfs_object_id(session, d_inode_rcu(dentry), dentry);
	r.handle = handle;
	r.offset_bytes = offset;
	r.length_bytes = length;
	r.flags = IOT_FALLOC_punch_hole | IOT_FALLOC_keep_size;
	r.old_size_bytes = old_size_bytes;
	r.result = result;
	IOT_EMIT_SPAN(session, span, fallocate, &r, NULL, 0);
	tfs_leave(span);
}

void tfs_emit_madvise(struct iot_span *span, const struct dentry *dentry, u64 handle, loff_t offset,
		      loff_t length, int advice, s64 result)
{
	struct iot_session *session;
	struct iot_rec_madvise r;

	session = tfs_enter_on(span, dentry->d_sb, IOT_KIND_madvise,
			       tfs_what_range(tfs_what_name(dentry, result), offset, length));
	if (!session)
		return;
	r.object = tfs_object_id(session, d_inode_rcu(dentry), dentry);
	r.handle = handle;
	r.offset_bytes = offset;
	r.length_bytes = length;
	r.advice = advice;
	r.result = result;
	IOT_EMIT_SPAN(session, span, madvise, &r, NULL, 0);
	tfs_leave(span);
}
