// SPDX-License-Identifier: GPL-2.0-only
/*
 * ctl.c - changes a session while it runs: pause, resume, stop, flush, policy, buffers, mmap, dump, filter, counters.
 *
 * Each change has a record `control`. A change that needs the sender or the collector is passed on as a mark: the
 * sender takes it between two messages, sends all records from before it, and then the mark. The caller waits for
 * the answer, at most until the recording ends.
 *
 * Operations are recorded as a whole or not at all: a pause is decided at their entry (gate.c), and so is a filter, with
 * the exception of operations that it decides on at their end: for these the program at the end counts. The other
 * changes concern buffers, not operations.
 */
#include "ctl.h"

#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "debug.h"
#include "filter.h"
#include "session.h"

#define AGAIN_MS 20 /* until there may be room for a record */

/**
 * iot_ctl_is_permitted() - may current list a session and change it?
 * @session: any; NULL: may current make sessions, and list and change all?
 *
 * The only place that decides on rights over sessions. A session that is restricted to a user is that user's. A task that has the
 * descriptor of a session needs no permission for that session.
 */
bool iot_ctl_is_permitted(const struct iot_session *session)
{
	return (session && iot_only_is_of_current(&session->only)) || capable(CAP_SYS_ADMIN);
}

/**
 * iot_ctl_get() - a session by its number, if current may change it
 * @number: of the session
 *
 * Return: the session with a reference; -ENOENT if there is none; -EPERM also if current could not know of it.
 */
struct iot_session *iot_ctl_get(u64 number)
{
	struct iot_session *session = iot_session_get(number);

	if (iot_ctl_is_permitted(session))
		return session ?: ERR_PTR(-ENOENT);
	if (session)
		iot_session_put(session);
	return ERR_PTR(iot_refuse(-EPERM, "session %llu: without CAP_SYS_ADMIN", number));
}

/**
 * iot_ctl_init() - no change yet
 * @session: being made
 */
void iot_ctl_init(struct iot_session *session)
{
	mutex_init(&session->control.lock);
	init_waitqueue_head(&session->control.wait);
}

/**
 * iot_ctl_exit() - free the state that changes have left
 * @session: no longer in use
 */
void iot_ctl_exit(struct iot_session *session)
{
	kfree(session->control.text);
	kfree(session->control.filter);
}

/* -- records ---------------------------------------------------------------------------------- */

static bool is_over(const struct iot_session *session)
{
	return !READ_ONCE(session->is_running);
}

/*
 * A change that has no record would falsify the trace, so the caller waits for room, whatever the policy. Attempts
 * without room count as lost records. Return: 0, also if the recording ends; -EINTR.
 */
static int wait_for_room(struct iot_session *session)
{
	return wait_event_interruptible_timeout(session->control.wait, is_over(session), msecs_to_jiffies(AGAIN_MS)) < 0 ?
		       -EINTR :
		       0;
}

/* Return: 0; -EPIPE if the session does not record; -ENOBUFS. */
static int control_emit(struct iot_session *session, struct iot_rec_control *r)
{
	int err = -EPIPE;

	if (iot_session_enter(session)) {
		if (!r->since_ns)
			r->since_ns = ktime_get_mono_fast_ns();
		err = IOT_EMIT_EVENT(session, control, r, NULL, 0) ? 0 : -ENOBUFS;
		iot_session_leave();
	}
	return err;
}

static int control_record(struct iot_session *session, struct iot_rec_control *r)
{
	int err;

	while ((err = control_emit(session, r)) == -ENOBUFS)
		if (wait_for_room(session))
			return -EINTR;
	return err;
}

static u64 left_out(const struct iot_session *session)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(session->channels, cpu)->left_out);
	return sum;
}

/* -- marks ------------------------------------------------------------------------------------ */

/**
 * iot_ctl_is_due() - is there something for the sender to do?
 * @session: the caller is its sender
 * @mark: out: what
 *
 * Return: true once for each mark.
 */
bool iot_ctl_is_due(struct iot_session *session, struct iot_message_mark *mark)
{
	struct iot_ctl_state *control = &session->control;

	if (!READ_ONCE(control->is_due))
		return false;
	/* The caller of this mark may have been interrupted, and the next caller may be writing its mark. */
	spin_lock(&control->wait.lock);
	*mark = control->mark;
	control->is_due = false;
	spin_unlock(&control->wait.lock);
	return true;
}

/**
 * iot_ctl_done() - answer a mark
 * @session: any
 * @number: of the mark; that of another one is ignored
 * @err: 0 or a negative errno
 */
void iot_ctl_done(struct iot_session *session, u64 number, int err)
{
	struct iot_ctl_state *control = &session->control;

	spin_lock(&control->wait.lock);
	if (control->is_waited_for && le64_to_cpu(control->mark.number) == number) {
		control->err = err;
		control->is_waited_for = false;
		wake_up_all_locked(&control->wait);
	}
	spin_unlock(&control->wait.lock);
}

/**
 * iot_ctl_answer() - IOT_IOC_DONE
 * @session: whose collector answers
 * @number: of the mark
 * @err: 0 or a negative errno
 *
 * Return: 0; -EINVAL if no change waits for that number.
 */
int iot_ctl_answer(struct iot_session *session, u64 number, int err)
{
	struct iot_ctl_state *control = &session->control;
	bool is_known;

	spin_lock(&control->wait.lock);
	is_known = control->is_waited_for && le64_to_cpu(control->mark.number) == number;
	spin_unlock(&control->wait.lock);
	if (!is_known)
		return iot_refuse(-EINVAL, "done: no change waits for %llu", number);
	iot_ctl_done(session, number, err);
	return 0;
}

/**
 * iot_ctl_wake() - end all waits, because the recording has ended
 * @session: any
 */
void iot_ctl_wake(struct iot_session *session)
{
	wake_up_all(&session->control.wait);
}

/* Return: the number of the mark. */
static u64 mark_begin(struct iot_session *session, u32 verb, u32 value, bool is_waited_for)
{
	struct iot_ctl_state *control = &session->control;
	u64 number;

	lockdep_assert_held(&control->lock);
	spin_lock(&control->wait.lock);
	number = le64_to_cpu(control->mark.number) + 1;
	control->mark = (struct iot_message_mark){
		.number = cpu_to_le64(number),
		.verb = cpu_to_le32(verb),
		.value = cpu_to_le32(value),
	};
	control->is_waited_for = is_waited_for;
	WRITE_ONCE(control->is_due, true);
	spin_unlock(&control->wait.lock);
	iot_session_kick(session);
	return number;
}

/* Return: the answer; -EINTR; -EPIPE if the recording ended before it came. */
static int control_mark(struct iot_session *session, u32 verb, u32 value)
{
	struct iot_ctl_state *control = &session->control;
	int err;

	mark_begin(session, verb, value, true);
	err = wait_event_interruptible(control->wait, !READ_ONCE(control->is_waited_for) || is_over(session));
	spin_lock(&control->wait.lock);
	if (!control->is_waited_for)
		err = control->err;
	else
		err = err ? -EINTR : -EPIPE;
	control->is_waited_for = false;
	spin_unlock(&control->wait.lock);
	return err;
}

static u64 refused(const struct iot_session *session)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(session->channels, cpu)->refused);
	return sum;
}

/**
 * iot_ctl_mark() - IOT_IOC_MARK
 * @session: whose collector wants a mark
 * @mark: out: its number, and the operations refused so far
 *
 * Does not sleep on the lock: its holder may wait for an answer of the caller.
 *
 * Return: 0; -EBUSY if a change is under way; -EPIPE if the session does not record.
 */
int iot_ctl_mark(struct iot_session *session, struct iot_mark *mark)
{
	if (is_over(session))
		return -EPIPE;
	if (!mutex_trylock(&session->control.lock))
		return -EBUSY;
	mark->refused = refused(session);
	mark->number = mark_begin(session, IOT_CTL_MARK, 0, false);
	mutex_unlock(&session->control.lock);
	return 0;
}

/* -- verbs ------------------------------------------------------------------------------------ */

/*
 * An operation that is entered while the flag is being set may be admitted or not; when the grace period has passed,
 * none is admitted any more.
 */
static int session_pause(struct iot_session *session, struct iot_rec_control *r)
{
	struct iot_ctl_state *control = &session->control;
	int err = 0;

	mutex_lock(&iot_control_lock);
	if (is_over(session))
		err = -EINVAL;
	else if (control->pause_ns)
		err = -EALREADY;
	if (!err) {
		control->pause_left_out = left_out(session);
		control->pause_ns = ktime_get_mono_fast_ns();
		control->pauses++;
		r->since_ns = control->pause_ns;
		iot_gate_pause(&session->gate, true);
	}
	mutex_unlock(&iot_control_lock);
	if (err)
		return err;
	synchronize_rcu();
	return control_record(session, r);
}

/* Return: operations that the pause left out. The pause is over. */
static u64 pause_end(struct iot_session *session, u64 now_ns)
{
	struct iot_ctl_state *control = &session->control;

	lockdep_assert_held(&iot_control_lock);
	control->paused_ns += now_ns - control->pause_ns;
	control->pause_ns = 0;
	return left_out(session) - control->pause_left_out;
}

/*
 * The count is final after another grace period, during which others need iot_control_lock. If the session ends
 * meanwhile, iot_ctl_ends() has recorded the end of the pause.
 */
static int session_resume(struct iot_session *session, struct iot_rec_control *r)
{
	struct iot_ctl_state *control = &session->control;
	int err = 0;

	lockdep_assert_held(&control->lock);
	mutex_lock(&iot_control_lock);
	if (is_over(session))
		err = -EINVAL;
	else if (!control->pause_ns)
		err = -EALREADY;
	if (!err) {
		r->since_ns = ktime_get_mono_fast_ns();
		iot_gate_pause(&session->gate, false);
	}
	mutex_unlock(&iot_control_lock);
	if (err)
		return err;
	synchronize_rcu();
	mutex_lock(&iot_control_lock);
	if (control->pause_ns)
		r->operations = pause_end(session, r->since_ns);
	else
		err = -EPIPE;
	mutex_unlock(&iot_control_lock);
	return err ?: control_record(session, r);
}

/**
 * iot_ctl_ends() - the recording is about to end: if that ends a pause, record the number of operations left out
 * @session: iot_control_lock is held, so there is no wait for room: without the record, the number is unknown
 */
void iot_ctl_ends(struct iot_session *session)
{
	struct iot_ctl_state *control = &session->control;
	struct iot_rec_control r = { .verb = IOT_VERB_stop, .uid = ~0u };

	lockdep_assert_held(&iot_control_lock);
	if (!control->pause_ns)
		return;
	r.operations = pause_end(session, ktime_get_mono_fast_ns());
	control_emit(session, &r);
}

static int session_stop(struct iot_session *session, struct iot_rec_control *r)
{
	int err = control_record(session, r);

	if (!err)
		err = iot_session_stop(session);
	return err;
}

static int session_set_policy(struct iot_session *session, struct iot_rec_control *r)
{
	if (r->value > IOT_POLICY_DROP)
		return -EINVAL;
	WRITE_ONCE(session->policy, r->value);
	iot_backpressure_wake(session); /* under `drop` no task waits */
	return control_record(session, r);
}

static int session_set_buffers(struct iot_session *session, struct iot_rec_control *r)
{
	int err;

	if (r->value < IOT_BUFFERS_MIN || r->value > (session->only.is_on ? IOT_ONLY_BUFFERS_MAX : IOT_BUFFERS_MAX))
		return -EINVAL;
	err = control_mark(session, r->verb, r->value);
	return err ?: control_record(session, r);
}

static int session_set_mmap(struct iot_session *session, struct iot_rec_control *r)
{
	int err;

	if (r->value > IOT_MMAP_PAGE)
		return -EINVAL;
	err = iot_session_set_mmap(session, r->value);
	return err ?: control_record(session, r);
}

/* The collector acts once it has all earlier records. */
static int session_ask(struct iot_session *session, struct iot_rec_control *r)
{
	int err = control_record(session, r);

	return err ?: control_mark(session, r->verb, 0);
}

static int session_change(struct iot_session *session, const struct iot_ctl *ctl)
{
	struct iot_rec_control r = {
		.verb = ctl->verb,
		.value = ctl->value,
		.uid = from_kuid(&init_user_ns, current_uid()),
	};
	bool has_value = ctl->verb >= IOT_CTL_POLICY && ctl->verb <= IOT_CTL_MMAP;

	if (is_over(session) || (ctl->value && !has_value))
		return -EINVAL;
	switch (ctl->verb) {
	case IOT_CTL_PAUSE:
		return session_pause(session, &r);
	case IOT_CTL_RESUME:
		return session_resume(session, &r);
	case IOT_CTL_STOP:
		r.value = 1;
		return session_stop(session, &r);
	case IOT_CTL_POLICY:
		return session_set_policy(session, &r);
	case IOT_CTL_BUFFERS:
		return session_set_buffers(session, &r);
	case IOT_CTL_MMAP:
		return session_set_mmap(session, &r);
	case IOT_CTL_FLUSH:
	case IOT_CTL_DUMP:
	case IOT_CTL_COUNTERS:
		return session_ask(session, &r);
	default:
		return -EINVAL;
	}
}

/**
 * iot_ctl_change() - IOT_IOC_CTL
 * @arg: of the ioctl
 *
 * Return: 0 or a negative errno, see struct iot_ctl.
 */
int iot_ctl_change(const struct iot_ctl __user *arg)
{
	struct iot_session *session;
	struct iot_ctl ctl;
	int err;

	if (copy_from_user(&ctl, arg, sizeof(ctl)))
		return -EFAULT;
	session = iot_ctl_get(ctl.session);
	if (IS_ERR(session))
		return PTR_ERR(session);
	err = -EINTR;
	if (!mutex_lock_interruptible(&session->control.lock)) {
		err = session_change(session, &ctl);
		mutex_unlock(&session->control.lock);
	}
	iot_session_put(session);
	if (err)
		iot_refuse(err, "ctl: session %llu, verb %u, value %u", ctl.session, ctl.verb, ctl.value);
	return err;
}

/* -- filters ---------------------------------------------------------------------------------- */

#define FILTER_FACT	  "filter="
#define FILTER_FACT_BYTES (sizeof(FILTER_FACT) - 1)

/**
 * struct refilter - a request, copied from its caller and verified
 * @program: NULL if there is to be none
 * @fact: text of the record, which is not written without a program
 * @fact_bytes: of @fact
 */
struct refilter {
	struct iot_gate_program *program;
	char *fact;
	u32 fact_bytes;
};

static void refilter_free(struct refilter *filter)
{
	iot_program_free(filter->program);
	kfree(filter->fact);
}

static int fact_copy(struct refilter *filter, const struct iot_refilter *from)
{
	filter->fact_bytes = FILTER_FACT_BYTES + from->text_bytes;
	filter->fact = kmalloc(filter->fact_bytes, GFP_KERNEL_ACCOUNT);
	if (!filter->fact)
		return -ENOMEM;
	memcpy(filter->fact, FILTER_FACT, FILTER_FACT_BYTES);
	if (copy_from_user(filter->fact + FILTER_FACT_BYTES, u64_to_user_ptr(from->text), from->text_bytes))
		return -EFAULT;
	return 0;
}

static int program_copy(struct refilter *filter, const struct iot_refilter *from)
{
	void *bytes = vmemdup_user(u64_to_user_ptr(from->program), from->bytes);
	struct iot_gate_program *program;

	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	program = iot_program_new(bytes, from->bytes);
	kvfree(bytes);
	if (IS_ERR(program))
		return PTR_ERR(program);
	filter->program = program;
	return 0;
}

/* Return: 0 or a negative errno; in both cases refilter_free() is due. */
static int refilter_copy(struct refilter *filter, const struct iot_refilter *from)
{
	int err;

	*filter = (struct refilter){};
	if (from->bytes > IOT_FILTER_BYTES_MAX || from->text_bytes > IOT_REFILTER_TEXT_MAX_BYTES ||
	    !from->bytes != !from->text_bytes)
		return -EINVAL;
	err = fact_copy(filter, from);
	if (!err && from->bytes)
		err = program_copy(filter, from);
	return err;
}

/* Return: 0; -EPIPE if the session does not record; -ENOBUFS. */
static int fact_emit(struct iot_session *session, const struct refilter *filter)
{
	struct iot_rec_fact r = {};
	int err = -EPIPE;

	if (iot_session_enter(session)) {
		err = IOT_EMIT_EVENT(session, fact, &r, filter->fact, filter->fact_bytes) ? 0 : -ENOBUFS;
		iot_session_leave();
	}
	return err;
}

static int fact_record(struct iot_session *session, const struct refilter *filter)
{
	int err;

	while ((err = fact_emit(session, filter)) == -ENOBUFS)
		if (wait_for_room(session))
			return -EINTR;
	return err;
}

/* The session takes the program and the text over, unless the recording has ended. */
static int program_set(struct iot_session *session, struct refilter *filter, struct iot_rec_control *r)
{
	int err = 0;

	mutex_lock(&iot_control_lock);
	if (is_over(session)) {
		err = -EPIPE;
	} else {
		r->since_ns = ktime_get_mono_fast_ns();
		iot_gate_set_program(session, filter->program);
		filter->program = NULL;
		swap(session->control.filter, filter->fact);
		session->control.filter_bytes = filter->fact_bytes;
	}
	mutex_unlock(&iot_control_lock);
	return err;
}

/* Without a mount there are no operations: those of a replay, for example, are not filtered. */
static bool has_mount(struct iot_session *session)
{
	struct iot_status status;

	mutex_lock(&iot_control_lock);
	iot_session_counts(session, &status);
	mutex_unlock(&iot_control_lock);
	return status.mounts;
}

/*
 * The collector agrees first. The fact precedes the change, so that a trace that ends in between has it; then nothing
 * can fail but the recording itself.
 */
static int session_refilter(struct iot_session *session, struct refilter *filter)
{
	struct iot_rec_control r = {
		.verb = IOT_VERB_filter,
		.value = !!filter->program,
		.uid = from_kuid(&init_user_ns, current_uid()),
	};
	int err;

	if (is_over(session))
		return -EINVAL;
	if (!has_mount(session))
		return -EOPNOTSUPP;
	err = control_mark(session, r.verb, r.value);
	if (!err && filter->program)
		err = fact_record(session, filter);
	if (!err)
		err = program_set(session, filter, &r);
	if (err)
		return err;
	synchronize_rcu();
	return control_record(session, &r);
}

static int refilter_find(struct refilter *filter, u64 number)
{
	struct iot_session *session = iot_ctl_get(number);
	int err = -EINTR;

	if (IS_ERR(session))
		return PTR_ERR(session);
	if (!mutex_lock_interruptible(&session->control.lock)) {
		err = session_refilter(session, filter);
		mutex_unlock(&session->control.lock);
	}
	iot_session_put(session);
	return err;
}

static int refilter(const struct iot_refilter *request)
{
	struct refilter filter;
	int err = refilter_copy(&filter, request);

	if (!err)
		err = refilter_find(&filter, request->session);
	refilter_free(&filter);
	return err;
}

/**
 * iot_ctl_refilter() - IOT_IOC_REFILTER
 * @arg: of the ioctl
 *
 * Return: 0 or a negative errno, see struct iot_refilter.
 */
int iot_ctl_refilter(const struct iot_refilter __user *arg)
{
	struct iot_refilter request;
	int err;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	err = refilter(&request);
	if (err)
		iot_refuse(err, "refilter: session %llu, %u bytes", request.session, request.bytes);
	return err;
}

/* -- what others may learn of a session ------------------------------------------------------- */

/**
 * iot_ctl_describe() - IOT_IOC_DESCRIBE
 * @session: any
 * @text: of the caller
 * @bytes: of it
 *
 * Return: 0 or a negative errno.
 */
int iot_ctl_describe(struct iot_session *session, const void __user *text, u32 bytes)
{
	char *copy = bytes ? memdup_user(text, bytes) : NULL;

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	mutex_lock(&iot_control_lock);
	swap(session->control.text, copy);
	session->control.text_bytes = bytes;
	mutex_unlock(&iot_control_lock);
	kfree(copy);
	return 0;
}

/* A filter that was set at run time follows the description of the recorder, as another line. */
static size_t filter_fill(const struct iot_ctl_state *control, char *room, size_t room_bytes)
{
	size_t i;

	if (!control->filter || control->filter_bytes >= room_bytes)
		return 0;
	for (i = 0; i < control->filter_bytes; i++)
		room[i] = iscntrl(control->filter[i]) ? ' ' : control->filter[i];
	room[i++] = '\n';
	return i;
}

/* The text of the recorder, and the paths of the mounts. */
static u32 texts_fill(const struct iot_session *session, char *room, size_t room_bytes)
{
	const struct iot_ctl_state *control = &session->control;
	size_t at = min_t(size_t, control->text_bytes, room_bytes ? room_bytes - 1 : 0);

	if (!room_bytes)
		return 0;
	memcpy(room, control->text, at);
	at += filter_fill(control, room + at, room_bytes - 1 - at);
	room[at++] = 0;
	return at + iot_session_paths(session, room + at, room_bytes - at);
}

static void info_count(const struct iot_session *session, struct iot_info *info)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct iot_channel *channel = per_cpu_ptr(session->channels, cpu);

		info->cpus++;
		info->refused += READ_ONCE(channel->refused);
		info->announced += READ_ONCE(channel->announced);
	}
	info->left_out = left_out(session);
}

static void info_fill(const struct iot_session *session, struct iot_info *info, char *texts)
{
	const struct iot_ctl_state *control = &session->control;
	struct iot_status status;
	u64 now_ns = ktime_get_mono_fast_ns();

	iot_session_counts(session, &status);
	*info = (struct iot_info){
		.session = session->number,
		.text = info->text,
		.room = info->room,
		.text_bytes = texts_fill(session, texts, info->room),
		.state = status.state,
		.policy = status.policy,
		.collector = status.collector,
		.mounts = status.mounts,
		.buffers = READ_ONCE(session->buffers),
		.behind = max(atomic_read(&session->backpressure.behind), 0),
		.flush_ms = session->flush_ms,
		.flags = (control->pause_ns ? IOT_INFO_PAUSED : 0) | (session->has_wakes ? IOT_INFO_WAKES : 0) |
			 (rcu_access_pointer(session->counters) ? IOT_INFO_COUNTERS : 0) |
			 (iot_delays_are_on(&session->delays) ? IOT_INFO_DELAYS : 0) |
			 (session->gate.is_filter || rcu_access_pointer(session->gate.program) ? IOT_INFO_FILTERED : 0),
		.uid = from_kuid_munged(current_user_ns(), session->user),
		.pauses = control->pauses,
		.created_ns = session->created_ns,
		.started_ns = session->start_ns,
		.ended_ns = session->end_ns,
		.now_ns = now_ns,
		.paused_ns = control->paused_ns + (control->pause_ns ? now_ns - control->pause_ns : 0),
		.records = status.records,
		.lost = status.lost,
		.waits = status.waits,
		.sent_bytes = status.sent_bytes,
		.sent_records = READ_ONCE(session->sent_records),
	};
	info_count(session, info);
}

/**
 * iot_ctl_info() - IOT_IOC_INFO
 * @arg: of the ioctl
 *
 * Return: 0 or a negative errno.
 */
int iot_ctl_info(struct iot_info __user *arg)
{
	struct iot_session *session;
	struct iot_info info;
	char *texts;
	int err = 0;

	if (copy_from_user(&info, arg, sizeof(info)))
		return -EFAULT;
	if (info.room > IOT_INFO_TEXT_MAX_BYTES)
		return iot_refuse(-EINVAL, "info: too much room");
	texts = kvzalloc(info.room, GFP_KERNEL_ACCOUNT);
	if (info.room && !texts)
		return -ENOMEM;
	mutex_lock(&iot_control_lock);
	session = iot_session_find_locked(info.session);
	if (!iot_ctl_is_permitted(session))
		err = iot_refuse(-EPERM, "info: session %llu: without CAP_SYS_ADMIN", info.session);
	else if (session)
		info_fill(session, &info, texts);
	else
		err = -ENOENT;
	mutex_unlock(&iot_control_lock);
	if (!err && (copy_to_user(u64_to_user_ptr(info.text), texts, info.text_bytes) ||
		     copy_to_user(arg, &info, sizeof(info))))
		err = -EFAULT;
	kvfree(texts);
	return err;
}
