// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_source.c - the file of a program.
 *
 * Tables with random access are read into memory, each byte once, as are operations and waits if
 * they are small enough. Otherwise these stay in the file and are read in blocks, as often as
 * needed, and each block is compared with its verified content every time (core/replay/blocks.h).
 * A program may be compressed (core/replay/packed.h).
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "compat/zstd.h"
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

static int read_file(void *context, u64 offset_bytes, void *bytes, size_t count)
{
	const struct rfs_source *source = context;

	return read_exactly(source->file, offset_bytes, bytes, count);
}

static int unpack(void *context, void *bytes, size_t count, const void *stored, size_t stored_bytes)
{
	const struct rfs_source *source = context;

	return iot_zstd_decompress(source->workspace, bytes, count, stored, stored_bytes) ? 0 : -EBADMSG;
}

/* The same of the program, compressed or not. */
static int read_program(void *context, u64 offset_bytes, void *bytes, size_t count)
{
	struct rfs_source *source = context;

	return source->is_packed ? iot_packed_read(&source->packed, offset_bytes, bytes, count) :
				   read_file(source, offset_bytes, bytes, count);
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

static bool is_too_large(u64 bytes)
{
	return bytes > ((u64)totalram_pages() << PAGE_SHIFT) / MEMORY_SHARE;
}

static int place_blocks(struct rfs_source *source, struct iot_reject *reject)
{
	struct iot_packed *packed = &source->packed;
	u64 count = iot_packed_count(&packed->head);
	__le32 *lengths;
	int err;

	if (is_too_large((count + 1) * (sizeof(*packed->begins) + sizeof(*lengths))))
		return -EFBIG;
	packed->begins = vmalloc(array_size(count + 1, sizeof(*packed->begins)));
	lengths = vmalloc(array_size(count, sizeof(*lengths)));
	if (packed->begins && lengths)
		err = read_file(source, iot_packed_index(&packed->head, source->file_bytes), lengths,
				count * sizeof(*lengths));
	else
		err = -ENOMEM;
	if (!err)
		err = iot_packed_place(packed, lengths, source->file_bytes, reject);
	vfree(lengths);
	return err;
}

static int open_packed(struct rfs_source *source, struct iot_reject *reject)
{
	struct iot_packed *packed = &source->packed;
	int err;

	if (!IOT_HAS_ZSTD)
		return iot_refuse(reject, IOT_REJECT_packed_unsupported, 0);
	if (source->file_bytes < sizeof(packed->head))
		return iot_refuse(reject, IOT_REJECT_program_short, source->file_bytes);
	err = read_file(source, 0, &packed->head, sizeof(packed->head));
	if (!err && !iot_is_packed(packed->head.magic)) /* it has changed since */
		err = -EBADMSG;
	if (!err)
		err = iot_packed_check(&packed->head, source->file_bytes, reject);
	if (err)
		return err;
	packed->read = read_file;
	packed->unpack = unpack;
	packed->context = source;
	packed->stored = vmalloc(le32_to_cpu(packed->head.block_bytes));
	packed->block = vmalloc(le32_to_cpu(packed->head.block_bytes));
	source->workspace = vmalloc(iot_zstd_workspace_bytes());
	if (!packed->stored || !packed->block || !source->workspace)
		return -ENOMEM;
	source->is_packed = true;
	source->program_bytes = le64_to_cpu(packed->head.program_bytes);
	return place_blocks(source, reject);
}

static int open_program(struct rfs_source *source, struct iot_reject *reject)
{
	u8 magic[IOT_PROGRAM_MAGIC_BYTES];
	int err = 0;

	source->file_bytes = i_size_read(file_inode(source->file));
	source->program_bytes = source->file_bytes;
	if (source->file_bytes < sizeof(magic))
		return 0;
	err = read_file(source, 0, magic, sizeof(magic));
	return err || !iot_is_packed(magic) ? err : open_packed(source, reject);
}

static int read_head(struct rfs_source *source, struct iot_reject *reject)
{
	s64 size;
	int err;

	if (source->program_bytes < sizeof(source->head))
		return iot_refuse(reject, IOT_REJECT_program_short, source->program_bytes);
	err = read_program(source, 0, &source->head, sizeof(source->head));
	if (err)
		return err;
	size = iot_program_size(&source->head, reject);
	if (size < 0)
		return (int)size;
	return size > source->program_bytes ?
		       iot_refuse(reject, IOT_REJECT_program_short, source->program_bytes) : 0;
}

static bool is_resident(const struct rfs_source *source, u32 section)
{
	return !source->is_streamed || (section != IOT_SECTION_OPS && section != IOT_SECTION_WAITS);
}

static u64 resident_bytes(const struct rfs_source *source)
{
	u64 bytes = source->is_streamed ? source->blocks.count * sizeof(u64) : 0;
	u32 i;

	if (source->is_packed)
		bytes += (iot_packed_count(&source->packed.head) + 1) * sizeof(u64);

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

	return is_too_large(bytes) ? -EFBIG : 0;
}

static int read_section(struct rfs_source *source, u32 section)
{
	u64 bytes = iot_section_bytes(&source->head, section);

	source->sections[section] = vmalloc(bytes + 1);
	if (!source->sections[section])
		return -ENOMEM;
	return read_program(source, le64_to_cpu(source->head.sections[section].offset_bytes),
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
 * rfs_source_refuse() - note for which reason a program cannot be read
 * @source: open
 * @err: the error
 * @reject: filled in, unless it has a reason
 *
 * Return: @err.
 */
int rfs_source_refuse(const struct rfs_source *source, int err, struct iot_reject *reject)
{
	if (err != -EBADMSG || reject->reason)
		return err;
	if (source->is_packed)
		return iot_packed_refuse(&source->packed, source->file_bytes, reject);
	return iot_refuse(reject, IOT_REJECT_program_short, source->file_bytes);
}

static void free_packed(struct rfs_source *source)
{
	vfree(source->packed.begins);
	vfree(source->packed.stored);
	vfree(source->packed.block);
	vfree(source->workspace);
	source->packed = (struct iot_packed){};
	source->workspace = NULL;
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
	err = open_program(source, reject);
	if (!err)
		err = read_head(source, reject);
	if (err)
		return rfs_source_refuse(source, err, reject);
	source->is_streamed = iot_blocks_are_needed(&source->head, load->resident_bytes);
	source->blocks.read = read_program;
	source->blocks.context = source;
	iot_blocks_init(&source->blocks, &source->head);
	err = rfs_source_check(source, 0);
	for (i = 0; i < IOT_SECTION_COUNT && !err; i++)
		if (is_resident(source, i))
			err = read_section(source, i);
	if (!err && source->is_streamed)
		err = make_blocks(source);
	if (err)
		return rfs_source_refuse(source, err, reject);
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
	free_packed(source);
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
	free_packed(source);
	if (source->file)
		fput(source->file);
	*source = (struct rfs_source){};
}
