/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * reject.h - every reason for which a trace or a program is refused, once.
 *
 * A decoder returns the errno and notes the reason and where it was; a tool prints
 * the sentence after the name of the file and the place.
 *
 * R(id, name, errno, sentence): ids are never reused.
 */
#ifndef IOTAPE_REJECT_H
#define IOTAPE_REJECT_H

#include <linux/types.h>

#define IOT_REJECTS(R)                                                                    \
	R(1, io, EIO, "cannot be read")                                                   \
	R(2, memory, ENOMEM, "not enough memory to read it")                              \
	R(3, filtered, EOPNOTSUPP, "recorded without metadata operations (--ops or --filter), which a program requires") \
	R(4, counted, EOPNOTSUPP, "operations were counted and not recorded (--counters): they cannot be replayed, compared one " \
				  "by one, or selected") \
	/* traces */                                                                      \
	R(16, trace_magic, EBADMSG, "not a trace")                                        \
	R(17, trace_short, EBADMSG, "too short to be a trace")                            \
	R(18, trace_major, EPROTONOSUPPORT, "made by a version whose traces cannot be read") \
	R(19, trace_feature, EPROTONOSUPPORT, "uses a feature that is not known here")    \
	R(20, trace_head, EBADMSG, "damaged header")                                      \
	R(21, trace_schema, EBADMSG, "damaged schema")                                    \
	R(22, chunk_head, EBADMSG, "damaged head of a chunk")                             \
	R(23, chunk_size, EBADMSG, "a chunk of an impossible size")                       \
	R(24, chunk_codec, EPROTONOSUPPORT, "a chunk in a compression that is not known here") \
	R(25, chunk_crc, EBADMSG, "a chunk with a wrong checksum")                        \
	R(26, chunk_data, EBADMSG, "a chunk that cannot be decompressed")                 \
	R(27, chunk_count, EBADMSG, "a chunk with another number of records than it says") \
	R(28, record, EBADMSG, "a damaged record")                                        \
	R(29, index, EBADMSG, "damaged index")                                            \
	/* programs */                                                                    \
	R(64, program_magic, EBADMSG, "not a replay program")                             \
	R(65, program_short, EBADMSG, "too short for what its header says")               \
	R(66, program_major, EPROTONOSUPPORT, "made by a version whose programs cannot be run") \
	R(67, program_feature, EPROTONOSUPPORT, "needs a feature that is not known here") \
	R(68, program_head, EBADMSG, "damaged header")                                    \
	R(69, program_size, EFBIG, "larger than this machine can hold")                   \
	R(70, section, EBADMSG, "a section outside of the program, or of a wrong size")   \
	R(71, section_crc, EBADMSG, "a section with a wrong checksum")                    \
	R(72, string, EBADMSG, "a text that does not end, or begins outside of the table") \
	R(73, path, EBADMSG, "a path that is empty, too long, absolute, or has dots in it") \
	R(74, task_range, EBADMSG, "a task whose operations or waits are not in the program") \
	R(75, task_field, EBADMSG, "a task with an impossible field")                     \
	R(76, op_kind, EBADMSG, "an operation that is not known here")                    \
	R(77, op_field, EBADMSG, "an operation with an impossible field")                 \
	R(78, op_slot, EBADMSG, "an operation on a handle, mapping or object that does not exist") \
	R(79, op_wait, EBADMSG, "an operation whose waits are not those of its task")     \
	R(80, wait, EBADMSG, "a wait for something that is not in the program")           \
	R(81, latch, EBADMSG, "a latch with another number of signals than it says")         \
	R(82, cycle, EBADMSG, "operations that wait for each other in a circle")          \
	R(83, tree, EBADMSG, "an impossible entry of the initial tree")                   \
	R(84, reserved, EBADMSG, "a reserved field that is not zero")                      \
	R(85, queue, EBADMSG, "a request queue that does not complete exactly what its task submits") \
	R(86, extent, EBADMSG, "data where a file of the initial tree has none, or not in order") \
	R(87, xattr, EBADMSG, "an impossible extended attribute of the initial tree")      \
	R(88, changed, EBADMSG, "changed since it was verified")                           \
	R(89, text, EBADMSG, "a name of an attribute, or a target of a link, that is empty or too long") \
	R(90, packed_head, EBADMSG, "damaged header of a compressed program")              \
	R(91, packed_index, EBADMSG, "compressed blocks of other lengths than the file has") \
	R(92, packed_block, EBADMSG, "a block that cannot be decompressed")                \
	R(93, packed_unsupported, EOPNOTSUPP, "compressed, and this kernel has no zstd (use iotape compile --uncompressed)") \
	/* patterns */                                                                    \
	R(128, pattern_magic, EBADMSG, "not a pattern")                                    \
	R(129, pattern_short, EBADMSG, "too short for what its header says")               \
	R(130, pattern_major, EPROTONOSUPPORT, "made by a version whose patterns cannot be read") \
	R(131, pattern_feature, EPROTONOSUPPORT, "uses a feature of patterns that is not known here") \
	R(132, pattern_head, EBADMSG, "damaged header")                                    \
	R(133, pattern_crc, EBADMSG, "wrong checksum")                                     \
	R(134, pattern_data, EBADMSG, "damaged description of operations")                 \
	R(135, pattern_counts, EBADMSG, "loops that do not make as many operations as it says") \
	R(136, pattern_irregular, EFBIG, "a task with too many operations that repeat nothing")

enum iot_reject_reason {
#define IOT_REJECT_VALUE(id, name, error, sentence) IOT_REJECT_##name = id,
	IOT_REJECTS(IOT_REJECT_VALUE)
#undef IOT_REJECT_VALUE
};

/**
 * struct iot_reject - why and where something was refused
 * @reason: an enum iot_reject_reason, 0 if it was not
 * @offset_bytes: of the refused part, from the beginning of the file
 */
struct iot_reject {
	__u32 reason;
	__u32 reserved;
	__u64 offset_bytes;
};

#endif
