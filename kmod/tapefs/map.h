/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map.h - mappings, and the mapping that a page belongs to: mmap.c and pieces.c.
 */
#ifndef TFS_MAP_H
#define TFS_MAP_H

#include <linux/mm.h>

#include "tapefs.h"

/**
 * struct tfs_map - what one mmap made, with its copies by fork, split and move
 * @ops: the wrapped operations, which the vmas point to
 * @lower_ops: those of the lower file system
 * @upper: the upper file, with a reference
 * @map: id
 * @epoch: session in which the mmap was recorded, 0 if none
 * @mode: how closely accesses are watched
 * @refs: vmas, and faults in progress
 * @first: first page of the file that was mapped
 * @pages: how many were, or are since it was moved
 * @shift: number of the page of memory at which page 0 of the file would be mapped
 * @mapped: how many of these pages all processes have mapped, see pieces.c
 * @is_lost: no vma points to it, but some of its pages are mapped
 * @list: among those of the handle; guarded by the handle's lock, as the five before
 */
struct tfs_map {
	struct vm_operations_struct ops;
	const struct vm_operations_struct *lower_ops;
	struct file *upper;
	u64 map;
	u64 epoch;
	enum tfs_mmap_mode mode;
	refcount_t refs;
	pgoff_t first;
	unsigned long pages;
	unsigned long shift;
	long mapped;
	bool is_lost;
	struct list_head list;
};

/**
 * struct tfs_piece - pages of a vma that one mmap has mapped
 * @map: its id
 * @epoch: session in which it was recorded
 * @first: of the file
 * @pages: how many
 */
struct tfs_piece {
	u64 map;
	u64 epoch;
	pgoff_t first;
	unsigned long pages;
};

/* As vma_pages(), for a vma that is const. */
static inline unsigned long tfs_vma_pages(const struct vm_area_struct *vma)
{
	return (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
}

static inline bool tfs_map_has(const struct tfs_map *map, pgoff_t page)
{
	return page - map->first < map->pages;
}

/* Before the first tfs_piece_next(). */
static inline struct tfs_piece tfs_piece_before(const struct vm_area_struct *vma)
{
	return (struct tfs_piece){ .first = vma->vm_pgoff };
}

void tfs_map_add(struct tfs_map *map, const struct vm_area_struct *vma);
void tfs_map_move(struct tfs_map *map, const struct vm_area_struct *vma, struct tfs_piece *moved);
void tfs_map_put(struct tfs_map *map);
u64 __tfs_map_at(struct tfs_map *map, const struct vm_area_struct *vma, pgoff_t page);
bool tfs_piece_next(struct tfs_map *map, const struct vm_area_struct *vma, int counted,
		    struct tfs_piece *piece);

/**
 * tfs_map_at() - the mapping that a page belongs to
 * @map: that of the vma
 * @vma: locked
 * @page: of the file, in the vma
 *
 * Return: its id.
 */
static inline u64 tfs_map_at(struct tfs_map *map, const struct vm_area_struct *vma, pgoff_t page)
{
	return likely(tfs_map_has(map, page)) ? map->map : __tfs_map_at(map, vma, page);
}

#endif
