/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscalls.h - system calls of which no record is made, by the names that strace has for them. Those of
 * which there is one are in calls.c. Every call of x86-64, i386 and arm64 is in one of the tables.
 */
#ifndef IMPORT_SYSCALLS_H
#define IMPORT_SYSCALLS_H

/* Why a call is of no interest: R(reason, sentence) */
#define IMPORT_REASONS(R)                                                     \
	R(wait, "it waits, and moves no data")                                \
	R(memory, "it is about memory, regardless of the mapped file")        \
	R(task, "it is about processes and threads")                          \
	R(user, "it is about users and permissions of a process")             \
	R(signal, "it is about signals")                                      \
	R(time, "it is about clocks and timers")                              \
	R(ipc, "it is about messages and shared memory of System V or POSIX") \
	R(network, "it is about sockets")                                     \
	R(pipe, "it moves data between pipes and memory")                     \
	R(system, "it is about the machine and its kernel")                   \
	R(mounts, "it queries mounts by their numbers")                       \
	R(requests, "it is about asynchronous requests, which are counted where they are submitted") \
	R(all, "it is about all file systems, and names no file")             \
	R(gone, "the kernel does not support it, or no longer does")

/* N(reason, name) */
#define IMPORT_CALLS_OTHER(N)                                                       \
	N(wait, _newselect) N(wait, epoll_ctl) N(wait, epoll_ctl_old)               \
	N(wait, epoll_pwait) N(wait, epoll_pwait2) N(wait, epoll_wait)              \
	N(wait, epoll_wait_old) N(wait, futex) N(wait, futex_requeue)               \
	N(wait, futex_time64) N(wait, futex_wait) N(wait, futex_waitv)              \
	N(wait, futex_wake) N(wait, oldselect) N(wait, pause) N(wait, poll)         \
	N(wait, ppoll) N(wait, ppoll_time64) N(wait, pselect6)                      \
	N(wait, pselect6_time64) N(wait, restart_syscall) N(wait, select)           \
	N(wait, inotify_rm_watch)                                                   \
	N(memory, brk) N(memory, cacheflush) N(memory, get_mempolicy)               \
	N(memory, map_shadow_stack) N(memory, mbind) N(memory, membarrier)          \
	N(memory, migrate_pages) N(memory, mincore) N(memory, modify_ldt)           \
	N(memory, move_pages) N(memory, mseal) N(memory, pkey_alloc)                \
	N(memory, pkey_free) N(memory, process_mrelease)                            \
	N(memory, process_vm_readv) N(memory, process_vm_writev)                    \
	N(memory, set_mempolicy) N(memory, set_mempolicy_home_node)                 \
	N(task, arch_prctl) N(task, breakpoint) N(task, cmpxchg)                    \
	N(task, get_robust_list) N(task, get_thread_area) N(task, get_tls)          \
	N(task, getcpu) N(task, getpgid) N(task, getpgrp) N(task, getpid)           \
	N(task, getppid) N(task, getpriority) N(task, getrlimit)                    \
	N(task, getrusage) N(task, getsid) N(task, gettid) N(task, ioprio_get)      \
	N(task, ioprio_set) N(task, kcmp) N(task, nice) N(task, old_getrlimit)      \
	N(task, personality) N(task, prctl) N(task, prlimit64) N(task, profil)      \
	N(task, ptrace) N(task, rseq) N(task, rseq_slice_yield)                     \
	N(task, sched_get_priority_max) N(task, sched_get_priority_min)             \
	N(task, sched_getaffinity) N(task, sched_getattr) N(task, sched_getparam)   \
	N(task, sched_getscheduler) N(task, sched_rr_get_interval)                  \
	N(task, sched_rr_get_interval_time64) N(task, sched_setaffinity)            \
	N(task, sched_setattr) N(task, sched_setparam)                              \
	N(task, sched_setscheduler) N(task, sched_yield) N(task, set_robust_list)   \
	N(task, set_thread_area) N(task, set_tid_address) N(task, set_tls)          \
	N(task, setpgid) N(task, setpriority) N(task, setrlimit) N(task, setsid)    \
	N(task, times) N(task, ugetrlimit) N(task, uprobe) N(task, uretprobe)       \
	N(task, usr26) N(task, usr32) N(task, vhangup) N(task, vm86)                \
	N(task, vm86old) N(task, listns)                                            \
	N(user, add_key) N(user, capget) N(user, capset) N(user, getegid)           \
	N(user, getegid32) N(user, geteuid) N(user, geteuid32) N(user, getgid)      \
	N(user, getgid32) N(user, getgroups) N(user, getgroups32)                   \
	N(user, getresgid) N(user, getresgid32) N(user, getresuid)                  \
	N(user, getresuid32) N(user, getuid) N(user, getuid32) N(user, keyctl)      \
	N(user, landlock_restrict_self) N(user, lsm_get_self_attr)                  \
	N(user, lsm_list_modules) N(user, lsm_set_self_attr)                        \
	N(user, request_key) N(user, seccomp) N(user, setfsgid)                     \
	N(user, setfsgid32) N(user, setfsuid) N(user, setfsuid32) N(user, setgid)   \
	N(user, setgid32) N(user, setgroups) N(user, setgroups32)                   \
	N(user, setregid) N(user, setregid32) N(user, setresgid)                    \
	N(user, setresgid32) N(user, setresuid) N(user, setresuid32)                \
	N(user, setreuid) N(user, setreuid32) N(user, setuid) N(user, setuid32)     \
	N(signal, kill) N(signal, pidfd_send_signal) N(signal, rt_sigaction)        \
	N(signal, rt_sigpending) N(signal, rt_sigprocmask)                          \
	N(signal, rt_sigqueueinfo) N(signal, rt_sigreturn)                          \
	N(signal, rt_sigsuspend) N(signal, rt_sigtimedwait)                         \
	N(signal, rt_sigtimedwait_time64) N(signal, rt_tgsigqueueinfo)              \
	N(signal, sgetmask) N(signal, sigaction) N(signal, sigaltstack)             \
	N(signal, siggetmask) N(signal, signal) N(signal, sigpending)               \
	N(signal, sigprocmask) N(signal, sigreturn) N(signal, sigsetmask)           \
	N(signal, sigsuspend) N(signal, ssetmask) N(signal, tgkill)                 \
	N(signal, tkill)                                                            \
	N(time, adjtimex) N(time, alarm) N(time, clock_adjtime)                     \
	N(time, clock_adjtime64) N(time, clock_getres)                              \
	N(time, clock_getres_time64) N(time, clock_gettime)                         \
	N(time, clock_gettime64) N(time, clock_nanosleep)                           \
	N(time, clock_nanosleep_time64) N(time, clock_settime)                      \
	N(time, clock_settime64) N(time, getitimer) N(time, gettimeofday)           \
	N(time, nanosleep) N(time, setitimer) N(time, settimeofday)                 \
	N(time, stime) N(time, time) N(time, timer_create) N(time, timer_delete)    \
	N(time, timer_getoverrun) N(time, timer_gettime) N(time, timer_gettime64)   \
	N(time, timer_settime) N(time, timer_settime64) N(time, timerfd_gettime)    \
	N(time, timerfd_gettime64) N(time, timerfd_settime)                         \
	N(time, timerfd_settime64)                                                  \
	N(ipc, ipc) N(ipc, ipc_subcall) N(ipc, mq_getsetattr) N(ipc, mq_notify)     \
	N(ipc, mq_timedreceive) N(ipc, mq_timedreceive_time64)                      \
	N(ipc, mq_timedsend) N(ipc, mq_timedsend_time64) N(ipc, mq_unlink)          \
	N(ipc, msgctl) N(ipc, msgget) N(ipc, msgrcv) N(ipc, msgsnd)                 \
	N(ipc, semctl) N(ipc, semget) N(ipc, semop) N(ipc, semtimedop)              \
	N(ipc, semtimedop_time64) N(ipc, shmat) N(ipc, shmctl) N(ipc, shmdt)        \
	N(ipc, shmget)                                                              \
	N(network, connect) N(network, getpeername) N(network, getsockname)         \
	N(network, getsockopt) N(network, listen) N(network, recv)                  \
	N(network, recvfrom) N(network, send) N(network, sendmmsg)                  \
	N(network, sendmsg) N(network, sendto) N(network, setsockopt)               \
	N(network, shutdown) N(network, socket_subcall) N(network, socketcall)      \
	N(pipe, tee) N(pipe, vmsplice)                                              \
	N(system, bpf) N(system, delete_module) N(system, get_kernel_syms)          \
	N(system, getrandom) N(system, init_module) N(system, ioperm)               \
	N(system, iopl) N(system, kexec_load) N(system, pciconfig_iobase)           \
	N(system, pciconfig_read) N(system, pciconfig_write) N(system, reboot)      \
	N(system, setdomainname) N(system, sethostname) N(system, sysfs)            \
	N(system, sysinfo) N(system, syslog) N(system, uname)                       \
	N(system, oldolduname) N(system, olduname) N(system, ustat)                 \
	N(mounts, listmount) N(mounts, statmount)                                   \
	N(all, sync)                                                                \
	N(requests, io_cancel) N(requests, io_destroy) N(requests, io_getevents)    \
	N(requests, io_pgetevents) N(requests, io_pgetevents_time64)                \
	N(requests, io_setup) N(requests, io_uring_register)                        \
	N(gone, _sysctl) N(gone, afs_syscall) N(gone, bdflush) N(gone, break)       \
	N(gone, create_module) N(gone, ftime) N(gone, getpmsg) N(gone, gtty)        \
	N(gone, idle) N(gone, lock) N(gone, lookup_dcookie) N(gone, mpx)            \
	N(gone, nfsservctl) N(gone, prof) N(gone, putpmsg) N(gone, query_module)    \
	N(gone, security) N(gone, stty) N(gone, sysctl) N(gone, syscall)            \
	N(gone, sys_kexec_load) N(gone, tuxcall) N(gone, ulimit) N(gone, vserver)

/*
 * Calls that do something to files of which the trace has no record: they are counted, by name, if they
 * succeed on a file of the root. L(name, arguments that are descriptors: 1 is the first, 2 the second)
 */
#define IMPORT_CALLS_LEFT_OUT(L)                                                    \
	L(acct, 0) L(cachestat, 1) L(fanotify_mark, 1 | 8) L(finit_module, 1)       \
	L(fsconfig, 0) L(inotify_add_watch, 0) L(kexec_file_load, 1 | 2)            \
	L(landlock_add_rule, 0) L(mount_setattr, 1) L(move_mount, 1 | 4)            \
	L(name_to_handle_at, 1) L(quotactl, 0) L(quotactl_fd, 1) L(readdir, 1)      \
	L(swapoff, 0) L(swapon, 0) L(sync_file_range, 1) L(sync_file_range2, 1)     \
	L(arm_sync_file_range, 1) L(syncfs, 1) L(uselib, 0) L(umount, 0)            \
	L(umount2, 0) L(oldumount, 0)

#endif
