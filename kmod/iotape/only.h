/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * only.h - sessions that are restricted to the processes of one user: see only.c.
 */
#ifndef IOT_ONLY_H
#define IOT_ONLY_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include <iotape/control.h>

struct iot_session;
struct task_struct;

/**
 * struct iot_only - the user that a session is restricted to
 * @is_on: it is restricted; set before the session has a mount or a collector, and never cleared, like the rest
 * @user: in whose name its tasks act
 * @group: their group
 */
struct iot_only {
	bool is_on;
	kuid_t user;
	kgid_t group;
};

bool __iot_only_admits(const struct iot_session *session);
bool iot_only_shows(const struct iot_session *session, struct task_struct *thread);
bool iot_only_owns(const struct iot_only *only, const struct task_struct *thread);
bool iot_only_is_of_current(const struct iot_only *only);
int iot_only_set(struct iot_session *session, const struct iot_only_user *user);

#endif
