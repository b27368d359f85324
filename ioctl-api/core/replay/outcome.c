// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * outcome.c - the outcome of an operation, as a record of the same kind as in the trace.
 *
 * Tasks and objects have the ids of the trace, so that a replay can be compared with it; the id of a name is the
 * place of its path in the program's strings, handles and mappings are slots. User space writes the names of them
 * to the same trace.
 */
#include "harmless.h"
#include "operation.h"
#include "outcome.h"

static u64 origin_of(const struct iot_program *program, __le32 object)
{
	u32 slot = le32_to_cpu(object);

	return slot ? le64_to_cpu(program->objects[slot - 1].origin) : 0;
}

static void set_tail(struct iot_record *r, const void *text, u64 bytes)
{
	r->tail = text;
	r->tail_bytes = (u16)(bytes < IOT_TAIL_MAX_BYTES ? bytes : IOT_TAIL_MAX_BYTES);
}

static void set_text_tail(struct iot_record *r, const char *text)
{
	set_tail(r, text, strlen(text));
}

/* The name of an attribute, and the value that was set; unless another value was. */
static void set_xattr_tail(struct iot_record *r, const struct iot_program *program,
			   const struct iot_program_op *op, const struct iot_observed *observed)
{
	const char *name = iot_program_string(program, op->xattr);
	u64 bytes = strlen(name);

	if (r->kind == IOT_KIND_setxattr && op->has_value && !observed->is_harmless)
		bytes += 1 + le64_to_cpu(op->length_bytes);
	set_tail(r, name, bytes);
}

/* The mode and the number as the replay sets them, see harmless.h. */
static u32 mode_of(const struct iot_program_op *op, const struct iot_observed *observed)
{
	u32 mode = le32_to_cpu(op->mode);

	return observed->is_harmless ? iot_harmless_mode(mode) : mode;
}

static u64 rdev_of(const struct iot_program_op *op, const struct iot_observed *observed)
{
	u64 rdev = le64_to_cpu(op->rdev);

	return observed->is_harmless ? iot_harmless_rdev(mode_of(op, observed), rdev) : rdev;
}

/* The field of a record from the member of an operation, for each use of IOT_OPERAND_USES that records have. */
#define FILL_object(field, member)	 field = origin_of(program, member)
#define FILL_u32(field, member)		 field = le32_to_cpu(member)
#define FILL_u64(field, member)		 field = le64_to_cpu(member)
#define FILL_s64(field, member)		 field = (s64)le64_to_cpu(member)
#define FILL_path(field, member)	 FILL_u32(field, member)
#define FILL_place(field, member)	 FILL_u32(field, member)
#define FILL_place_handle(field, member) FILL_u32(field, member)
#define FILL_new_path(field, member)	 FILL_u32(field, member)
#define FILL_handle(field, member)	 FILL_u32(field, member)
#define FILL_new_handle(field, member)	 FILL_u32(field, member)
#define FILL_to_handle(field, member)	 FILL_u32(field, member)
#define FILL_map(field, member)		 FILL_u32(field, member)
#define FILL_new_map(field, member)	 FILL_u32(field, member)
#define FILL_bits(field, member)	 FILL_u32(field, member)
#define FILL_mask(field, member)	 FILL_u32(field, member)
#define FILL_yes_no(field, member)	 FILL_u32(field, member)
#define FILL_request(field, member)	 field = IOT_PROGRAM_IOCTLS | le32_to_cpu(member)
#define FILL_position(field, member)	 FILL_s64(field, member)
#define FILL_range_end(field, member)	 FILL_s64(field, member)
#define FILL_transfer(field, member)	 FILL_u64(field, member)
#define FILL_small(field, member)	 FILL_u64(field, member)
#define FILL_page(field, member)	 field = page_bytes
#define FILL_new_mode(field, member)	 field = mode_of(op, observed)
#define FILL_rdev(field, member)	 field = rdev_of(op, observed)
#define FILL_target(field, member)	 set_text_tail(r, iot_program_string(program, member))
#define FILL_xattr(field, member)	 set_xattr_tail(r, program, op, observed)

/* The field of a record from the observations of the operation. */
#define OBSERVED_size_bytes(field)	  field = observed->size_bytes
#define OBSERVED_cached_pages(field) field = observed->cached_pages
#define OBSERVED_request(field)	  field = observed->request
#define OBSERVED_lock(field)	  field = observed->lock
#define OBSERVED_target(field)	  set_tail(r, observed->target, observed->target_bytes)

#define FILL_FIELD(k, use, member, field, ...) FILL_##use(r->k.field, op->member);
#define FILL_FOUND(k, what, field) OBSERVED_##what(r->k.field);
#define FILL_KIND(k, ...)                                                        \
	case IOT_KIND_##k:                                                       \
		IOT_OPERANDS_##k(FILL_FIELD, IOT_OPERAND_SKIP, FILL_FOUND, k)    \
		break;

/**
 * iot_outcome_fill() - fill in the record of an operation
 * @r: kind, arguments and tail are filled in; the caller fills in task, times and result
 * @program: of the operation
 * @op: an operation with a record, except the end of a request
 * @observed: observations of the operation; its target, or the program, must live as long as @r is used
 * @page_bytes: page size of this machine, the length of a touch
 */
void iot_outcome_fill(struct iot_record *r, const struct iot_program *program,
		      const struct iot_program_op *op, const struct iot_observed *observed, u64 page_bytes)
{
	r->kind = le16_to_cpu(op->kind);
	switch (r->kind) {
		IOT_WORKER_OPERATIONS(FILL_KIND)
	}
}

/* -- comparison --------------------------------------------------------------------------------- */

/*
 * Before the kernel truncates a file, it reads whether there are capabilities to remove. A file system without
 * extended attributes returns an error of its own, which means the same, and which no task sees.
 */
static bool iot_equivalent_getxattr(const struct iot_program *program, const struct iot_program_op *op,
				    s64 result, s64 expected)
{
	return (result == -ENODATA || result == -EOPNOTSUPP) &&
	       (expected == -ENODATA || expected == -EOPNOTSUPP) &&
	       !strcmp(iot_program_string(program, op->xattr), "security.capability");
}

#define iot_equivalent_exact(program, op, result, expected) false

#define EQUIVALENT_KIND(k, equivalence, ...) \
	case IOT_KIND_##k:                   \
		return iot_equivalent_##equivalence(program, op, result, expected);

/**
 * iot_outcome_is_equivalent() - does another result mean the same as the one in the trace?
 * @program: of the operation
 * @op: the operation
 * @result: in the replay, not that of the trace
 */
bool iot_outcome_is_equivalent(const struct iot_program *program, const struct iot_program_op *op, s64 result)
{
	s64 expected = (s64)le64_to_cpu(op->result);

	switch (le16_to_cpu(op->kind)) {
		IOT_OPERATIONS(EQUIVALENT_KIND)
	default:
		return false;
	}
}
