// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_vfs_maps.c - operations on mappings, in the address space of the worker.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "handles.h"
#include "run_vfs.h"

static unsigned long prot_of(u32 our)
{
	return (our & IOT_PROT_read ? PROT_READ : 0) | (our & IOT_PROT_write ? PROT_WRITE : 0) |
	       (our & IOT_PROT_exec ? PROT_EXEC : 0);
}

static unsigned long map_flags_of(u32 our)
{
	unsigned long sync = our & IOT_MAP_sync ? MAP_SYNC : 0;

	if (!(our & IOT_MAP_shared))
		return MAP_PRIVATE | sync;
	return sync ? MAP_SHARED_VALIDATE | sync : MAP_SHARED;
}

s64 rfs_do_map(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = rfs_handle_get(worker->replay, op->handle);
	u64 offset_bytes = le64_to_cpu(op->offset_bytes), length_bytes = le64_to_cpu(op->length_bytes);
	unsigned long address;
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	address = vm_mmap(file, 0, length_bytes, prot_of(le32_to_cpu(op->prot)),
			  map_flags_of(le32_to_cpu(op->flags)), offset_bytes);
	rfs_handle_put(worker->replay, op->handle);
	if (IS_ERR_VALUE(address))
		return (long)address;
	err = rfs_map_fill(worker->replay, op->map, address, offset_bytes, length_bytes);
	if (err)
		vm_munmap(address, length_bytes);
	return err;
}

s64 rfs_do_unmap(struct rfs_worker *worker, const struct iot_program_op *op)
{
	return rfs_map_cut(worker->replay, op->map, le64_to_cpu(op->offset_bytes),
			   le64_to_cpu(op->length_bytes));
}

/* An access to one byte maps the page, and a write makes it dirty. */
s64 rfs_do_touch(struct rfs_worker *worker, const struct iot_program_op *op)
{
	unsigned long address;
	char byte = 0;
	int err = rfs_map_get(worker->replay, op->map, le64_to_cpu(op->offset_bytes), 1,
			      &address);

	if (err)
		return err;
	err = rfs_map_advise(worker->replay, op->map, le32_to_cpu(op->flags));
	if (err)
		goto out;
	if (le32_to_cpu(op->flags) & IOT_TOUCH_write)
		err = put_user(byte, (char __user *)address);
	else
		err = get_user(byte, (char __user *)address);
out:
	rfs_map_put(worker->replay, op->map);
	return err;
}

/* The file that a mapping refers to, with a reference, as msync(2) finds it. */
static struct file *file_at(unsigned long address)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	struct file *file = NULL;

	mmap_read_lock(mm);
	vma = find_vma(mm, address);
	if (vma && vma->vm_start <= address && vma->vm_file)
		file = get_file(vma->vm_file);
	mmap_read_unlock(mm);
	return file ?: ERR_PTR(-ENOMEM);
}

/* The mapped file, by the page that the operation begins in. */
static struct file *mapped_file_get(struct rfs_worker *worker, const struct iot_program_op *op)
{
	u64 page_bytes = le64_to_cpu(op->offset_bytes) & PAGE_MASK;
	unsigned long address;
	struct file *file;
	int err = rfs_map_get(worker->replay, op->map, page_bytes, 1, &address);

	if (err)
		return ERR_PTR(err);
	file = file_at(address);
	rfs_map_put(worker->replay, op->map);
	return file;
}

s64 rfs_do_msync(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = mapped_file_get(worker, op);
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	err = vfs_fsync_range(file, le64_to_cpu(op->offset_bytes), le64_to_cpu(op->end_bytes),
			      !!(le32_to_cpu(op->flags) & IOT_RW_datasync));
	fput(file);
	return err;
}

s64 rfs_do_madvise(struct rfs_worker *worker, const struct iot_program_op *op)
{
	struct file *file = mapped_file_get(worker, op);
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	err = vfs_fadvise(file, le64_to_cpu(op->offset_bytes), le64_to_cpu(op->length_bytes),
			  le32_to_cpu(op->advice));
	fput(file);
	return err;
}
