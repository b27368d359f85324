// SPDX-License-Identifier: GPL-2.0-only
/*
 * control.c - /dev/iotape: a descriptor becomes a session, or joins one.
 */
#include <iotape/control.h>

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "alive.h"
#include "counters.h"
#include "debug.h"
#include "filter.h"
#include "joined.h"
#include "mailbox.h"
#include "session.h"
#include "wakes.h"

/**
 * struct control - the state of a descriptor
 * @lock: held when the descriptor becomes a session or joins one
 * @session: the session that the descriptor is
 * @joined: the session that it may add records to
 */
struct control {
	struct mutex lock;
	struct iot_session *session;
	struct iot_session *joined;
};

static const struct file_operations control_fops;

/**
 * iot_control_session() - the session that a file is
 * @file: any file
 *
 * Return: the session, which lives at least as long as the file; NULL if the file is
 * something else.
 */
struct iot_session *iot_control_session(struct file *file)
{
	struct control *control = file->private_data;

	if (file->f_op != &control_fops)
		return NULL;
	return READ_ONCE(control->session);
}

static int control_open(struct inode *inode, struct file *file)
{
	struct control *control = kzalloc(sizeof(*control), GFP_KERNEL_ACCOUNT);

	if (!control)
		return -ENOMEM;
	mutex_init(&control->lock);
	file->private_data = control;
	return 0;
}

static int control_release(struct inode *inode, struct file *file)
{
	struct control *control = file->private_data;

	if (control->session)
		iot_session_close(control->session);
	if (control->joined)
		iot_session_put(control->joined);
	kfree(control);
	return 0;
}

static int control_query(void __user *arg)
{
	struct iot_query query = {
		.version = IOT_CONTROL_VERSION,
#define COUNT_KIND(id, kind, group, sentence) +1
		.kinds = 0 IOT_RECORDS(COUNT_KIND),
#undef COUNT_KIND
		.features = IOT_FEATURE_ADMIT | IOT_FEATURE_FILTER | IOT_FEATURE_PROGRAM | IOT_FEATURE_CTL |
			    IOT_FEATURE_COUNTERS | IOT_FEATURE_TURN | IOT_FEATURE_REFILTER | IOT_FEATURE_STACKS | IOT_FEATURE_ONLY |
			    IOT_FEATURE_MARK |
			    (iot_delays_can() ? IOT_FEATURE_DELAY | IOT_FEATURE_HOLD : 0) | (iot_wakes_can() ? IOT_FEATURE_WAKES : 0),
	};

	return copy_to_user(arg, &query, sizeof(query)) ? -EFAULT : 0;
}

/* Return: the reason why a request is invalid; NULL if it is valid. */
static const char *create_fault(const struct iot_create *create)
{
	if (create->policy > IOT_POLICY_DROP)
		return "unknown policy";
	if (create->flags & ~IOT_CREATE_WAKES)
		return "unknown flags";
	if (create->session)
		return "the number of the session is not zero";
	if (create->buffers < IOT_BUFFERS_MIN || create->buffers > IOT_BUFFERS_MAX)
		return "number of buffers out of range";
	if (create->flush_ms < IOT_FLUSH_MS_MIN || create->flush_ms > IOT_FLUSH_MS_MAX)
		return "flush_ms out of range";
	return NULL;
}

static int control_create(struct control *control, struct iot_create __user *arg)
{
	struct iot_session *session;
	struct iot_create create;
	const char *fault;

	if (!iot_ctl_is_permitted(NULL))
		return iot_refuse(-EPERM, "create: without CAP_SYS_ADMIN");
	if (copy_from_user(&create, arg, sizeof(create)))
		return -EFAULT;
	fault = create_fault(&create);
	if (fault)
		return iot_refuse(-EINVAL, "create: %s", fault);
	if (control->session || control->joined)
		return iot_refuse(-EBUSY, "create: the descriptor is a session, or has joined one");
	session = iot_session_new(&create);
	if (IS_ERR(session))
		return PTR_ERR(session);
	if (put_user(session->number, &arg->session)) {
		iot_session_close(session);
		return -EFAULT;
	}
	smp_store_release(&control->session, session); /* for readers without the lock */
	return 0;
}

/*
 * The super block of a directory that the caller has open. A descriptor of O_PATH suffices: its open does not reach
 * the file system, so a joining process leaves no operations in the trace.
 */
static struct super_block *dir_sb_get(int dir_fd, struct file **dir)
{
	*dir = fget_raw(dir_fd);
	if (!*dir)
		return ERR_PTR(iot_refuse(-EBADF, "descriptor %d of the directory is not open", dir_fd));
	if (!S_ISDIR(file_inode(*dir)->i_mode)) {
		fput(*dir);
		return ERR_PTR(iot_refuse(-ENOTDIR, "descriptor %d is no directory", dir_fd));
	}
	return file_inode(*dir)->i_sb;
}

static int control_attach(struct control *control, const void __user *arg)
{
	struct iot_attach attach;
	struct super_block *sb;
	struct file *dir;
	int err;

	if (!control->session)
		return iot_refuse(-EINVAL, "attach: the descriptor is no session");
	if (copy_from_user(&attach, arg, sizeof(attach)))
		return -EFAULT;
	if (attach.reserved)
		return iot_refuse(-EINVAL, "attach: reserved is not zero");
	sb = dir_sb_get(attach.dir_fd, &dir);
	if (IS_ERR(sb))
		return PTR_ERR(sb);
	err = iot_session_attach(control->session, dir->f_path.mnt);
	fput(dir);
	return err;
}

static int control_admit(struct control *control, const void __user *arg)
{
	struct iot_admit admit;
	int err;

	if (!control->session)
		return iot_refuse(-EINVAL, "admit: the descriptor is no session");
	if (copy_from_user(&admit, arg, sizeof(admit)))
		return -EFAULT;
	err = iot_session_admit(control->session, &admit);
	if (err)
		iot_refuse(err, "admit: %s", err == -ENOSPC ? "too many users and groups" :
					     err == -EPERM  ? "the session is restricted to one user" :
							      "no such user or group");
	return err;
}

static int control_only(struct control *control, const void __user *arg)
{
	struct iot_only_user only;

	if (!control->session)
		return iot_refuse(-EINVAL, "only: the descriptor is no session");
	if (copy_from_user(&only, arg, sizeof(only)))
		return -EFAULT;
	return iot_only_set(control->session, &only);
}

static int control_filter(struct control *control, const void __user *arg)
{
	struct iot_filter filter;

	if (!control->session)
		return iot_refuse(-EINVAL, "filter: the descriptor is no session");
	if (copy_from_user(&filter, arg, sizeof(filter)))
		return -EFAULT;
	return iot_session_filter(control->session, &filter);
}

static int control_stacks(struct control *control, const void __user *arg)
{
	struct iot_stacks stacks;

	if (!control->session)
		return iot_refuse(-EINVAL, "stacks: the descriptor is no session");
	if (copy_from_user(&stacks, arg, sizeof(stacks)))
		return -EFAULT;
	return iot_session_stacks(control->session, &stacks);
}

static int control_program(struct control *control, const void __user *arg)
{
	struct iot_gate_program *verified;
	struct iot_filter_program program;
	void *bytes;

	if (!control->session)
		return iot_refuse(-EINVAL, "program: the descriptor is no session");
	if (copy_from_user(&program, arg, sizeof(program)))
		return -EFAULT;
	if (program.reserved || program.bytes > IOT_FILTER_BYTES_MAX)
		return iot_refuse(-EINVAL, "program: too large, or reserved is not zero");
	bytes = vmemdup_user(u64_to_user_ptr(program.program), program.bytes);
	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	verified = program.bytes ? iot_program_new(bytes, program.bytes) : NULL;
	kvfree(bytes);
	if (IS_ERR(verified))
		return iot_refuse(PTR_ERR(verified), "program: not a filter program, or no memory for it");
	mutex_lock(&iot_control_lock);
	iot_gate_set_program(control->session, verified);
	mutex_unlock(&iot_control_lock);
	return 0;
}

#define COUNT_KEYS (IOT_COUNT_OBJECT | IOT_COUNT_PROCESS | IOT_COUNT_COMMAND | IOT_COUNT_USER | IOT_COUNT_MOUNT)
#define TASK_KEYS  (IOT_COUNT_PROCESS | IOT_COUNT_COMMAND)

static int control_count(struct control *control, const void __user *arg)
{
	struct iot_count count;

	if (!control->session)
		return iot_refuse(-EINVAL, "count: the descriptor is no session");
	if (copy_from_user(&count, arg, sizeof(count)))
		return -EFAULT;
	if (count.keys & ~COUNT_KEYS || (count.keys & TASK_KEYS) == TASK_KEYS || count.rows < IOT_COUNTERS_ROWS_MIN ||
	    count.rows > IOT_COUNTERS_ROWS_MAX)
		return iot_refuse(-EINVAL, "count: number of rows out of range, or keys unknown or not possible together");
	return iot_session_count(control->session, &count);
}

static int control_turn(struct control *control)
{
	if (!control->session)
		return iot_refuse(-EINVAL, "turn: the descriptor is no session");
	return iot_counters_turn(control->session);
}

/* Return: the reason why a request is invalid; NULL if it is valid. */
static const char *delay_fault(const struct iot_delay *delay)
{
	const u64 times_ns[] = { delay->asleep_ns, delay->idle_ns, delay->limit_ns, delay->total_ns };
	size_t i;

	if (delay->flags & ~IOT_DELAY_HOLD)
		return "unknown flags";
	if (!delay->period || delay->period > IOT_DELAY_PERIOD_MAX || delay->phase >= delay->period)
		return "period or phase out of range";
	for (i = 0; i < ARRAY_SIZE(times_ns); i++)
		if (times_ns[i] < IOT_DELAY_MIN_NS || times_ns[i] > IOT_DELAY_MAX_NS)
			return "a time is out of range";
	return NULL;
}

static int control_delay(struct control *control, const void __user *arg)
{
	struct iot_delay delay;
	const char *fault;

	if (!control->session)
		return iot_refuse(-EINVAL, "delay: the descriptor is no session");
	if (copy_from_user(&delay, arg, sizeof(delay)))
		return -EFAULT;
	fault = delay_fault(&delay);
	return fault ? iot_refuse(-EINVAL, "delay: %s", fault) : iot_session_delay(control->session, &delay);
}

static int control_look(struct control *control, struct iot_look_all __user *arg)
{
	struct iot_look_all look;
	int err;

	if (!control->session)
		return iot_refuse(-EINVAL, "look: the descriptor is no session");
	if (copy_from_user(&look, arg, sizeof(look)))
		return -EFAULT;
	if (look.flags & ~IOT_LOOK_ANEW || look.reserved || look.reserved_too)
		return iot_refuse(-EINVAL, "look: unknown flags, or reserved is not zero");
	err = iot_delays_look(control->session, &look);
	return err ?: copy_to_user(arg, &look, sizeof(look)) ? -EFAULT : 0;
}

static int control_release_delay(struct control *control, const void __user *arg)
{
	struct iot_release release;

	if (!control->session)
		return iot_refuse(-EINVAL, "release: the descriptor is no session");
	if (copy_from_user(&release, arg, sizeof(release)))
		return -EFAULT;
	if (release.flags & ~IOT_RELEASE_ALL || release.reserved || (release.flags & IOT_RELEASE_ALL && release.number))
		return iot_refuse(-EINVAL, "release: unknown flags, reserved is not zero, or one delay and all");
	return iot_delays_release(&control->session->delays, &release);
}

static int control_done(struct control *control, const void __user *arg)
{
	struct iot_done done;

	if (!control->session)
		return iot_refuse(-EINVAL, "done: the descriptor is no session");
	if (copy_from_user(&done, arg, sizeof(done)))
		return -EFAULT;
	if (done.reserved || done.err > 0 || done.err < -MAX_ERRNO)
		return iot_refuse(-EINVAL, "done: no errno, or reserved is not zero");
	return iot_ctl_answer(control->session, done.number, done.err);
}

static int control_mark(struct control *control, void __user *arg)
{
	struct iot_mark mark;
	int err;

	if (!control->session)
		return iot_refuse(-EINVAL, "mark: the descriptor is no session");
	if (copy_from_user(&mark, arg, sizeof(mark)))
		return -EFAULT;
	if (mark.reserved)
		return iot_refuse(-EINVAL, "mark: reserved is not zero");
	err = iot_ctl_mark(control->session, &mark);
	return err ?: copy_to_user(arg, &mark, sizeof(mark)) ? -EFAULT : 0;
}

static int control_describe(struct control *control, const void __user *arg)
{
	struct iot_describe describe;

	if (!control->session)
		return iot_refuse(-EINVAL, "describe: the descriptor is no session");
	if (copy_from_user(&describe, arg, sizeof(describe)))
		return -EFAULT;
	if (describe.reserved || describe.bytes > IOT_DESCRIBE_MAX_BYTES)
		return iot_refuse(-EINVAL, "describe: the text is too long, or reserved is not zero");
	return iot_ctl_describe(control->session, u64_to_user_ptr(describe.text), describe.bytes);
}

static int control_join(struct control *control, const void __user *arg)
{
	struct iot_session *session;
	struct super_block *sb;
	struct iot_join join;
	struct file *dir;

	if (control->session || control->joined)
		return iot_refuse(-EBUSY, "join: the descriptor is a session, or has joined one");
	if (copy_from_user(&join, arg, sizeof(join)))
		return -EFAULT;
	if (join.reserved)
		return iot_refuse(-EINVAL, "join: reserved is not zero");
	sb = dir_sb_get(join.dir_fd, &dir);
	if (IS_ERR(sb))
		return PTR_ERR(sb);
	session = iot_session_join(sb);
	fput(dir);
	if (IS_ERR(session))
		return PTR_ERR(session);
	smp_store_release(&control->joined, session);
	return 0;
}

static int control_status(struct iot_status __user *arg)
{
	struct iot_status status;
	int err;

	if (copy_from_user(&status, arg, sizeof(status)))
		return -EFAULT;
	err = iot_session_status(&status);
	if (err == -EPERM)
		iot_refuse(err, "status: without CAP_SYS_ADMIN");
	if (!err && copy_to_user(arg, &status, sizeof(status)))
		err = -EFAULT;
	return err;
}

static int control_simple(struct control *control, unsigned int command)
{
	if (!control->session)
		return iot_refuse(-EINVAL, "start, stop or adopt: the descriptor is no session");
	switch (command) {
	case IOT_IOC_START:
		return iot_session_start(control->session);
	case IOT_IOC_STOP:
		return iot_session_stop(control->session);
	default:
		return iot_session_adopt(control->session);
	}
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct control *control = file->private_data;
	void __user *user = (void __user *)arg;
	long err;

	switch (command) {
	case IOT_IOC_QUERY:
		return control_query(user);
	case IOT_IOC_STATUS:
		return control_status(user);
	case IOT_IOC_ALIVE:
		return iot_alive_list(user);
	case IOT_IOC_INFO:
		return iot_ctl_info(user);
	case IOT_IOC_CTL:
		return iot_ctl_change(user);
	case IOT_IOC_REFILTER:
		return iot_ctl_refilter(user);
	case IOT_IOC_COUNTERS:
		return iot_counters_read(smp_load_acquire(&control->session), user); /* pairs with control_create() */
	}
	if (mutex_lock_interruptible(&control->lock))
		return -ERESTARTSYS;
	switch (command) {
	case IOT_IOC_CREATE:
		err = control_create(control, user);
		break;
	case IOT_IOC_ATTACH:
		err = control_attach(control, user);
		break;
	case IOT_IOC_ADMIT:
		err = control_admit(control, user);
		break;
	case IOT_IOC_JOIN:
		err = control_join(control, user);
		break;
	case IOT_IOC_ONLY:
		err = control_only(control, user);
		break;
	case IOT_IOC_FILTER:
		err = control_filter(control, user);
		break;
	case IOT_IOC_STACKS:
		err = control_stacks(control, user);
		break;
	case IOT_IOC_PROGRAM:
		err = control_program(control, user);
		break;
	case IOT_IOC_COUNT:
		err = control_count(control, user);
		break;
	case IOT_IOC_TURN:
		err = control_turn(control);
		break;
	case IOT_IOC_DELAY:
		err = control_delay(control, user);
		break;
	case IOT_IOC_LOOK:
		err = control_look(control, user);
		break;
	case IOT_IOC_RELEASE:
		err = control_release_delay(control, user);
		break;
	case IOT_IOC_DONE:
		err = control_done(control, user);
		break;
	case IOT_IOC_MARK:
		err = control_mark(control, user);
		break;
	case IOT_IOC_DESCRIBE:
		err = control_describe(control, user);
		break;
	case IOT_IOC_START:
	case IOT_IOC_STOP:
	case IOT_IOC_ADOPT:
		err = control_simple(control, command);
		break;
	default:
		err = -ENOTTY;
	}
	mutex_unlock(&control->lock);
	return err;
}

#define JOINED_WRITE_MAX_BYTES 1024

static ssize_t control_write(struct file *file, const char __user *data, size_t bytes,
			     loff_t *offset)
{
	struct control *control = file->private_data;
	struct iot_session *session = READ_ONCE(control->joined);
	u8 buffer[JOINED_WRITE_MAX_BYTES];
	struct iot_record record;
	size_t done = 0;
	int length;

	if (!session)
		return iot_refuse(-EINVAL, "write: the descriptor has not joined a session");
	if (bytes > sizeof(buffer))
		return iot_refuse(-EINVAL, "write: more than %zu bytes", sizeof(buffer));
	if (!iot_only_admits(session))
		return iot_refuse(-EPERM, "write: the session is restricted to another user");
	if (copy_from_user(buffer, data, bytes))
		return -EFAULT;
	while (done < bytes) {
		length = iot_record_decode(buffer + done, bytes - done, &record);
		if (length < 0 || !iot_joined_is_valid(&record))
			return done ?: iot_refuse(-EINVAL, "write: no valid record at byte %zu", done);
		if (!iot_session_enter(session))
			return -EPIPE;
		iot_joined_emit(session, &record);
		iot_session_leave();
		done += length;
	}
	return done;
}

static int control_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct control *control = file->private_data;
	struct iot_session *session = READ_ONCE(control->joined);

	if (!session)
		return iot_refuse(-EINVAL, "mmap: the descriptor has not joined a session");
	return iot_only_admits(session) ? iot_mailbox_map(session, vma) :
					  iot_refuse(-EPERM, "mmap: the session is restricted to another user");
}

/* msync(2) of a mailbox. */
static int control_fsync(struct file *file, loff_t first, loff_t last, int is_datasync)
{
	struct control *control = file->private_data;
	struct iot_session *session = READ_ONCE(control->joined);

	return session ? iot_mailbox_sync(session) : -EINVAL;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.release = control_release,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.write = control_write,
	.mmap = control_mmap,
	.fsync = control_fsync,
	.llseek = noop_llseek,
};

/* Every user may open it: each request checks for the privilege, or the consent of the recorder, that it needs. */
static struct miscdevice control_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "iotape",
	.fops = &control_fops,
	.mode = 0666,
};

/**
 * iot_control_init() - make the device /dev/iotape
 *
 * Return: 0 or a negative errno.
 */
int iot_control_init(void)
{
	return misc_register(&control_device);
}

/**
 * iot_control_exit() - remove the device; no descriptor of it is open
 */
void iot_control_exit(void)
{
	misc_deregister(&control_device);
}
