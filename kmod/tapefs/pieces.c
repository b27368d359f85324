// SPDX-License-Identifier: GPL-2.0-only
/*
 * pieces.c - the mapping that a page of a vma belongs to.
 *
 * A vma points to what one mmap made (struct tfs_map). Since 6.12, the kernel lets a vma grow over pages of an adjacent one
 * of the same file if the flags of both are the same and the pages of the file continue where the two meet: when
 * mprotect(2), madvise(2) or mlock(2) makes a part of the neighbour the same, or mremap(2) moves a part next to it. No
 * operation of the vma is called for that. In the trace, these pages still belong to the mapping that they were mapped by. So
 * each map remembers the pages that its mmap covered, and their place in memory; a page of a vma that is not among
 * those of its map is searched in the other maps of the handle.
 *
 * The last vma of a map may go while another vma has some of its pages. Then more of its pages were mapped than
 * unmapped, and the map stays until they are, or the handle is released. mremap(2) can also let a vma grow where it is,
 * over pages that belong to no other map: these count as pages of the vma's own map.
 */
#include <linux/fs.h>
#include <linux/slab.h>

#include "map.h"

static unsigned long shift_of(const struct vm_area_struct *vma)
{
	return (vma->vm_start >> PAGE_SHIFT) - vma->vm_pgoff;
}

/* Return: the map of that page, at that place in memory. */
static struct tfs_map *owner_of(struct tfs_map *map, const struct vm_area_struct *vma, pgoff_t page)
{
	struct tfs_map *other;

	if (!tfs_map_has(map, page))
		list_for_each_entry(other, &TFS_F(map->upper)->maps, list)
			if (other->shift == shift_of(vma) && tfs_map_has(other, page))
				return other;
	return map;
}

/* Number of pages of a map from @first on, before @end. The vma's own map extends to the beginning of another one. */
static unsigned long pages_of(const struct tfs_map *owner, const struct tfs_map *map,
			      const struct vm_area_struct *vma, pgoff_t first, pgoff_t end)
{
	const struct tfs_map *other;

	if (owner != map)
		return min(end, owner->first + owner->pages) - first;
	if (tfs_map_has(map, first) && tfs_map_has(map, end - 1))
		return end - first; /* a handle can have very many mappings */
	list_for_each_entry(other, &TFS_F(map->upper)->maps, list)
		if (other->shift == shift_of(vma) && other->first > first && other->first < end)
			end = other->first;
	return end - first;
}

/* Return: how many of these pages the mmap of the map covered. */
static long pages_within(const struct tfs_map *map, const struct tfs_piece *piece)
{
	return tfs_map_has(map, piece->first) ? min(piece->pages, map->first + map->pages - piece->first) : 0;
}

static void map_free(struct tfs_map *map)
{
	list_del(&map->list);
	kfree(map);
}

/**
 * tfs_map_add() - a file has been mapped
 * @map: has one reference, for the vma
 * @vma: as it is now
 */
void tfs_map_add(struct tfs_map *map, const struct vm_area_struct *vma)
{
	struct tfs_file *tfs = TFS_F(map->upper);

	map->first = vma->vm_pgoff;
	map->pages = tfs_vma_pages(vma);
	map->shift = shift_of(vma);
	map->mapped = map->pages;
	spin_lock(&tfs->lock);
	list_add(&map->list, &tfs->maps);
	spin_unlock(&tfs->lock);
}

/**
 * tfs_map_put() - drop the reference of a vma or of a fault
 * @map: given up
 */
void tfs_map_put(struct tfs_map *map)
{
	struct file *upper = map->upper;

	if (!refcount_dec_and_lock(&map->refs, &TFS_F(upper)->lock))
		return;
	if (map->mapped > 0)
		map->is_lost = true;
	else
		map_free(map);
	spin_unlock(&TFS_F(upper)->lock);
	fput(upper);
}

/**
 * tfs_maps_forget() - a handle is released: no vma has pages of its maps any more
 * @tfs: the handle
 */
void tfs_maps_forget(struct tfs_file *tfs)
{
	struct tfs_map *map, *next;

	list_for_each_entry_safe(map, next, &tfs->maps, list)
		map_free(map);
}

/**
 * __tfs_map_at() - tfs_map_at() of a page that a merge has brought from another mmap
 * @map: that of the vma
 * @vma: locked
 * @page: of the file, in the vma, and not in @map
 *
 * Return: id of the mapping that the page belongs to.
 */
u64 __tfs_map_at(struct tfs_map *map, const struct vm_area_struct *vma, pgoff_t page)
{
	struct tfs_file *tfs = TFS_F(map->upper);
	u64 id;

	spin_lock(&tfs->lock);
	id = owner_of(map, vma, page)->map;
	spin_unlock(&tfs->lock);
	return id;
}

/**
 * tfs_piece_next() - the next piece of a vma
 * @map: that of the vma
 * @vma: locked
 * @counted: 1 if the vma is being mapped, -1 if it is being unmapped, else 0
 * @piece: the one before, or tfs_piece_before(); replaced
 *
 * Return: whether there is one.
 */
bool tfs_piece_next(struct tfs_map *map, const struct vm_area_struct *vma, int counted,
		    struct tfs_piece *piece)
{
	const pgoff_t first = piece->first + piece->pages, end = vma->vm_pgoff + tfs_vma_pages(vma);
	struct tfs_file *tfs = TFS_F(map->upper);
	struct tfs_map *owner;

	if (first == end)
		return false;
	spin_lock(&tfs->lock);
	owner = owner_of(map, vma, first);
	*piece = (struct tfs_piece){ .map = owner->map, .epoch = owner->epoch, .first = first };
	piece->pages = pages_of(owner, map, vma, first, end);
	owner->mapped += counted * pages_within(owner, piece);
	if (owner->is_lost && owner->mapped <= 0)
		map_free(owner);
	spin_unlock(&tfs->lock);
	return true;
}

/* Return: the newest map with a page of the vma that the vma's own map does not have; NULL if there is none. */
static struct tfs_map *newcomer_of(const struct tfs_map *map, const struct vm_area_struct *vma,
				   struct tfs_piece *piece)
{
	struct tfs_map *other;

	*piece = tfs_piece_before(vma);
	if (tfs_map_has(map, piece->first))
		piece->first = map->first + map->pages;
	list_for_each_entry(other, &TFS_F(map->upper)->maps, list)
		if (other != map && tfs_map_has(other, piece->first) && other->shift != shift_of(vma))
			return other;
	return NULL;
}

/**
 * tfs_map_move() - mremap(2) has moved pages to a vma
 * @map: of the vma, perhaps of a neighbour that the pages were merged into
 * @vma: their new place
 * @moved: filled in: the pages that were moved, and their map
 */
void tfs_map_move(struct tfs_map *map, const struct vm_area_struct *vma, struct tfs_piece *moved)
{
	const pgoff_t end = vma->vm_pgoff + tfs_vma_pages(vma);
	struct tfs_file *tfs = TFS_F(map->upper);
	struct tfs_map *owner = NULL;

	spin_lock(&tfs->lock);
	if (map->shift == shift_of(vma))
		owner = newcomer_of(map, vma, moved);
	if (owner) {
		moved->pages = min(end, owner->first + owner->pages) - moved->first;
	} else {
		owner = map;
		*moved = tfs_piece_before(vma);
		moved->pages = tfs_vma_pages(vma);
		if (tfs_map_has(map, vma->vm_pgoff)) /* the vma may be longer now */
			map->pages = max(map->pages, end - map->first);
	}
	moved->map = owner->map;
	moved->epoch = owner->epoch;
	owner->shift = shift_of(vma);
	owner->mapped += moved->pages;
	spin_unlock(&tfs->lock);
}
