// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks.c - the function calls from which operations are made, in sessions that request it.
 *
 * When a task enters an operation, the frame pointers of its user stack are followed (core/trace/stack.c). The id of a
 * stack is a hash of it and of its process with a secret key of the session, so that no table of stacks is necessary. A
 * table of ids that were announced decides whether the stack is new, and then the stack is recorded, and the mappings that its
 * addresses are in. The table has a fixed size: an id that was replaced is announced again, and none is ever
 * missing for lack of room. When the operation ends, a record `called_from` with the id precedes its record.
 *
 * Mappings are looked up under the lock of the memory, if that is free: the task does not wait for it. If it is not free,
 * or another task is formatting a path, the stack is announced without them, and they are when it is seen next.
 *
 * The user stack is that of the system call. There is none if current has no user memory any more; in an exec, because the
 * registers and the memory may be those of different programs; and in workers of io_uring. Some kernels open the program before
 * they mark the task as one that executes: this open has the stack of the call, which is right.
 *
 * Locking: entries of the table are read and written without a lock. Two tasks that add an id at the same time may both
 * announce it, or replace each other's. @is_path_busy guards @path.
 */
#include "stacks.h"

#include <linux/bitmap.h>
#include <linux/dcache.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/task_stack.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/sched.h"
#include "compat/ustack.h"
#include "core/trace/build_id.h"
#include "core/trace/stack.h"
#include "session.h"
#include "task.h"

#define KNOWN	   16384 /* ids, a power of two */
#define WAYS	   4	 /* places for an id */
#define PATH_BYTES (IOT_TAIL_MAX_BYTES - IOT_BUILD_ID_MAX_BYTES)

/**
 * struct iot_stack_table - the stacks of a session
 * @kinds: of operations whose stacks are recorded
 * @key: of the hashes
 * @is_path_busy: bit 0: @path is in use
 * @path: a path, ended by a zero byte at the end of the room for it, and a build id
 * @verdicts: see struct iot_stack_at
 * @known: ids of stacks and of mappings that were announced, and see announce(); 0: free
 */
struct iot_stack_table {
	DECLARE_BITMAP(kinds, IOT_KIND_END);
	siphash_key_t key;
	unsigned long is_path_busy;
	char path[PATH_BYTES + IOT_BUILD_ID_MAX_BYTES];
	u64 known[KNOWN];
	u64 verdicts[IOT_STACK_VERDICTS];
};

DEFINE_STATIC_KEY_FALSE(iot_has_stacks);

/**
 * iot_stacks_new() - prepare for the stacks of a session
 * @request: the kinds of operations
 *
 * Context: sleeps. Return: the table, for iot_stacks_free(); NULL without memory.
 */
struct iot_stack_table *iot_stacks_new(const struct iot_stacks *request)
{
	struct iot_stack_table *table = kvzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);

	if (!table)
		return NULL;
	bitmap_from_arr64(table->kinds, request->kinds, IOT_KIND_END);
	get_random_bytes(&table->key, sizeof(table->key));
	static_branch_inc(&iot_has_stacks);
	return table;
}

/**
 * iot_stacks_free() - undo iot_stacks_new()
 * @table: not used any more; NULL is allowed
 *
 * Context: sleeps.
 */
void iot_stacks_free(struct iot_stack_table *table)
{
	if (!table)
		return;
	static_branch_dec(&iot_has_stacks);
	kvfree(table);
}

static u64 hash_of(const struct iot_stack_table *table, const u64 *words, size_t count)
{
	return siphash(words, count * sizeof(*words), &table->key) ?: 1;
}

static bool is_known(const struct iot_stack_table *table, u64 id)
{
	const u64 *set = table->known + (id & (KNOWN - 1) & ~(u64)(WAYS - 1));
	u32 i;

	for (i = 0; i < WAYS; i++)
		if (READ_ONCE(set[i]) == id)
			return true;
	return false;
}

/* A set that is full loses one. */
static void set_known(struct iot_stack_table *table, u64 id)
{
	u64 *set = table->known + (id & (KNOWN - 1) & ~(u64)(WAYS - 1));
	u32 i;

	for (i = 0; i < WAYS && READ_ONCE(set[i]); i++)
		;
	WRITE_ONCE(set[i < WAYS ? i : id >> 60 & (WAYS - 1)], id);
}

/* -- mappings of code -------------------------------------------------------------------------- */

/* Return: bytes of the build id; 0 if it is not known: the beginning of the file may not be in memory. */
static u32 find_build_id(const struct file *file, u8 *id)
{
	struct folio *folio = iot_first_folio(file->f_mapping);
	void *page;
	u32 bytes = 0;

	if (!folio)
		return 0;
	if (folio_test_uptodate(folio)) {
		page = kmap_local_folio(folio, 0);
		bytes = iot_build_id_find(page, PAGE_SIZE, id);
		kunmap_local(page);
	}
	folio_put(folio);
	return bytes;
}

/* A path that is too long, or not reachable, is left out. Return: false if the record was lost. */
static bool put_code(struct iot_session *session, struct iot_rec_code *r, const struct file *file)
{
	char *path = session->stacks->path, *end = path + PATH_BYTES, *begin = d_path(iot_user_path(file), path, PATH_BYTES);
	u32 id_bytes = find_build_id(file, (u8 *)end);

	if (IS_ERR(begin)) {
		begin = end - 1;
		*begin = 0;
	}
	if (!id_bytes)
		end--;
	return IOT_EMIT_EVENT(session, code, r, begin, end + id_bytes - begin);
}

static void fill_code(struct iot_rec_code *r, const struct iot_task *task, const struct vm_area_struct *vma)
{
	const struct inode *inode = file_inode(vma->vm_file);

	*r = (struct iot_rec_code){
		.process = task->process,
		.task = task->id,
		.address = vma->vm_start,
		.length_bytes = vma->vm_end - vma->vm_start,
		.offset_bytes = (u64)vma->vm_pgoff << PAGE_SHIFT,
		.ino = inode->i_ino,
		.dev = new_encode_dev(inode->i_sb->s_dev),
	};
}

/* Code without a file, such as that of a compiler in the process, has no record. Return: false if it has to be tried again. */
static bool announce_code(struct iot_session *session, const struct iot_task *task, u64 address)
{
	const struct vm_area_struct *vma = find_vma(current->mm, address);
	struct iot_rec_code r;
	u64 id;

	if (!vma || address < vma->vm_start || !(vma->vm_flags & VM_EXEC) || !vma->vm_file)
		return true;
	fill_code(&r, task, vma);
	id = hash_of(session->stacks, (const u64[]){ r.process, r.address, r.length_bytes, r.offset_bytes, r.ino, r.dev }, 6);
	if (is_known(session->stacks, id))
		return true;
	if (!put_code(session, &r, vma->vm_file))
		return false;
	set_known(session->stacks, id);
	return true;
}

static bool announce_codes(struct iot_session *session, const struct iot_task *task, const struct iot_stack *stack)
{
	struct mm_struct *mm = current->mm;
	bool is_done = true;
	u32 i;

	if (test_and_set_bit_lock(0, &session->stacks->is_path_busy))
		return false;
	if (mmap_read_trylock(mm)) {
		for (i = 0; i < stack->count; i++)
			if (i < 1 || i > 2 * stack->near || i % 2 == 0) /* else it is a distance */
				is_done &= announce_code(session, task, stack->words[i]);
		mmap_read_unlock(mm);
	} else {
		is_done = false;
	}
	clear_bit_unlock(0, &session->stacks->is_path_busy);
	return is_done;
}

/* -- stacks ----------------------------------------------------------------------------------------- */

static bool announce_stack(struct iot_session *session, const struct iot_task *task, u64 id, const struct iot_stack *stack)
{
	__le64 words[IOT_STACK_WORDS_MAX];
	struct iot_rec_stack r = {
		.stack = id,
		.process = task->process,
		.task = task->id,
		.near = stack->near,
	};
	u32 i;

	for (i = 0; i < stack->count; i++)
		words[i] = cpu_to_le64(stack->words[i]);
	return IOT_EMIT_EVENT(session, stack, &r, words, stack->count * sizeof(*words));
}

/* The complement of an id states that the mappings of the stack are known, too. */
static void announce(struct iot_session *session, const struct iot_task *task, u64 id, const struct iot_stack *stack)
{
	struct iot_stack_table *table = session->stacks;

	if (announce_codes(session, task, stack))
		set_known(table, ~id);
	if (!is_known(table, id) && announce_stack(session, task, id, stack))
		set_known(table, id);
}

static enum iot_stack_machine machine_of(struct task_struct *thread)
{
	if (iot_thread_is_32bit(thread))
		return IOT_STACK_unknown;
	return IS_ENABLED(CONFIG_X86_64) ? IOT_STACK_x86_64 : IS_ENABLED(CONFIG_ARM64) ? IOT_STACK_aarch64 : IOT_STACK_unknown;
}

/* Never faults, never sleeps; checks that the address is one of user memory. */
static bool read_user(void *to, u64 address, size_t bytes)
{
	return !copy_from_user_nofault(to, (const void __user *)(unsigned long)address, bytes);
}

static noinline u64 take_stack(struct iot_session *session, const struct iot_task *task)
{
	u64 words[1 + IOT_STACK_WORDS_MAX];
	struct pt_regs *regs = task_pt_regs(current);
	const struct iot_stack_at at = {
		.machine = machine_of(current),
		.ip = instruction_pointer(regs),
		.sp = user_stack_pointer(regs),
		.fp = iot_user_frame_pointer(regs),
		.limit = TASK_SIZE,
		.read = read_user,
		.verdicts = session->stacks->verdicts,
		.process = task->process,
		.link = iot_user_link_register(regs),
	};
	struct iot_stack stack;
	u64 id;

	iot_stack_walk(&at, &stack);
	words[0] = task->process;
	memcpy(words + 1, stack.words, stack.count * sizeof(*words));
	id = hash_of(session->stacks, words, 1 + stack.count);
	if (!is_known(session->stacks, id) || !is_known(session->stacks, ~id))
		announce(session, task, id, &stack);
	return id;
}

/**
 * iot_stack_of_current() - the stack from which current enters an operation
 * @session: entered
 * @task: current's
 * @kind: of the operation
 *
 * The stack is announced if it is new. Never sleeps, never fails.
 *
 * Return: its id; 0 if there is none, or it is not requested.
 */
u64 iot_stack_of_current(struct iot_session *session, const struct iot_task *task, enum iot_kind kind)
{
	if (!session->stacks || !test_bit(kind, session->stacks->kinds))
		return 0;
	if (!current->mm || current->flags & (PF_KTHREAD | PF_IO_WORKER) || current->in_execve)
		return 0;
	return take_stack(session, task);
}

/**
 * iot_stack_emit() - state the stack of an operation whose record follows
 * @session: entered
 * @span: of the operation, with a stack
 */
void iot_stack_emit(struct iot_session *session, const struct iot_span *span)
{
	struct iot_rec_called_from r = {
		.stack = span->stack,
		.task = span->task->id,
		.op = span->op,
	};

	IOT_EMIT_EVENT(session, called_from, &r, NULL, 0);
}
EXPORT_SYMBOL_GPL(iot_stack_emit);
