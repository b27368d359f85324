/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * record.h - a record in memory, and its way to and from the wire.
 *
 * Everything here is expanded from the tables of schema.h:
 *
 *   struct iot_rec_read	the fields of a `read`, in the machine's own byte order
 *   IOT_WIRE_read		bytes of a `read` on the wire, head included, tail not
 *   iot_put_read()		encode one, straight-line code, for hot paths
 *   iot_record_encode()	the same for a kind known at run time only
 *   iot_record_decode()	wire to struct, trusting nothing
 */
#ifndef IOTAPE_CORE_RECORD_H
#define IOTAPE_CORE_RECORD_H

#include <iotape/schema.h>

#include "core/port.h"

#define IOT_MEMBER(type, field, class, sentence) __##type field;
#define IOT_STRUCT(id, kind, group, sentence) \
	struct iot_rec_##kind {               \
		IOT_FIELDS_##kind(IOT_MEMBER) \
	};
IOT_RECORDS(IOT_STRUCT)
#undef IOT_STRUCT

/* The common fields of all operations; a prefix of each of their structs. */
struct iot_rec_op {
	IOT_FIELDS_op(IOT_MEMBER)
};

/* The common fields of mpi_comm, mpi_near and mpi_view, likewise. */
struct iot_rec_mpi_known {
	IOT_FIELDS_mpi_known(IOT_MEMBER)
};
#undef IOT_MEMBER

#define IOT_FIELD_BYTES(type, field, class, sentence) +sizeof(__##type)
enum iot_wire_bytes {
#define IOT_WIRE_VALUE(id, kind, group, sentence) \
	IOT_WIRE_##kind = IOT_RECORD_HEAD_BYTES IOT_FIELDS_##kind(IOT_FIELD_BYTES),
	IOT_RECORDS(IOT_WIRE_VALUE)
#undef IOT_WIRE_VALUE
};
#undef IOT_FIELD_BYTES

/**
 * struct iot_record - one record of any kind
 * @kind: an enum iot_kind, or the number of a kind that this reader does not know
 * @length_bytes: length on the wire
 * @tail: raw bytes, not terminated; points into the buffer it was decoded from
 * @tail_bytes: their number
 * @op: the common fields, valid if the kind is an operation
 * @mpi_known: common fields of records of a rank's knowledge, see iot_kind_is_mpi_known()
 *
 * The other members are the fields of each kind.
 */
struct iot_record {
	u16 kind;
	u16 length_bytes;
	u16 tail_bytes;
	const u8 *tail;
	union {
		struct iot_rec_op op;
		struct iot_rec_mpi_known mpi_known;
		/* private: one for each kind */
#define IOT_UNION_MEMBER(id, name, group, sentence) struct iot_rec_##name name;
		IOT_RECORDS(IOT_UNION_MEMBER)
#undef IOT_UNION_MEMBER
	};
};

/* Is a record of this kind about the knowledge of a rank, and no MPI call? */
static inline bool iot_kind_is_mpi_known(u16 kind)
{
	return kind == IOT_KIND_mpi_comm || kind == IOT_KIND_mpi_near || kind == IOT_KIND_mpi_view;
}

static inline u8 *iot_put_u8(u8 *p, u8 v)
{
	*p = v;
	return p + 1;
}

static inline u8 *iot_put_u16(u8 *p, u16 v)
{
	__le16 w = cpu_to_le16(v);

	memcpy(p, &w, sizeof(w));
	return p + sizeof(w);
}

static inline u8 *iot_put_u32(u8 *p, u32 v)
{
	__le32 w = cpu_to_le32(v);

	memcpy(p, &w, sizeof(w));
	return p + sizeof(w);
}

static inline u8 *iot_put_u64(u8 *p, u64 v)
{
	__le64 w = cpu_to_le64(v);

	memcpy(p, &w, sizeof(w));
	return p + sizeof(w);
}

static inline u8 *iot_put_s32(u8 *p, s32 v)
{
	return iot_put_u32(p, (u32)v);
}

static inline u8 *iot_put_s64(u8 *p, s64 v)
{
	return iot_put_u64(p, (u64)v);
}

static inline u16 iot_get_u16(const u8 *p)
{
	__le16 w;

	memcpy(&w, p, sizeof(w));
	return le16_to_cpu(w);
}

static inline u32 iot_get_u32(const u8 *p)
{
	__le32 w;

	memcpy(&w, p, sizeof(w));
	return le32_to_cpu(w);
}

static inline u64 iot_get_u64(const u8 *p)
{
	__le64 w;

	memcpy(&w, p, sizeof(w));
	return le64_to_cpu(w);
}

static inline s32 iot_get_s32(const u8 *p)
{
	return (s32)iot_get_u32(p);
}

static inline s64 iot_get_s64(const u8 *p)
{
	return (s64)iot_get_u64(p);
}

static inline u8 *iot_put_head(u8 *p, u16 kind, u32 wire_bytes, u16 tail_bytes)
{
	p = iot_put_u16(p, (u16)(wire_bytes + tail_bytes));
	p = iot_put_u16(p, kind);
	p = iot_put_u16(p, tail_bytes);
	return iot_put_u16(p, 0);
}

/*
 * iot_put_KIND() - encode one record
 * @p: room for IOT_WIRE_KIND + @tail_bytes bytes
 * @r: its fields
 * @tail: its tail, may be NULL if @tail_bytes is 0
 * @tail_bytes: at most IOT_TAIL_MAX_BYTES
 *
 * Return: the byte after the record.
 */
#define IOT_PUT_FIELD(type, field, class, sentence) p = iot_put_##type(p, r->field);
#define IOT_PUT(id, kind, group, sentence)                                               \
	static inline u8 *iot_put_##kind(u8 *p, const struct iot_rec_##kind *r,          \
					 const void *tail, u16 tail_bytes)               \
	{                                                                                \
		p = iot_put_head(p, IOT_KIND_##kind, IOT_WIRE_##kind, tail_bytes);       \
		IOT_FIELDS_##kind(IOT_PUT_FIELD)                                         \
		if (tail_bytes)                                                          \
			memcpy(p, tail, tail_bytes);                                     \
		return p + tail_bytes;                                                   \
	}
IOT_RECORDS(IOT_PUT)
#undef IOT_PUT
#undef IOT_PUT_FIELD

s32 iot_record_encode(void *buffer, size_t room_bytes, const struct iot_record *record);
s32 iot_record_decode(const void *buffer, size_t available_bytes, struct iot_record *record);

/* Did a wait for a lock end without the lock: by a signal, or because of a deadlock? */
static inline bool iot_is_wait_in_vain(u32 lock_flags, s64 result)
{
	return (lock_flags & IOT_LOCK_wait) && (result == -EINTR || result == -EDEADLK);
}

#endif
