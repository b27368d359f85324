// SPDX-License-Identifier: GPL-2.0-only
/*
 * admission.c - checks whether the recorder admits current to its session.
 *
 * The check compares the kernel's own ids, which are unique across user namespaces: root in a container
 * is the ordinary user that created the container. Users are compared by their real id: a setuid program
 * acts for the user that started it, regardless of its additional rights.
 */
#include "admission.h"

#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/user_namespace.h>

static bool is_same(const struct iot_admitted *one, const struct iot_admitted *other)
{
	if (one->kind != other->kind)
		return false;
	return one->kind == IOT_ADMIT_USER ? uid_eq(one->user, other->user) :
					     gid_eq(one->group, other->group);
}

static int resolve(const struct iot_admit *admit, struct iot_admitted *admitted)
{
	admitted->kind = admit->kind;
	switch (admit->kind) {
	case IOT_ADMIT_USER:
		admitted->user = make_kuid(current_user_ns(), admit->id);
		return uid_valid(admitted->user) ? 0 : -EINVAL;
	case IOT_ADMIT_GROUP:
		admitted->group = make_kgid(current_user_ns(), admit->id);
		return gid_valid(admitted->group) ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

/**
 * iot_admission_add() - admit a user or a group
 * @admission: of a session
 * @admit: the processes that may join
 *
 * Return: 0, also if that one is admitted already; -EINVAL if there is none; -ENOSPC.
 */
int iot_admission_add(struct iot_admission *admission, const struct iot_admit *admit)
{
	struct iot_admitted admitted;
	int err = resolve(admit, &admitted);
	u32 i;

	if (err)
		return err;
	for (i = 0; i < admission->count; i++)
		if (is_same(&admission->entries[i], &admitted))
			return 0;
	if (i == IOT_ADMIT_MAX)
		return -ENOSPC;
	admission->entries[i] = admitted;
	admission->count++;
	return 0;
}

/**
 * iot_admission_has_current() - is current admitted?
 * @admission: of a session
 */
bool iot_admission_has_current(const struct iot_admission *admission)
{
	u32 i;

	for (i = 0; i < admission->count; i++) {
		const struct iot_admitted *entry = &admission->entries[i];

		if (entry->kind == IOT_ADMIT_USER ? uid_eq(entry->user, current_uid()) :
						    in_group_p(entry->group))
			return true;
	}
	return false;
}
