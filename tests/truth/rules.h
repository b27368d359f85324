/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h - by which rules a trace may differ from what strace or the program itself saw.
 *
 * They are explained in Documentation/visibility.md; tests/truth/table checks that numbers and
 * sentences are the same there.
 */
#ifndef TRUTH_RULES_H
#define TRUTH_RULES_H

#include <stdio.h>

/* R(number, name, sentence) */
#define RULES(R)                                                                              \
	R(1, OUTSIDE, "what does not lead into the mount is not seen")                        \
	R(2, OTHERS, "any other thread in the mount is recorded as a task of its own")        \
	R(3, FIRST_LOOKUP, "a name that is there makes a lookup when it is used first")       \
	R(4, ABSENT, "a name that is not there makes a lookup every time")                    \
	R(5, FOLLOW, "a symbolic link on the way makes a follow")                             \
	R(6, EXISTS, "a name that was to be new and is not makes a lookup with EEXIST")       \
	R(7, DENIED, "a refused permission makes a denied record, a granted one nothing")     \
	R(8, VFS_ERROR, "an error that the kernel finds before it asks is not seen")          \
	R(9, WORKING_DIRECTORY, "working directory, umask and path are the kernel's own")     \
	R(10, TRUNCATION, "an open that truncates makes a setattr after the open")            \
	R(11, CAPABILITY, "the kernel asks for capabilities before truncation and chown")     \
	R(12, FLUSH, "every closed descriptor makes a flush, whichever task closes it")       \
	R(13, RELEASE, "the last reference makes a release, in the task that drops it")       \
	R(14, DESCRIPTORS, "the table of descriptors is the kernel's own")                    \
	R(15, EXIT, "exit unmaps and closes what is left")                                    \
	R(16, EXEC, "exec unmaps everything, closes some, and reads the program")             \
	R(17, SPLICE, "a copy through a pipe is reads and writes, in pieces")                 \
	R(18, SAME_FILE, "a rename onto another name of the same file does nothing")          \
	R(19, UNMAP, "munmap makes an unmap for each piece, also where mmap replaces one")    \
	R(20, INHERITED, "fork makes a map in the parent for each mapping that is inherited") \
	R(21, TOUCH, "a first access to a page is no system call")                            \
	R(22, MSYNC, "msync makes a record for each mapping, if it is synchronous")           \
	R(23, MADVISE, "the file system sees little of madvise")                              \
	R(24, PROTECTION, "protection and locking of memory is not seen, but splits mappings") \
	R(25, WRITEBACK, "sync_file_range, syncfs and sync are not seen")                     \
	R(26, LEASES, "leases are not seen")                                                  \
	R(27, IOCTL, "ioctls that the kernel answers itself are not seen")                    \
	R(28, PATH_ONLY, "a descriptor of a place only (O_PATH) makes no open and no flush")  \
	R(29, SPECIAL, "what is done to pipes, sockets and devices is not seen, names are")   \
	R(30, MAPPED, "an access to a page that is mapped already is not seen")               \
	R(31, PRIVATE_COPY, "a write to a private page that was read is a copy in memory")    \
	R(32, WRITTEN_BACK, "a page that was written back is written to for the first time again") \
	R(33, MREMAP, "mremap makes a map if it moves a mapping, and an unmap of what it leaves")  \
	R(34, REQUEST, "requests of io_uring are in the trace, but are no system calls")       \
	R(35, MPI, "calls of MPI are in the trace, but are no system calls")

enum rule {
#define RULE(number, name, sentence) RULE_##name = number,
	RULES(RULE)
#undef RULE
	RULE_END
};

/* Prints those that were applied, or all if @applied is NULL. */
static inline void rules_print(const long *applied)
{
#define PRINT(number, name, sentence)                                                     \
	if (!applied)                                                                     \
		printf("%d. %s\n", number, sentence);                                     \
	else if (applied[number])                                                         \
		printf("rule %d: %ld times: %s\n", number, applied[number], sentence);
	RULES(PRINT)
#undef PRINT
}

#endif
