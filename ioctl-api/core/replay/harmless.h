/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * harmless.h - objects of a program that would give other users rights that they did not have, and the
 * replacements that a replay creates. All engines and `iotape init` use these functions.
 *
 * A target outlives its replay, and a program may come from another user. Objects that it creates must not
 * give rights to anything but the target itself:
 *
 *   created by a program                   right that it would give          created instead
 *   node of a device                       to the device                     a node of the same type with a
 *                                                                            number that no driver has
 *   set-user-id and set-group-id, except   those of the owner, which is      the same mode without them
 *   on directories                         root, or the user that replays
 *   security.capability                    capabilities                      the attribute, with none
 *   other attributes security.*            rights that a security module     the attribute, all zeros
 *                                          grants to a label or signature
 *
 * Everything else stays as it is:
 *
 *   permissions of others, access          rights to files of the target, whose contents are made up; they
 *   control lists, owners                  end with those of the target itself, see `iotape init`
 *   set-group-id, sticky on directories    the group of files created there, and the right to remove them
 *   symbolic links that lead out           none: rights are those to the file that they lead to. No part of
 *                                          iotape follows them
 *   node of the device 0:0                 none: it marks a removed name (overlayfs)
 *   named pipes, sockets                   none
 *   attributes trusted.*                   none: root alone reads them
 *   flags of files, projects               none: they take rights away, or count space
 */
#ifndef IOTAPE_CORE_HARMLESS_H
#define IOTAPE_CORE_HARMLESS_H

#include "core/port.h"

u32 iot_harmless_mode(u32 mode);
u64 iot_harmless_rdev(u32 mode, u64 rdev);
bool iot_harmless_value(const char *name, u8 *value, size_t value_bytes);

#endif
