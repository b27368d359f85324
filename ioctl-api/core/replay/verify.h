/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * verify.h - the parts of the verifier, for each other.
 */
#ifndef IOTAPE_VERIFY_H
#define IOTAPE_VERIFY_H

#include "program.h"
#include "core/trace/record.h"

#define IOT_VERIFY_PAUSE_OPS 1024 /* so many operations are verified between two pauses */

/**
 * struct verifier - one verification
 * @program: to be verified
 * @reject: out: the reason and place of a refusal
 * @pause: see iot_program_verify()
 * @context: for it
 */
struct verifier {
	const struct iot_program *program;
	struct iot_reject *reject;
	iot_pause_fn pause;
	void *context;
};

/* verify.c */
int iot_verify_pause(const struct verifier *v);
int iot_verify_refuse(const struct verifier *v, u32 reason, u32 section, u64 index);
bool iot_verify_is_string(const struct verifier *v, __le32 at_bytes);
bool iot_verify_is_path(const struct verifier *v, __le32 at_bytes);

int iot_verify_op(const struct verifier *v, const struct iot_program_op *op, u64 index);
int iot_verify_tasks(const struct verifier *v);
int iot_verify_queues(const struct verifier *v);
int iot_verify_tree(const struct verifier *v);
int iot_verify_order(const struct verifier *v, u32 *scratch);

#endif
