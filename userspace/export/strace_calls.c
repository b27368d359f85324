// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_calls.c - the system call for each kind of operation.
 */
#include "strace_line.h"

/**
 * strace_call() - write the call that an operation stands for
 * @x: the export
 * @fds: descriptors of all processes
 * @event: the operation
 * @dirents: of a readdir, its entries as text; NULL if they are not known
 *
 * Return: 0 or -ENOMEM.
 */
int strace_call(struct export *x, struct strace_fds *fds, const struct export_event *event, const char *dirents)
{
	const struct iot_record *r = event->record;
	const struct line line = { .x = x, .fds = fds, .event = event, .record = r, .out = x->out }, *l = &line;

	switch (r->kind) {
	case IOT_KIND_lookup:
		return strace_put_lookup(l);
	case IOT_KIND_follow:
		return strace_put_found(l, "0");
	case IOT_KIND_open:
		return strace_put_open(l);
	case IOT_KIND_stat:
		return strace_put_stat(l);
	case IOT_KIND_setattr:
		return strace_put_setattr(l);
	case IOT_KIND_mkdir:
		return strace_put_mode(l, "mkdir", r->mkdir.mode);
	case IOT_KIND_rmdir:
		return strace_put_name(l, "rmdir");
	case IOT_KIND_mknod:
		return strace_put_mknod(l);
	case IOT_KIND_unlink:
		return strace_put_name(l, "unlink");
	case IOT_KIND_rename:
		return strace_put_rename(l);
	case IOT_KIND_link:
		return strace_put_link(l);
	case IOT_KIND_symlink:
		return strace_put_symlink(l);
	case IOT_KIND_readlink:
		return strace_put_readlink(l);
	case IOT_KIND_statfs:
		return strace_put_statfs(l);
	case IOT_KIND_getxattr:
		return strace_put_xattr(l, "lgetxattr", "fgetxattr", r->getxattr.handle, true);
	case IOT_KIND_setxattr:
		return strace_put_xattr(l, "lsetxattr", "fsetxattr", r->setxattr.handle, true);
	case IOT_KIND_removexattr:
		return strace_put_xattr(l, "lremovexattr", "fremovexattr", r->removexattr.handle, true);
	case IOT_KIND_listxattr:
		return strace_put_xattr(l, "llistxattr", "flistxattr", r->listxattr.handle, false);
	case IOT_KIND_flush:
		return strace_put_close(l);
	case IOT_KIND_release:
		return 0; /* follows from the last close */
	case IOT_KIND_read:
		return strace_put_transfer(l, false, r->read.handle, r->read.offset_bytes, r->read.length_bytes, r->read.flags);
	case IOT_KIND_write:
		return strace_put_transfer(l, true, r->write.handle, r->write.offset_bytes, r->write.length_bytes, r->write.flags);
	case IOT_KIND_submit:
		return strace_put_transfer(l, r->submit.flags & IOT_RW_write, r->submit.handle, r->submit.offset_bytes,
				    r->submit.length_bytes, r->submit.flags);
	case IOT_KIND_seek:
		return strace_put_seek(l);
	case IOT_KIND_fsync:
		return strace_put_fsync(l);
	case IOT_KIND_readdir:
		return strace_put_readdir(l, dirents);
	case IOT_KIND_fallocate:
		return strace_put_fallocate(l);
	case IOT_KIND_fadvise:
		return strace_put_fadvise(l);
	case IOT_KIND_copy_range:
		return strace_put_copy(l);
	case IOT_KIND_remap_range:
		return strace_put_remap(l);
	case IOT_KIND_ioctl:
		return strace_put_ioctl(l);
	case IOT_KIND_getfileattr:
	case IOT_KIND_setfileattr:
		return strace_put_fileattr(l);
	case IOT_KIND_lock:
		return strace_put_lock(l);
	case IOT_KIND_map:
		return strace_put_map(l);
	case IOT_KIND_unmap:
		return strace_put_unmap(l);
	case IOT_KIND_msync:
		return strace_put_msync(l);
	default:
		return line_lose(l, EXPORT_NO_FORM);
	}
}
