// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - where records go: to the session that the process has joined, or to a file.
 *
 * A process that has not joined, or whose session is over, writes nothing. A child made by
 * fork(2) is not a rank: it has nothing mapped. Without a session, records go to a file if
 * requested.
 */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>

#ifdef IOT_MPI_CHECKED
#include <stdio.h>
#include <valgrind/memcheck.h>
#endif

int iot_mpi_sink = IOT_MPI_SINK_NONE;
IOT_MPI_THREAD u32 *iot_mpi_ops;

static void let_go(bool is_complete)
{
	int saved = errno;

	if (__atomic_exchange_n(&iot_mpi_sink, IOT_MPI_SINK_NONE, __ATOMIC_ACQ_REL) ==
	    IOT_MPI_SINK_FILE)
		iot_mpi_file_close(is_complete);
	errno = saved;
}

/**
 * iot_mpi_session_close() - write no more
 *
 * No other thread may be in an MPI call.
 */
void iot_mpi_session_close(void)
{
	let_go(true);
}

static void let_go_in_child(void)
{
	let_go(false);
}

/**
 * iot_mpi_session_open() - begin to take records
 * @begin_ns: when MPI began
 * @where: out: the object that caused an error
 *
 * Records go to the session that records the mount of IOTAPE_MOUNT, or else to a file in the
 * directory of IOTAPE_MPI_OUT.
 *
 * Return: 1, 0 if neither variable is set, or a negative errno.
 */
int iot_mpi_session_open(u64 begin_ns, const char **where)
{
	const char *mount = getenv("IOTAPE_MOUNT"), *dir = getenv("IOTAPE_MPI_OUT");
	int err;

	if (!mount && (!dir || !dir[0]))
		return 0;
	err = mount ? iot_mpi_mailbox_open(mount, where) : iot_mpi_file_open(dir, begin_ns, where);
	if (!err)
		err = -pthread_atfork(NULL, NULL, let_go_in_child);
	if (err)
		return err;
	__atomic_store_n(&iot_mpi_sink, mount ? IOT_MPI_SINK_MAILBOX : IOT_MPI_SINK_FILE,
			 __ATOMIC_RELEASE);
	return 1;
}

/* In the tests, under valgrind: a record in which a byte was never written ends the process. */
static void check_is_written(const u8 *record, size_t bytes)
{
#ifdef IOT_MPI_CHECKED
	if (!VALGRIND_CHECK_MEM_IS_DEFINED(record, bytes))
		return;
	fprintf(stderr, IOT_MPI_NAME ": a record of kind %u is not written as a whole\n", iot_get_u16(record + 2));
	abort();
#else
	(void)record, (void)bytes;
#endif
}

/**
 * iot_mpi_session_write() - hand a record on
 * @record: encoded
 * @bytes: its length
 *
 * After an error of the kernel, such as that the session is over, there is no further
 * attempt.
 */
void iot_mpi_session_write(u8 *record, size_t bytes)
{
	check_is_written(record, bytes);
	switch (__atomic_load_n(&iot_mpi_sink, __ATOMIC_ACQUIRE)) {
	case IOT_MPI_SINK_FILE:
		iot_mpi_file_write(record, bytes);
		break;
	case IOT_MPI_SINK_MAILBOX:
		iot_mpi_mailbox_write(record, bytes);
	}
}

/* Where the fields that the wrappers leave open lie on the wire. */
enum {
	AT_ENTER = IOT_RECORD_HEAD_BYTES,
	AT_DURATION = AT_ENTER + 8,
	AT_TASK = AT_DURATION + 8 + 8 + 8 + 4,
	AT_OP = AT_TASK + 4,
	AT_KNOWN_TASK = AT_ENTER + 8,
	AT_KNOWN_OP = AT_KNOWN_TASK + 4,
};

static u32 op_new(u32 *ops)
{
	return __atomic_add_fetch(ops, 1, __ATOMIC_RELAXED); /* in a signal handler, too */
}

/**
 * iot_mpi_record_end() - write a record that ends now
 * @record: encoded; the members that the wrapper left open are filled in
 * @task: the calling task
 * @ops: number of the last operation of the thread
 *
 * Return: the end time.
 */
u64 iot_mpi_record_end(u8 *record, u32 task, u32 *ops)
{
	u64 now_ns = iot_mpi_now_ns();

	if (iot_kind_is_mpi_known(iot_get_u16(record + 2))) {
		iot_put_u64(record + AT_ENTER, now_ns);
		iot_put_u32(record + AT_KNOWN_TASK, task);
		iot_put_u32(record + AT_KNOWN_OP, *ops);
		return now_ns;
	}
	iot_put_u64(record + AT_DURATION, now_ns - iot_get_u64(record + AT_ENTER));
	iot_put_u32(record + AT_TASK, task);
	if (!iot_get_u32(record + AT_OP))
		iot_put_u32(record + AT_OP, op_new(ops));
	return now_ns;
}

/**
 * iot_mpi_op_begin() - the thread enters a call that other operations may be nested in
 *
 * Return: the number of the call, for its record; 0 if the thread has none yet.
 */
u32 iot_mpi_op_begin(void)
{
	if (!iot_mpi_ops && iot_mpi_sink == IOT_MPI_SINK_MAILBOX)
		iot_mpi_mailbox_begin();
	return iot_mpi_ops ? op_new(iot_mpi_ops) : 0;
}

/**
 * iot_mpi_op_last() - the last operation that is nested in a call which ends now
 * @op: number of the call, or 0
 *
 * Return: its number; @op if there is none.
 */
u32 iot_mpi_op_last(u32 op)
{
	return op ? *iot_mpi_ops : 0;
}
