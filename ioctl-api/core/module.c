// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * module.c - the core as part of iotape.ko: what the other modules may call.
 *
 * Not compiled in user space.
 */
#include <linux/export.h>

#include "blocks.h"
#include "harmless.h"
#include "order.h"
#include "outcome.h"
#include "pace.h"
#include "program.h"
#include "record.h"
#include "substitute.h"

EXPORT_SYMBOL_GPL(iot_blocks_check);
EXPORT_SYMBOL_GPL(iot_blocks_init);
EXPORT_SYMBOL_GPL(iot_blocks_read);
EXPORT_SYMBOL_GPL(iot_harmless_mode);
EXPORT_SYMBOL_GPL(iot_harmless_rdev);
EXPORT_SYMBOL_GPL(iot_harmless_value);
EXPORT_SYMBOL_GPL(iot_is_unable);
EXPORT_SYMBOL_GPL(iot_lateness_bucket);
EXPORT_SYMBOL_GPL(iot_lateness_limit);
EXPORT_SYMBOL_GPL(iot_order_init);
EXPORT_SYMBOL_GPL(iot_outcome_fill);
EXPORT_SYMBOL_GPL(iot_pace_begin);
EXPORT_SYMBOL_GPL(iot_pace_late);
EXPORT_SYMBOL_GPL(iot_pace_until);
EXPORT_SYMBOL_GPL(iot_path_piece);
EXPORT_SYMBOL_GPL(iot_program_place);
EXPORT_SYMBOL_GPL(iot_program_scratch_count);
EXPORT_SYMBOL_GPL(iot_program_size);
EXPORT_SYMBOL_GPL(iot_program_verify);
EXPORT_SYMBOL_GPL(iot_record_encode);
EXPORT_SYMBOL_GPL(iot_refuse);
EXPORT_SYMBOL_GPL(iot_section_bytes);
EXPORT_SYMBOL_GPL(iot_substitute);
