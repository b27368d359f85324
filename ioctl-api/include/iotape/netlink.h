/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * netlink.h - how records travel from the kernel to the collector.
 *
 * Generic netlink family "iotape", version 1. The kernel pushes; the collector
 * acknowledges nothing: the receive buffer of its socket is the flow control.
 *
 *   command        direction   attributes
 *   IOT_CMD_BIND   to kernel   IOT_ATTR_SESSION_FD: the sender's socket becomes the
 *                              receiver of the session that this descriptor of the
 *                              sender is
 *   IOT_CMD_DATA   to user     IOT_ATTR_HEAD: struct iot_message_head,
 *                              IOT_ATTR_RECORDS: whole records of one CPU, in order
 *   IOT_CMD_END    to user     IOT_ATTR_END: struct iot_message_end; nothing follows
 *   IOT_CMD_MARK   to user     IOT_ATTR_MARK: struct iot_message_mark; all records from before a request of
 *                              IOT_IOC_CTL or IOT_IOC_MARK have been sent. The collector answers the former with IOT_IOC_DONE;
 *                              one that does not know it ignores it
 */
#ifndef IOTAPE_NETLINK_H
#define IOTAPE_NETLINK_H

#include <linux/types.h>

#define IOT_GENL_NAME	 "iotape"
#define IOT_GENL_VERSION 1

enum iot_genl_command {
	IOT_CMD_UNSPEC,
	IOT_CMD_BIND,
	IOT_CMD_DATA,
	IOT_CMD_END,
	IOT_CMD_MARK,
	IOT_CMD_MAX_PLUS_1
};

enum iot_genl_attribute {
	IOT_ATTR_UNSPEC,
	IOT_ATTR_SESSION_FD, /* s32 */
	IOT_ATTR_HEAD,
	IOT_ATTR_RECORDS,
	IOT_ATTR_END,
	IOT_ATTR_MARK,
	IOT_ATTR_MAX_PLUS_1
};
#define IOT_ATTR_MAX (IOT_ATTR_MAX_PLUS_1 - 1)

/**
 * struct iot_message_head - describes the records of one message
 * @sequence: number of the first of them in its stream in this session, from 0
 * @lost: records of this stream that were dropped since the session began, up to the
 *	last record of this message
 * @first_ns: end time of the first record, monotonic clock
 * @last_ns: end time of the last one
 * @cpu: their stream: the CPU that they were made on; higher numbers are mailboxes
 * @count: number of records
 */
struct iot_message_head {
	__le64 sequence;
	__le64 lost;
	__le64 first_ns;
	__le64 last_ns;
	__le32 cpu;
	__le32 count;
};

#define IOT_REFUSED_FIRST 64 /* kinds of operations are from here */
#define IOT_REFUSED_KINDS 96

/**
 * struct iot_message_end - totals of the session, to check against what came
 * @records: records in all messages
 * @lost: records dropped
 * @waits: times a task was made to wait
 * @end_ns: when recording ended, monotonic clock
 * @refused: operations that the filter of the session did not admit; an operation that the kernel tries again may count
 *	several times. Older modules do not send it
 * @refused_of: of them those that a filter program refused, by kind from IOT_REFUSED_FIRST; sent if there was one
 */
struct iot_message_end {
	__le64 records;
	__le64 lost;
	__le64 waits;
	__le64 end_ns;
	__le64 refused;
	__le64 refused_of[IOT_REFUSED_KINDS];
};

/**
 * struct iot_message_mark - a request to the collector at this place of the stream
 * @number: for struct iot_done
 * @verb: IOT_CTL_FLUSH, IOT_CTL_DUMP, IOT_CTL_COUNTERS, or IOT_CTL_BUFFERS or IOT_CTL_MARK, which no caller waits for
 * @value: of the request
 */
struct iot_message_mark {
	__le64 number;
	__le32 verb;
	__le32 value;
};

#endif
