// SPDX-License-Identifier: GPL-2.0-only
/*
 * inject.c - a module that makes allocations fail, for kernels without CONFIG_FAULT_INJECTION whose
 * allocator still calls should_failslab() and should_fail_alloc_page() (6.1).
 *
 *	/dev/failnth		like /proc/thread-self/fail-nth: after a write of N, allocation N of the writer
 *				fails; a read returns the remaining number. One task at a time.
 *	parameters comm, one_in	one in one_in allocations of tasks named comm fails, at
 *				random; 0: none
 *
 * It probes the two functions and replaces their results.
 */
#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

static struct task_struct *armed;
static unsigned int left;
static unsigned long hits;

static char comm[TASK_COMM_LEN];
module_param_string(comm, comm, sizeof(comm), 0600);
static unsigned int one_in;
module_param(one_in, uint, 0600);
module_param(hits, ulong, 0400);

static bool is_hit(gfp_t gfp)
{
	if ((gfp & __GFP_NOFAIL) || hardirq_count() || in_serving_softirq())
		return false;
	if (READ_ONCE(armed) == current)
		return left && !--left;
	return READ_ONCE(one_in) && !strncmp(current->comm, comm, strlen(comm)) &&
	       get_random_u32() % READ_ONCE(one_in) == 0;
}

static noinline void nothing(void)
{
	barrier();
}

/* The probed function returns @result at once. */
static int answer(struct pt_regs *regs, unsigned long result)
{
	hits++;
	regs->ax = result;
	regs->ip = (unsigned long)nothing;
	return 1;
}

static int slab_handler(struct kprobe *probe, struct pt_regs *regs)
{
	return is_hit(regs->si) ? answer(regs, -ENOMEM) : 0;
}

static int page_handler(struct kprobe *probe, struct pt_regs *regs)
{
	return is_hit(regs->di) ? answer(regs, true) : 0;
}

/* A kprobe with a post handler is not optimized, so its pre-handler may change the instruction pointer. */
static void after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe slab_probe = {
	.symbol_name = "should_failslab",
	.pre_handler = slab_handler,
	.post_handler = after,
};

static struct kprobe page_probe = {
	.symbol_name = "should_fail_alloc_page",
	.pre_handler = page_handler,
	.post_handler = after,
};

static ssize_t failnth_write(struct file *file, const char __user *data, size_t bytes,
			     loff_t *offset)
{
	unsigned int count;
	int err = kstrtouint_from_user(data, bytes, 0, &count);

	if (err)
		return err;
	WRITE_ONCE(armed, NULL);
	left = count;
	if (count)
		WRITE_ONCE(armed, current);
	return bytes;
}

static ssize_t failnth_read(struct file *file, char __user *data, size_t bytes, loff_t *offset)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u\n", left);

	return simple_read_from_buffer(data, bytes, offset, text, length);
}

static const struct file_operations failnth_fops = {
	.owner = THIS_MODULE,
	.read = failnth_read,
	.write = failnth_write,
};

static struct miscdevice failnth_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "failnth",
	.fops = &failnth_fops,
	.mode = 0600,
};

static int __init inject_init(void)
{
	struct kprobe *probes[] = { &slab_probe, &page_probe };
	int err = register_kprobes(probes, ARRAY_SIZE(probes));

	if (err)
		return err;
	err = misc_register(&failnth_device);
	if (err)
		unregister_kprobes(probes, ARRAY_SIZE(probes));
	return err;
}

static void __exit inject_exit(void)
{
	struct kprobe *probes[] = { &slab_probe, &page_probe };

	misc_deregister(&failnth_device);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(inject_init);
module_exit(inject_exit);

MODULE_DESCRIPTION("lets allocations fail, for tests");
MODULE_LICENSE("GPL v2");
