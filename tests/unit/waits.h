/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.h - what the operations of a compiled program wait for.
 */
#ifndef IOTAPE_TEST_WAITS_H
#define IOTAPE_TEST_WAITS_H

#include "core/replay/program.h"

/**
 * last_task_waits() - does an operation of a program's last task wait for one of some kind?
 * @program: sound
 * @index: of the operation in the task
 * @own: the kind that it is, or the test fails
 * @kind: the kind that is looked for
 */
bool last_task_waits(const struct iot_program *program, u32 index, u16 own, u16 kind);

#endif
