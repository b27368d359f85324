// SPDX-License-Identifier: GPL-2.0-only
/*
 * harmless.c - the replacements of objects that would grant rights.
 */
#include "core/replay/harmless.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "suite.h"

static void modes_lose_set_user_id_bits(void **state)
{
	static const struct {
		u32 mode, harmless;
	} rows[] = {
		{ S_IFREG | 04755, S_IFREG | 0755 },   { S_IFREG | 02755, S_IFREG | 0755 },
		{ S_IFREG | 02644, S_IFREG | 0644 }, /* without execute permission, which an access control list may add later */
		{ S_IFREG | 07777, S_IFREG | 01777 },  { S_IFREG | 0777, S_IFREG | 0777 },
		{ 04755, 0755 },		       { 06000, 0 },
		{ S_IFIFO | 06666, S_IFIFO | 0666 },   { S_IFSOCK | 04600, S_IFSOCK | 0600 },
		{ S_IFCHR | 04600, S_IFCHR | 0600 },   { S_IFDIR | 02775, S_IFDIR | 02775 },
		{ S_IFDIR | 07777, S_IFDIR | 07777 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(iot_harmless_mode(rows[i].mode), rows[i].harmless);
}

static void device_nodes_get_a_number_without_a_driver(void **state)
{
	u64 disk = makedev(8, 1), memory = makedev(1, 1), none = makedev(0, 1);

	(void)state;
	assert_int_equal(iot_harmless_rdev(S_IFBLK | 0600, disk), none);
	assert_int_equal(iot_harmless_rdev(S_IFCHR | 0600, memory), none);
	assert_int_equal(iot_harmless_rdev(S_IFCHR | 0600, makedev(0, 5)), none);
	assert_int_equal(iot_harmless_rdev(S_IFCHR | 0600, 0), 0); /* a whiteout */
	assert_int_equal(iot_harmless_rdev(S_IFREG | 0600, disk), disk); /* not used */
	assert_int_equal(iot_harmless_rdev(0600, disk), disk);
	assert_int_equal(iot_harmless_rdev(S_IFIFO | 0600, disk), disk);
}

static void capabilities_are_removed(void **state)
{
	struct vfs_ns_cap_data caps = {
		.magic_etc = VFS_CAP_REVISION_3 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 0xffffffff, .inheritable = 1 }, { .permitted = 0xff } },
		.rootid = 1000,
	};
	struct vfs_cap_data older = { .magic_etc = VFS_CAP_REVISION_2, .data[0].permitted = 1 };
	u8 odd[7] = "1234567";

	(void)state;
	assert_true(iot_harmless_value("security.capability", (u8 *)&caps, sizeof(caps)));
	assert_int_equal(caps.magic_etc, VFS_CAP_REVISION_3);
	assert_int_equal(caps.rootid, 1000);
	assert_int_equal(caps.data[0].permitted | caps.data[0].inheritable | caps.data[1].permitted |
				 caps.data[1].inheritable, 0);
	assert_true(iot_harmless_value("security.capability", (u8 *)&older, XATTR_CAPS_SZ_2));
	assert_int_equal(older.magic_etc, VFS_CAP_REVISION_2);
	assert_int_equal(older.data[0].permitted, 0);
	assert_true(iot_harmless_value("security.capability", (u8 *)&older, XATTR_CAPS_SZ_1));
	assert_int_equal(older.magic_etc, VFS_CAP_REVISION_1);
	assert_true(iot_harmless_value("security.capability", odd, sizeof(odd)));
	assert_memory_equal(odd, "\0\0\0\0\0\0\0", sizeof(odd));
	assert_true(iot_harmless_value("security.capability", odd, 0));
}

static void other_values_of_the_namespace_are_zeros(void **state)
{
	u8 label[] = "system_u:object_r:sudo_exec_t:s0", list[] = "list";

	(void)state;
	assert_true(iot_harmless_value("security.selinux", label, sizeof(label)));
	assert_int_equal(label[0] | label[sizeof(label) - 2], 0);
	assert_true(iot_harmless_value("security.capability.not", list, 1));
	assert_int_equal(list[0], 0);
	assert_false(iot_harmless_value("user.security.", list, sizeof(list)));
	assert_false(iot_harmless_value("system.posix_acl_access", list, sizeof(list)));
	assert_false(iot_harmless_value("trusted.x", list, sizeof(list)));
	assert_false(iot_harmless_value("securit", list, sizeof(list)));
	assert_string_equal(list + 1, "ist");
}

SUITE("harmless",
      TEST(modes_lose_set_user_id_bits)
      TEST(device_nodes_get_a_number_without_a_driver)
      TEST(capabilities_are_removed)
      TEST(other_values_of_the_namespace_are_zeros))
