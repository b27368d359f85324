// SPDX-License-Identifier: GPL-2.0-only
/*
 * descriptor.c - the handle that the current system call names by a descriptor.
 *
 * For stat, chmod, setxattr and similar calls, the VFS passes the path of a file, not the file: fstat(fd) and
 * stat(name) are the same operation to a file system. Number and arguments of the system call distinguish them.
 *
 * The arguments are a hint only. The handle is recorded if the descriptor is open on a file of ours that has the very
 * inode of the operation; other system calls, io_uring, kernel threads and descriptors of O_PATH have none. A second
 * thread can replace the descriptor during the call by another one on the same file. Then the record has that
 * handle, which is open on the same file.
 */
#include <linux/audit.h>
#include <linux/compat.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "emit.h"
#include "tapefs.h"

/*
 * The form of a system call. With FORM_DESCRIPTOR, argument 0 is the descriptor of the object. With a form from 1
 * on, argument 0 is the directory of the path in argument 1, and the form is the number of the argument with the
 * AT_* flags.
 */
#define FORM_OTHER	(-1) /* neither */
#define FORM_DESCRIPTOR 0
#define FORM_NO_FLAGS	6 /* a directory and a path, no flags */

/* System calls that have one number on all architectures. */
static int form_of_new(unsigned int number)
{
	switch (number) {
	case 452: /* fchmodat2 */
		return 3;
	case 463: /* setxattrat */
	case 464: /* getxattrat */
	case 465: /* listxattrat */
	case 466: /* removexattrat */
		return 2;
	case 468: /* file_getattr */
	case 469: /* file_setattr */
		return 4;
	default:
		return FORM_OTHER;
	}
}

static int form_of_native(unsigned int number)
{
	switch (number) {
	case __NR_fstat:
	case __NR_fstatfs:
	case __NR_ftruncate:
	case __NR_fchmod:
	case __NR_fchown:
	case __NR_fsetxattr:
	case __NR_fgetxattr:
	case __NR_flistxattr:
	case __NR_fremovexattr:
	case __NR_ioctl:
		return FORM_DESCRIPTOR;
	case __NR_statx:
		return 2;
	case __NR_newfstatat:
	case __NR_utimensat:
		return 3;
	case __NR_fchownat:
		return 4;
#ifdef __NR_futimesat
	case __NR_futimesat:
		return FORM_NO_FLAGS;
#endif
	default:
		return form_of_new(number);
	}
}

#ifdef CONFIG_IA32_EMULATION
static int form_of_ia32(unsigned int number)
{
	switch (number) {
	case __NR_ia32_oldfstat:
	case __NR_ia32_fstat:
	case __NR_ia32_fstat64:
	case __NR_ia32_fstatfs:
	case __NR_ia32_fstatfs64:
	case __NR_ia32_ftruncate:
	case __NR_ia32_ftruncate64:
	case __NR_ia32_fchmod:
	case __NR_ia32_fchown:
	case __NR_ia32_fchown32:
	case __NR_ia32_fsetxattr:
	case __NR_ia32_fgetxattr:
	case __NR_ia32_flistxattr:
	case __NR_ia32_fremovexattr:
	case __NR_ia32_ioctl:
		return FORM_DESCRIPTOR;
	case __NR_ia32_statx:
		return 2;
	case __NR_ia32_fstatat64:
	case __NR_ia32_utimensat:
	case __NR_ia32_utimensat_time64:
		return 3;
	case __NR_ia32_fchownat:
		return 4;
	case __NR_ia32_futimesat:
		return FORM_NO_FLAGS;
	default:
		return form_of_new(number);
	}
}
#endif

static int form_of(struct pt_regs *regs)
{
	unsigned int number = syscall_get_nr(current, regs);

#ifdef CONFIG_IA32_EMULATION
	if (syscall_get_arch(current) == AUDIT_ARCH_I386)
		return form_of_ia32(number);
	number &= ~__X32_SYSCALL_BIT; /* the numbers are those of 64 bits, but for ioctl */
#else
	if (in_compat_syscall())
		return FORM_OTHER;
#endif
	return form_of_native(number);
}

/*
 * Is the path empty, so that the descriptor names the object? The kernel has just read the path: its page is
 * present.
 */
static bool is_path_empty(const unsigned long *arguments, int form)
{
	const char __user *path = (const char __user *)arguments[1];
	char first;

	if (!path)
		return true;
	if (form == FORM_NO_FLAGS || !(arguments[form] & AT_EMPTY_PATH))
		return false;
	return !copy_from_user_nofault(&first, path, 1) && !first;
}

static bool is_on(const struct file *file, const struct inode *inode)
{
	return (tfs_is_file(file) || file->f_op == &tfs_dir_fops) && file_inode(file) == inode;
}

/**
 * tfs_descriptor_handle() - the handle by whose descriptor the current task has called
 * @session: entered
 * @span: of the operation
 * @inode: upper inode that the operation is on
 *
 * Takes no reference of the file, which would delay its release: the lock of the descriptor table keeps it, as for
 * the state dump.
 *
 * Return: the id of the handle, announced; 0 if the call has no descriptor, or none of a handle of @inode.
 */
u64 tfs_descriptor_handle(struct iot_session *session, const struct iot_span *span, const struct inode *inode)
{
	struct files_struct *files = current->files;
	unsigned long arguments[6];
	struct pt_regs *regs;
	struct file *file;
	u64 handle = 0;
	int form;

	if ((current->flags & (PF_KTHREAD | PF_IO_WORKER | PF_EXITING)) || !files)
		return 0;
	regs = task_pt_regs(current);
	form = form_of(regs);
	if (form == FORM_OTHER)
		return 0;
	syscall_get_arguments(current, regs, arguments);
	if (form != FORM_DESCRIPTOR && !is_path_empty(arguments, form))
		return 0;
	spin_lock(&files->file_lock);
	file = files_lookup_fd_locked(files, (unsigned int)arguments[0]);
	if (file && is_on(file, inode))
		handle = tfs_handle_id(session, span, file);
	spin_unlock(&files->file_lock);
	return handle;
}
