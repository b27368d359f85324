/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.h - the waits of the operations of a compiled program.
 */
#ifndef IOTAPE_TEST_WAITS_H
#define IOTAPE_TEST_WAITS_H

#include "core/replay/program.h"

/**
 * last_task_waits() - does an operation of a program's last task wait for one of some kind?
 * @program: a valid program
 * @index: index of the operation in the task
 * @own: its expected kind; otherwise the test fails
 * @kind: kind of the operation that it waits for
 */
bool last_task_waits(const struct iot_program *program, u32 index, u16 own, u16 kind);

#endif
