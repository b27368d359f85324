/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h - the rules by which a trace may differ from the observations of strace or of the program.
 *
 * Documentation/visibility.md explains them; tests/truth/table checks that it has the same numbers and
 * sentences.
 */
#ifndef TRUTH_RULES_H
#define TRUTH_RULES_H

#include <stdio.h>

/* R(number, name, sentence) */
#define RULES(R)                                                                              \
	R(1, OUTSIDE, "paths and descriptors outside of the mount are not recorded")                           \
	R(2, OTHERS, "other threads in the mount are recorded as separate tasks")                              \
	R(3, FIRST_LOOKUP, "the first use of an existing name creates a lookup")                               \
	R(4, ABSENT, "each use of an absent name creates a lookup")                                            \
	R(5, FOLLOW, "a symbolic link in a path creates a follow")                                             \
	R(6, EXISTS, "a new name that already exists creates a lookup with EEXIST")                            \
	R(7, DENIED, "a refused permission creates a denied record; a granted permission creates none")        \
	R(8, VFS_ERROR, "an error that the kernel detects before it calls the file system is not recorded")    \
	R(9, WORKING_DIRECTORY, "the working directory, its path and the umask are state of the kernel")       \
	R(10, TRUNCATION, "an open that truncates creates a setattr after the open")                           \
	R(11, CAPABILITY, "the kernel queries capabilities before truncation and chown")                       \
	R(12, FLUSH, "each close of a descriptor creates a flush, in the task that closes it")                 \
	R(13, RELEASE, "the last reference creates a release, in the task that drops it")                      \
	R(14, DESCRIPTORS, "the descriptor table is state of the kernel")                                      \
	R(15, EXIT, "exit unmaps the remaining mappings and closes the remaining descriptors")                 \
	R(16, EXEC, "exec unmaps all mappings, closes some descriptors, and reads the program")                \
	R(17, SPLICE, "a copy through a pipe is recorded as reads and writes of parts")                        \
	R(18, SAME_FILE, "a rename onto another name of the same file has no effect")                          \
	R(19, UNMAP, "munmap, and an mmap over a mapping, create an unmap for each part")                      \
	R(20, INHERITED, "fork creates a map in the parent for each inherited mapping")                        \
	R(21, TOUCH, "the first access to a page is not a system call")                                        \
	R(22, MSYNC, "a synchronous msync creates a record for each mapping")                                  \
	R(23, MADVISE, "few kinds of madvise reach the file system")                                           \
	R(24, PROTECTION, "changes of protection and memory locks are not recorded, but they split mappings")  \
	R(25, WRITEBACK, "sync_file_range, syncfs and sync are not recorded")                                  \
	R(26, LEASES, "leases are not recorded")                                                               \
	R(27, IOCTL, "ioctls that the kernel handles without the file system are not recorded")                \
	R(28, PATH_ONLY, "an O_PATH descriptor creates no open and no flush")                                  \
	R(29, SPECIAL, "operations on pipes, sockets and devices are not recorded; those on names are")        \
	R(30, MAPPED, "an access to a page that is already mapped is not recorded")                            \
	R(31, PRIVATE_COPY, "a write to a private page that was read is a copy in memory")                     \
	R(32, WRITTEN_BACK, "after write-back, the next write to a page is a first write again")               \
	R(33, MREMAP, "mremap creates a map if it moves the mapping, and an unmap of the old pages")           \
	R(34, REQUEST, "io_uring requests are recorded, but are not system calls")                             \
	R(35, MPI, "MPI calls are recorded, but are not system calls")

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
