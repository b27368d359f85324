// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_source.c - the file of a program.
 *
 * Tables with random access are read into memory, each byte once, as are operations and waits if
 * they are small enough. Otherwise these stay in the file and are read in blocks, as often as
 * needed, and each block is compared with its verified content every time (core/replay/blocks.h).
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "handles.h"
#include "replayfs.h"

/*
 * The resident part of a program, its tasks, latches and slots may take at most 1 / MEMORY_SHARE of the
 * machine's memory. The windows of streamed tasks are extra; the caller limits their size.
 */
#define MEMORY_SHARE 4
#define CACHE_BYTES  (16u << 20) /* of blocks, for the time of the verification */
#define PIECE_BYTES  (1u << 20)

static int stop_if_killed(void)
{
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* Return: 0; -EBADMSG if the file is too short; or another errno. */
static int read_exactly(struct file *file, u64 offset_bytes, void *bytes, size_t count)
{
	loff_t at = offset_bytes;
	ssize_t n;
	int err = 0;

	while (count && !err) {
		n = kernel_read(file, bytes, min_t(size_t, count, PIECE_BYTES), &at);
		if (n <= 0)
			return n ? n : -EBADMSG;
		bytes += n;
		count -= n;
		err = stop_if_killed();
	}
	return err;
}

static int read_block(void *context, u64 offset_bytes, void *bytes, size_t count)
{
	return read_exactly(context, offset_bytes, bytes, count);
}

/* kernel_read() warns if it cannot read the file, so this refuses such a file. */
static struct file *open_source(int fd)
{
	struct file *file = fget(fd);
	int err = 0;

	if (!file)
		return ERR_PTR(-EBADF);
	if (!(file->f_mode & FMODE_READ))
		err = -EBADF;
	else if (!S_ISREG(file_inode(file)->i_mode) || !file->f_op->read_iter || file->f_op->read)
		err = -EINVAL;
	if (!err)
		return file;
	fput(file);
	return ERR_PTR(err);
}

static int read_head(struct rfs_source *source, struct iot_reject *reject)
{
	u64 file_bytes = i_size_read(file_inode(source->file));
	s64 size;
	int err;

	if (file_bytes < sizeof(source->head))
		return iot_refuse(reject, IOT_REJECT_program_short, file_bytes);
	err = read_exactly(source->file, 0, &source->head, sizeof(source->head));
	if (err)
		return err;
	size = iot_program_size(&source->head, reject);
	if (size < 0)
		return (int)size;
	return size > file_bytes ? iot_refuse(reject, IOT_REJECT_program_short, file_bytes) : 0;
}

static bool is_resident(const struct rfs_source *source, u32 section)
{
	return !source->is_streamed || (section != IOT_SECTION_OPS && section != IOT_SECTION_WAITS);
}

static u64 resident_bytes(const struct rfs_source *source)
{
	u64 bytes = source->is_streamed ? source->blocks.count * sizeof(u64) : 0;
	u32 i;

	for (i = 0; i < IOT_SECTION_COUNT; i++)
		if (is_resident(source, i))
			bytes += iot_section_bytes(&source->head, i);
	return bytes;
}

/**
 * rfs_source_check() - does a program need more memory than it may have?
 * @source: its header has been read
 * @starts: waits of first operations that stay in memory, as far as they are known
 *
 * Return: 0 or -EFBIG.
 */
int rfs_source_check(const struct rfs_source *source, u64 starts)
{
	const struct iot_program_head *head = &source->head;
	u64 tasks = le64_to_cpu(head->sections[IOT_SECTION_TASKS].count);
	u64 bytes = resident_bytes(source) + starts * sizeof(struct iot_program_wait) +
		    tasks * (sizeof(struct rfs_task) + IOT_ORDER_STEP * sizeof(u32)) +
		    le64_to_cpu(head->sections[IOT_SECTION_LATCHES].count) *
			    (sizeof(struct rfs_latch) + sizeof(u32)) +
		    le32_to_cpu(head->handles) * (u64)sizeof(struct rfs_handle) +
		    le32_to_cpu(head->maps) * (u64)sizeof(struct rfs_map);

	return bytes > ((u64)totalram_pages() << PAGE_SHIFT) / MEMORY_SHARE ? -EFBIG : 0;
}

static int read_section(struct rfs_source *source, u32 section)
{
	u64 bytes = iot_section_bytes(&source->head, section);

	source->sections[section] = vmalloc(bytes + 1);
	if (!source->sections[section])
		return -ENOMEM;
	return read_exactly(source->file,
			    le64_to_cpu(source->head.sections[section].offset_bytes),
			    source->sections[section], bytes);
}

static int make_blocks(struct rfs_source *source)
{
	struct iot_blocks *blocks = &source->blocks;

	get_random_bytes(&blocks->key, sizeof(blocks->key));
	blocks->slots = CACHE_BYTES / IOT_BLOCK_BYTES;
	blocks->digests = vzalloc(array_size(blocks->count, sizeof(*blocks->digests)));
	blocks->cached = vzalloc(array_size(blocks->slots, sizeof(*blocks->cached)));
	blocks->cache = vmalloc(CACHE_BYTES);
	return blocks->digests && blocks->cached && blocks->cache ? 0 : -ENOMEM;
}

/**
 * rfs_source_open() - read the sections of a program that are kept in memory
 * @source: empty; after an error rfs_source_close() is due all the same
 * @load: from user space
 * @program: filled in
 * @reject: filled in if it is refused
 *
 * Return: 0; an errno of reject.h, with the reason; -EBADF, -EINVAL, -EFBIG, -ENOMEM, -EINTR, or what
 * reading the file returns.
 */
int rfs_source_open(struct rfs_source *source, const struct iot_replay_load *load,
		    struct iot_program *program, struct iot_reject *reject)
{
	struct file *file = open_source(load->program_fd);
	u32 i;
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	source->file = file;
	err = read_head(source, reject);
	if (err)
		return err;
	source->is_streamed = iot_blocks_are_needed(&source->head, load->resident_bytes);
	source->blocks.read = read_block;
	source->blocks.context = file;
	iot_blocks_init(&source->blocks, &source->head);
	err = rfs_source_check(source, 0);
	for (i = 0; i < IOT_SECTION_COUNT && !err; i++)
		if (is_resident(source, i))
			err = read_section(source, i);
	if (!err && source->is_streamed)
		err = make_blocks(source);
	if (err == -EBADMSG)
		return iot_refuse(reject, IOT_REJECT_program_short, 0);
	if (err)
		return err;
	iot_program_place(program, &source->head, (const void *const *)source->sections);
	program->reader = source->is_streamed ? &source->blocks.reader : NULL;
	return 0;
}

static void drop_section(struct rfs_source *source, u32 section)
{
	vfree(source->sections[section]);
	source->sections[section] = NULL;
}

/**
 * rfs_source_settle() - free resources that only the verification needed
 * @source: open
 * @program: the verified program; its sections that only user space uses are freed
 */
void rfs_source_settle(struct rfs_source *source, struct iot_program *program)
{
	drop_section(source, IOT_SECTION_TREE);
	drop_section(source, IOT_SECTION_FACTS);
	drop_section(source, IOT_SECTION_EXTENTS);
	drop_section(source, IOT_SECTION_XATTRS);
	program->tree = NULL;
	program->facts = NULL;
	program->extents = NULL;
	program->xattrs = NULL;
	program->reader = NULL;
	vfree(source->blocks.cached);
	vfree(source->blocks.cache);
	source->blocks.cached = NULL;
	source->blocks.cache = NULL;
	if (source->is_streamed)
		return;
	fput(source->file);
	source->file = NULL;
}

/**
 * rfs_source_close() - free all resources
 * @source: open, or empty
 */
void rfs_source_close(struct rfs_source *source)
{
	u32 i;

	for (i = 0; i < IOT_SECTION_COUNT; i++)
		drop_section(source, i);
	vfree(source->blocks.digests);
	vfree(source->blocks.cached);
	vfree(source->blocks.cache);
	if (source->file)
		fput(source->file);
	*source = (struct rfs_source){};
}
