// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * api_error.c - failures of libiotape as sentences.
 */
#include "api.h"

static int fill(struct iotape_error *error, int err, u64 offset_bytes, const char *path, const char *why)
{
	char place[32] = "";

	if (!error)
		return err;
	error->code = err;
	error->offset_bytes = offset_bytes;
	if (offset_bytes != IOTAPE_NOWHERE)
		snprintf(place, sizeof(place), ":0x%llx", offset_bytes);
	snprintf(error->sentence, sizeof(error->sentence), "%.800s%s: %s", path, place, why);
	return err;
}

/**
 * api_fail() - describe a failure that its errno explains
 * @error: filled in; may be NULL
 * @err: negative errno
 * @path: of the trace
 *
 * Return: @err.
 */
int api_fail(struct iotape_error *error, int err, const char *path)
{
	return fill(error, err, IOTAPE_NOWHERE, path, strerrordesc_np(-err));
}

/**
 * api_fail_because() - describe a failure with a specific text
 * @error: filled in; may be NULL
 * @err: negative errno
 * @path: of the trace
 * @why: end of the sentence
 *
 * Return: @err.
 */
int api_fail_because(struct iotape_error *error, int err, const char *path, const char *why)
{
	return fill(error, err, IOTAPE_NOWHERE, path, why);
}

/**
 * api_refuse() - describe the reason for the refusal of a trace
 * @error: filled in; may be NULL
 * @err: negative errno
 * @path: of the trace
 * @reject: reason and position
 *
 * Return: @err.
 */
int api_refuse(struct iotape_error *error, int err, const char *path, const struct iot_reject *reject)
{
	if (!reject->reason || reject->reason == IOT_REJECT_io || reject->reason == IOT_REJECT_memory)
		return api_fail(error, err, path);
	return fill(error, err, reject->offset_bytes, path, iot_reject_sentence(reject));
}

const char *iotape_version(void)
{
	return IOTAPE_VERSION;
}
