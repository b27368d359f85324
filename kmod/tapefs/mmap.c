// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmap.c - mappings: first accesses to their pages, fork, mremap, munmap.
 *
 * A mapping refers to a lower file, so that the lower file system's fault handlers,
 * reverse mapping, truncation and write-back work as without tapefs. tapefs wraps two tables of
 * operations to see accesses:
 *
 *	vma->vm_ops	a copy of the lower ones in struct tfs_map, found from the vma
 *	vma->vm_file	the lower file of the handle, whose operations are wrapped, too: mapped.c
 *
 * Lifetimes: a tfs_map has one reference from each vma (open and close keep count) and
 * one from each fault in progress, because a fault that gives up its locks may find
 * the vma gone. It holds the upper file, and with that the mount and this module, as a
 * mapping holds its file natively. A vma can have pages of several maps: pieces.c.
 *
 * Granularity (mount option mmap=): the kernel maps up to 16 resident pages around a page that is read. `page` asks
 * the lower file system for one page only. If it maps a large folio nevertheless, map_one_page() maps the page
 * alone. So every page makes a record when a process first reads it and when it first writes it, and again after
 * the page was written back, discarded or unmapped. An access to a page that is mapped makes no fault, and cannot
 * be observed.
 *
 * Contexts: map_pages runs under rcu_read_lock() and may not sleep. page_mkwrite returns
 * with a folio locked. Nothing here waits for a collector.
 */
#include <linux/backing-dev.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>

#include "emit.h"
#include "lower.h"
#include "map.h"
#include "tapefs.h"

/* Notes of an attempt to handle a fault, for the next one: see iot_span_keep(). */
#define NOTE_ABSENT 1 /* the page was not mapped at all */
#define NOTE_MAJOR  2 /* storage had to be read */

static atomic64_t last_map = ATOMIC64_INIT(0);

static struct tfs_map *map_of(const struct vm_area_struct *vma)
{
	return container_of(vma->vm_ops, struct tfs_map, ops);
}

/* Identifies a fault on a page of a mapping, and the write that follows it. */
static u64 fault_key(const struct tfs_map *map, pgoff_t page)
{
	return map->map << 32 ^ page ^ 1ULL << 63;
}

static void begin_fault(const struct tfs_map *map, pgoff_t page, struct iot_span *span)
{
	struct iot_source *source = &TFS_SB(file_inode(map->upper)->i_sb)->source;

	iot_gate_open_kept(source, IOT_KIND_touch, span, fault_key(map, page));
}

static s64 fault_errno(vm_fault_t fault)
{
	if (fault & VM_FAULT_OOM)
		return -ENOMEM;
	return fault & VM_FAULT_ERROR ? -EFAULT : 0; /* EFAULT is a SIGBUS */
}

/* The access pattern that the program set by madvise(2), which no file system operation reports. */
static u32 advice_of(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_RAND_READ ? IOT_TOUCH_random : 0) |
	       (vma->vm_flags & VM_SEQ_READ ? IOT_TOUCH_sequential : 0);
}

static void emit_touch(struct iot_span *span, const struct tfs_map *map, u64 id, pgoff_t page,
		       u32 flags, vm_fault_t fault)
{
	bool is_major = (fault & VM_FAULT_MAJOR) || (span->note & NOTE_MAJOR);

	tfs_emit_touch(span, map->upper, id, page, 1, flags, is_major, fault_errno(fault));
}

/*
 * The kernel would map all of the folio that the lower file system found. Map the page alone,
 * write-protected as write-back left it: a write comes back for map_page_mkwrite().
 */
static bool map_one_page(struct vm_fault *vmf, vm_fault_t *fault)
{
	const vm_fault_t other = VM_FAULT_ERROR | VM_FAULT_RETRY | VM_FAULT_NOPAGE | VM_FAULT_DONE_COW;
	struct folio *folio;

	if (!(*fault & VM_FAULT_LOCKED) || (*fault & other))
		return false; /* and the vma may be freed */
	if ((vmf->flags & FAULT_FLAG_WRITE) && !(vmf->vma->vm_flags & VM_SHARED))
		return false; /* a private copy of one page */
	folio = page_folio(vmf->page);
	if (!folio_test_large(folio))
		return false;
	*fault = iot_insert_page(vmf) | (*fault & VM_FAULT_MAJOR);
	folio_unlock(folio);
	folio_put(folio);
	vmf->page = NULL;
	return !(*fault & VM_FAULT_ERROR);
}

/*
 * If a file system has no page_mkwrite, as tmpfs, the kernel updates the times of the file at write faults. It does
 * not with tapefs, which has one, so this function does it at the same faults: if pages are written back, at the
 * first write to a page after it was mapped or written back; if not, only at a write for which the page is mapped.
 */
static void update_times(const struct tfs_map *map, const struct vm_fault *vmf)
{
	struct file *mapped = vmf->vma->vm_file;

	if (!map->lower_ops->page_mkwrite && (!vmf->pte || mapping_can_writeback(mapped->f_mapping)))
		file_update_time(mapped);
}

static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct tfs_map *map = map_of(vmf->vma);
	bool is_shared = vmf->vma->vm_flags & VM_SHARED;
	bool is_write = vmf->flags & FAULT_FLAG_WRITE;
	bool is_single = IOT_MAPS_WHOLE_FOLIOS && map->mode == TFS_MMAP_PAGE;
	u32 flags = advice_of(vmf->vma);
	pgoff_t page = vmf->pgoff;
	u64 id = tfs_map_at(map, vmf->vma, page);
	struct iot_span span;
	vm_fault_t fault;

	refcount_inc(&map->refs);
	begin_fault(map, page, &span);
	fault = map->lower_ops->fault(vmf);
	/* The vma may be freed by now. */
	is_single = is_single && map_one_page(vmf, &fault);
	if (is_single && is_write && is_shared)
		update_times(map, vmf);
	if (!iot_span_is_on(&span))
		goto out;
	if (fault & VM_FAULT_RETRY) {
		span.note |= NOTE_MAJOR;
		iot_span_keep(&span, fault_key(map, page));
	} else if (is_write && is_shared &&
		   (is_single || !(fault & (VM_FAULT_ERROR | VM_FAULT_NOPAGE)))) {
		/* map_page_mkwrite() follows and makes the record. */
		span.note |= NOTE_ABSENT | (fault & VM_FAULT_MAJOR ? NOTE_MAJOR : 0);
		iot_span_keep(&span, fault_key(map, page));
	} else {
		flags |= is_write ? IOT_TOUCH_write | (is_shared ? 0 : IOT_TOUCH_cow) : 0;
		emit_touch(&span, map, id, page, flags, fault);
	}
out:
	tfs_map_put(map);
	return fault;
}

/*
 * Called for a read of a page that is not mapped; and again after map_fault() has released its locks and waited for
 * the storage: then the operation that began there continues here.
 */
static vm_fault_t map_map_pages(struct vm_fault *vmf, pgoff_t first, pgoff_t last)
{
	struct tfs_map *map = map_of(vmf->vma);
	pgoff_t page = vmf->pgoff;
	u64 id = tfs_map_at(map, vmf->vma, page);
	struct iot_span span;
	vm_fault_t fault;

	if (IOT_MAPS_WHOLE_FOLIOS && map->mode == TFS_MMAP_PAGE)
		return 0; /* map_fault() follows, and maps one */
	begin_fault(map, page, &span);
	if (map->mode == TFS_MMAP_PAGE)
		first = last = page;
	fault = map->lower_ops->map_pages(vmf, first, last);
	if (!iot_span_is_on(&span))
		return fault;
	if (fault & VM_FAULT_NOPAGE) /* the page that was touched is mapped */
		tfs_emit_touch(&span, map->upper, id, first, last - first + 1,
			       (last != first ? IOT_TOUCH_around : 0) | advice_of(vmf->vma),
			       span.note & NOTE_MAJOR, 0);
	else
		iot_span_keep(&span, fault_key(map, page)); /* for map_fault(), which follows */
	return fault;
}

/* For files that are memory themselves (DAX): one entry of the page tables can map 2 MiB or 1 GiB of them. */
static vm_fault_t map_huge_fault(struct vm_fault *vmf, iot_huge_t size)
{
	struct tfs_map *map = map_of(vmf->vma);
	unsigned long pages = iot_huge_pages(size);
	pgoff_t first = round_down(vmf->pgoff, pages);
	u64 id = tfs_map_at(map, vmf->vma, vmf->pgoff);
	u32 flags = IOT_TOUCH_around | advice_of(vmf->vma);
	struct iot_span span;
	vm_fault_t fault;

	if (map->mode == TFS_MMAP_PAGE)
		return VM_FAULT_FALLBACK; /* map_fault() follows, or map_pfn_mkwrite() */
	if (vmf->flags & FAULT_FLAG_WRITE)
		flags |= IOT_TOUCH_write | (pmd_none(vmf->orig_pmd) ? 0 : IOT_TOUCH_mkwrite);
	refcount_inc(&map->refs);
	tfs_gate_open(file_inode(map->upper)->i_sb, IOT_KIND_touch, &span);
	fault = map->lower_ops->huge_fault(vmf, size);
	if (fault & (VM_FAULT_FALLBACK | VM_FAULT_RETRY))
		iot_span_cancel(&span);
	else
		tfs_emit_touch(&span, map->upper, id, first, pages, flags,
			       fault & VM_FAULT_MAJOR, fault_errno(fault));
	tfs_map_put(map);
	return fault;
}

/* Some lower file systems lack this operation: then the write is recorded, and the times of the file are updated. */
static vm_fault_t map_page_mkwrite(struct vm_fault *vmf)
{
	struct tfs_map *map = map_of(vmf->vma);
	u32 flags = IOT_TOUCH_write | advice_of(vmf->vma);
	pgoff_t page = vmf->pgoff;
	u64 id = tfs_map_at(map, vmf->vma, page);
	struct iot_span span;
	vm_fault_t fault = 0;

	refcount_inc(&map->refs);
	begin_fault(map, page, &span);
	update_times(map, vmf);
	if (map->lower_ops->page_mkwrite)
		fault = map->lower_ops->page_mkwrite(vmf);
	if (!iot_span_is_on(&span))
		goto out;
	if (fault & (VM_FAULT_RETRY | VM_FAULT_NOPAGE)) /* it will be tried again */
		iot_span_keep(&span, fault_key(map, page));
	else
		emit_touch(&span, map, id, page, flags | (span.note & NOTE_ABSENT ? 0 : IOT_TOUCH_mkwrite), fault);
out:
	tfs_map_put(map);
	return fault;
}

static vm_fault_t map_pfn_mkwrite(struct vm_fault *vmf)
{
	struct tfs_map *map = map_of(vmf->vma);
	u32 flags = IOT_TOUCH_write | IOT_TOUCH_mkwrite | advice_of(vmf->vma);
	pgoff_t page = vmf->pgoff;
	u64 id = tfs_map_at(map, vmf->vma, page);
	struct iot_span span;
	vm_fault_t fault;

	refcount_inc(&map->refs);
	begin_fault(map, page, &span);
	fault = map->lower_ops->pfn_mkwrite(vmf);
	if (iot_span_is_on(&span))
		emit_touch(&span, map, id, page, flags, fault);
	tfs_map_put(map);
	return fault;
}

static void map_open(struct vm_area_struct *vma)
{
	struct tfs_map *map = map_of(vma);
	struct tfs_piece piece = tfs_piece_before(vma);
	struct iot_span span;

	refcount_inc(&map->refs);
	if (map->lower_ops->open)
		map->lower_ops->open(vma);
	if (vma->vm_mm == current->mm)
		return; /* split, or on the move; in a fork it is the child's */
	while (tfs_piece_next(map, vma, 1, &piece)) {
		tfs_gate_open(file_inode(map->upper)->i_sb, IOT_KIND_map, &span);
		tfs_emit_map(&span, map->upper, &piece, vma, IOT_MAP_inherited, 0);
	}
}

static void announce_piece(struct iot_session *session, u32 task, const struct file *file,
		       const struct tfs_piece *piece, const struct vm_area_struct *vma)
{
	struct iot_rec_mapped r;

	if (READ_ONCE(TFS_F(file)->epoch) != iot_session_epoch(session))
		__tfs_announce_handle(session, task, TFS_FD_MAPPED, file);
	r.task = task;
	r.object = tfs_object_id(session, file_inode(file), file_dentry(file));
	r.handle = TFS_F(file)->handle;
	r.map = piece->map;
	r.address = vma->vm_start + ((piece->first - vma->vm_pgoff) << PAGE_SHIFT);
	r.offset_bytes = (s64)piece->first << PAGE_SHIFT;
	r.length_bytes = (u64)piece->pages << PAGE_SHIFT;
	r.prot = tfs_prot_of(vma);
	r.flags = tfs_map_flags_of(vma);
	IOT_ANNOUNCE(session, mapped, &r, NULL, 0);
}

/*
 * A mapping from before the session is changed or removed, and may not have been announced. The state dump does not
 * find a mapping that munmap has already taken out of the address space, or that a fork in progress has copied for
 * a child.
 */
static void announce_early(const struct iot_span *span, const struct file *file, const struct tfs_piece *piece,
		       const struct vm_area_struct *vma)
{
	struct iot_session *session;

	if (!iot_span_is_recorded(span) || piece->epoch == iot_span_epoch(span))
		return;
	session = iot_span_enter(&TFS_SB(file_inode(file)->i_sb)->source, span);
	if (!session)
		return;
	announce_piece(session, iot_span_task(span), file, piece, vma);
	iot_session_leave();
}

/* mremap(2) has moved pages here; their old place is unmapped next. */
static int map_mremap(struct vm_area_struct *vma)
{
	struct tfs_map *map = map_of(vma);
	struct tfs_piece piece;
	struct iot_span span;
	int err = 0;

	tfs_gate_open(file_inode(map->upper)->i_sb, IOT_KIND_map, &span);
	tfs_map_move(map, vma, &piece);
	announce_early(&span, map->upper, &piece, vma);
	if (map->lower_ops->mremap)
		err = map->lower_ops->mremap(vma);
	tfs_emit_map(&span, map->upper, &piece, vma, IOT_MAP_moved, err);
	return err;
}

static void map_close(struct vm_area_struct *vma)
{
	struct tfs_map *map = map_of(vma);
	struct tfs_piece piece = tfs_piece_before(vma);
	struct iot_span span;

	if (map->lower_ops->close)
		map->lower_ops->close(vma);
	while (tfs_piece_next(map, vma, -1, &piece)) {
		tfs_gate_open(file_inode(map->upper)->i_sb, IOT_KIND_unmap, &span);
		announce_early(&span, map->upper, &piece, vma);
		tfs_emit_unmap(&span, map->upper, &piece);
	}
	vma->vm_ops = map->lower_ops;
	tfs_map_put(map);
}

/* The lower mmap has succeeded, so from here on nothing may fail. */
static void map_wrap(struct tfs_map *map, struct vm_area_struct *vma)
{
	map->lower_ops = vma->vm_ops;
	iot_vm_ops_copy(&map->ops, vma->vm_ops);
	map->ops.open = map_open;
	map->ops.close = map_close;
	map->ops.mremap = map_mremap;
	if (map->mode != TFS_MMAP_OFF) {
		map->ops.fault = map_fault;
		/*
		 * Without it, the kernel would refuse faults under the vma lock: keep it if the lower file system
		 * has it.
		 */
		if (map->ops.map_pages)
			map->ops.map_pages = map_map_pages;
		if (map->ops.huge_fault)
			map->ops.huge_fault = map_huge_fault;
		map->ops.page_mkwrite = map_page_mkwrite;
		if (map->ops.pfn_mkwrite)
			map->ops.pfn_mkwrite = map_pfn_mkwrite;
	}
	if (map->mode == TFS_MMAP_PAGE)
		vm_flags_set(vma, VM_NOHUGEPAGE); /* a huge page would be one access */
	vma->vm_ops = &map->ops;
}

static struct tfs_map *map_new(struct file *upper, const struct iot_span *span)
{
	struct tfs_map *map = kzalloc(sizeof(*map), GFP_KERNEL);

	if (!map)
		return NULL;
	map->upper = get_file(upper);
	map->map = atomic64_inc_return(&last_map);
	map->epoch = iot_span_epoch(span);
	map->mode = READ_ONCE(TFS_SB(file_inode(upper)->i_sb)->options.mmap);
	refcount_set(&map->refs, 1);
	INIT_LIST_HEAD(&map->list);
	return map;
}

static int map_make(struct file *file, struct vm_area_struct *vma, const struct iot_span *span,
		    u64 *id)
{
	struct file *mapped;
	struct tfs_map *map;
	int err;

	if (!iot_can_mmap(tfs_lower_file(file)))
		return -ENODEV;
	if (unlikely(tfs_mount_is_noexec(file_inode(file)->i_sb))) {
		if (vma->vm_flags & VM_EXEC)
			return -EPERM;
		vm_flags_clear(vma, VM_MAYEXEC);
	}
	mapped = tfs_mapped_of(file);
	if (IS_ERR(mapped))
		return PTR_ERR(mapped);
	map = map_new(file, span);
	if (!map)
		return -ENOMEM;
	*id = map->map;
	vma_set_file(vma, mapped);
	err = vfs_mmap(mapped, vma);
	if (!err && vma->vm_ops) {
		map_wrap(map, vma);
		tfs_map_add(map, vma);
	} else {
		tfs_map_put(map); /* the caller drops vm_file, whatever it is now */
	}
	return err;
}

/*
 * tfs_mmap() - map a file
 */
int tfs_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct tfs_piece all = { .first = vma->vm_pgoff, .pages = tfs_vma_pages(vma) };
	struct iot_span span;
	int err;

	tfs_gate_open(file_inode(file)->i_sb, IOT_KIND_map, &span);
	err = map_make(file, vma, &span, &all.map);
	tfs_emit_map(&span, file, &all, vma, 0, err);
	return err;
}

/*
 * tfs_get_unmapped_area() - where a mapping goes, which is the lower file system's choice
 */
unsigned long tfs_get_unmapped_area(struct file *file, unsigned long address,
				    unsigned long length_bytes, unsigned long page,
				    unsigned long flags)
{
	struct file *lower = tfs_lower_file(file);

	tfs_refresh(file_inode(file)); /* the VFS looks next whether the file is append-only */
	if (lower->f_op->get_unmapped_area)
		return tfs_lower_unmapped_area(lower, address, length_bytes, page, flags);
	return iot_mm_get_unmapped_area(file, address, length_bytes, page, flags);
}

/* -- mappings that were there before a session ---------------------------------------- */

static bool is_ours(const struct vm_area_struct *vma)
{
	return vma->vm_ops && vma->vm_ops->open == map_open;
}

/**
 * tfs_view_map() - is it a mapping of a file of this mount, or one that bypasses the mount?
 * @source: that of the mount
 * @vma: its mm is locked
 */
enum iot_view tfs_view_map(const struct iot_source *source, const struct vm_area_struct *vma)
{
	if (is_ours(vma))
		return file_inode(map_of(vma)->upper)->i_sb == source->sb ? IOT_VIEW_OURS :
									    IOT_VIEW_NONE;
	return vma->vm_file && tfs_is_below(source, vma->vm_file) ? IOT_VIEW_UNSEEN : IOT_VIEW_NONE;
}

/**
 * tfs_announce_map() - announce a mapping that existed before the session
 * @session: entered
 * @task: a task of the process that has it
 * @vma: a mapping of ours, or several; its mm is locked
 *
 * Return: false if its mmap was recorded in this session, and there is nothing to announce.
 */
bool tfs_announce_map(struct iot_session *session, u32 task, const struct vm_area_struct *vma)
{
	struct tfs_map *map = map_of(vma);
	struct tfs_piece piece = tfs_piece_before(vma);
	bool is_announced = false;

	while (tfs_piece_next(map, vma, 0, &piece)) {
		if (piece.epoch == iot_session_epoch(session))
			continue;
		announce_piece(session, task, map->upper, &piece, vma);
		is_announced = true;
	}
	return is_announced;
}

/**
 * tfs_retouch_map() - let accesses to a mapping make faults again
 * @session: that begins to record it
 * @vma: a mapping of ours; its mm is locked
 *
 * An access to a page that is mapped makes no fault, and pages have been mapped by now. As a
 * truncation does, and memory pressure, this takes the pages of the file out of all that map it, and
 * leaves them in the page cache; private copies stay. Not where the program wants no faults.
 */
void tfs_retouch_map(struct iot_session *session, const struct vm_area_struct *vma)
{
	const struct tfs_map *map = map_of(vma);
	struct tfs_inode *inode = TFS_I(file_inode(map->upper));

	if (map->mode == TFS_MMAP_OFF || (vma->vm_flags & VM_LOCKED) ||
	    inode->retouched == iot_session_epoch(session))
		return;
	inode->retouched = iot_session_epoch(session);
	unmap_mapping_range(vma->vm_file->f_mapping, 0, 0, 0);
}
