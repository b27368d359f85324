/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * admission.h - the users and groups that the recorder lets join its session.
 *
 * Locking: iot_control_lock.
 */
#ifndef IOT_ADMISSION_H
#define IOT_ADMISSION_H

#include <linux/types.h>
#include <linux/uidgid.h>

#include <iotape/control.h>

/**
 * struct iot_admission - those of one session
 * @count: number of entries that are in use
 * @entries: each a user or a group
 */
struct iot_admission {
	u32 count;
	struct iot_admitted {
		enum iot_admit_kind kind;
		union {
			kuid_t user;
			kgid_t group;
		};
	} entries[IOT_ADMIT_MAX];
};

int iot_admission_add(struct iot_admission *admission, const struct iot_admit *admit);
bool iot_admission_has_current(const struct iot_admission *admission);

#endif
