// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - calls on names: lookup, open, create, remove, rename, link; and their failures.
 */
#include <dirent.h>
#include <linux/fs.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "calls.h"

static struct stat st;
static char too_long[300];

static void looked_up(void)
{
	CALL("stat, absent name", stat("absent", &st));
	CALL("stat, the same absent name again", stat("absent", &st));
	CALL("stat, existing name, first use", stat("old/stat", &st));
	CALL("stat, known name", stat("old/stat", &st));
	CALL("stat, absent directory", stat("nodir/file", &st));
	CALL("stat, a file as directory (ENOTDIR)", stat("old/stat/x", &st));
	CALL("stat, name too long", stat(too_long, &st));
	CALL("lstat of a symbolic link", lstat("old/link", &st));
	CALL("stat of a symbolic link", stat("old/link", &st));
	CALL("stat of the mount itself", stat(".", &st));
	CALL("access, granted", access("old/stat", R_OK));
	CALL("access, refused", access("old/stat", X_OK));
	CALL("access, absent name", access("absent", F_OK));
	CALL("readlink", (void)!readlink("old/link", too_long + 290, 5));
	CALL("readlink of a file (EINVAL)", (void)!readlink("old/stat", too_long + 290, 5));
}

static void opened(void)
{
	int fd = -1;

	CALL("open, new name, O_CREAT", fd = open("file", O_CREAT | O_RDWR, 0644));
	CALL("close, last descriptor", close(fd));
	CALL("open, known name", fd = open("file", O_RDONLY));
	CALL("open, known name, O_CREAT", close(open("file", O_CREAT | O_RDWR, 0644)));
	close(fd);
	CALL("open, existing name, first use", fd = open("old/open", O_RDONLY));
	close(fd);
	CALL("open, existing name, first use, O_CREAT", fd = open("old/open2", O_CREAT | O_RDWR, 0600));
	close(fd);
	CALL("open, known name, O_CREAT and O_EXCL", open("file", O_CREAT | O_EXCL | O_RDWR, 0600));
	CALL("open, existing name, first use, O_CREAT and O_EXCL",
	     open("old/open3", O_CREAT | O_EXCL | O_RDWR, 0600));
	CALL("open, O_TRUNC", fd = open("file", O_TRUNC | O_RDWR));
	close(fd);
	CALL("open, absent name", open("absent", O_RDONLY));
	CALL("open, absent directory, O_CREAT", open("nodir/file", O_CREAT | O_RDWR, 0600));
	CALL("open, name too long, O_CREAT", open(too_long, O_CREAT | O_RDWR, 0600));
	CALL("open, a file as directory (ENOTDIR)", open("file", O_RDONLY | O_DIRECTORY));
	CALL("open, a directory for writing (EISDIR)", open("old", O_RDWR));
	CALL("open, a symbolic link, O_NOFOLLOW (ELOOP)", open("old/link", O_RDONLY | O_NOFOLLOW));
	CALL("open, a symbolic link", fd = open("old/link", O_RDONLY));
	close(fd);
	MUST(!symlink("made", "tomade"));
	CALL("open, a dangling symbolic link, O_CREAT", fd = open("tomade", O_CREAT | O_RDWR, 0600));
	close(fd);
	MUST(!symlink("loop", "loop"));
	CALL("open, a loop of symbolic links (ELOOP)", open("loop", O_RDONLY));
	CALL("open, O_TMPFILE", fd = open(".", O_TMPFILE | O_RDWR, 0600));
	CALL("linkat of a file without a name", linkat(fd, "", AT_FDCWD, "named", AT_EMPTY_PATH));
	close(fd);
	CALL("open, O_PATH", fd = open("file", O_PATH));
	CALL("fstat through O_PATH", fstat(fd, &st));
	CALL("close of O_PATH", close(fd));
	MUST(!mkfifo("fifo", 0600));
	CALL("open of a named pipe", fd = open("fifo", O_RDWR));
	CALL("write to a named pipe", (void)!write(fd, "x", 1));
	CALL("close of a named pipe", close(fd));
	fd = open("file", O_RDONLY);
	snprintf(too_long + 200, 50, "/proc/self/fd/%d", fd);
	CALL("open through proc, self, fd", close(open(too_long + 200, O_RDONLY)));
	close(fd);
	memset(too_long, 'x', sizeof(too_long) - 1);
}

static void directories(void)
{
	char buffer[1024];
	int fd;

	CALL("open of a directory", fd = open("old", O_RDONLY | O_DIRECTORY));
	CALL("getdents64 until the end", while (syscall(SYS_getdents64, fd, buffer, sizeof(buffer)) > 0));
	CALL("lseek of a directory", lseek(fd, 0, SEEK_SET));
	CALL("read of a directory (EISDIR)", (void)!read(fd, buffer, 10));
	CALL("fsync of a directory", fsync(fd));
	CALL("close of a directory", close(fd));
	MUST(!mkdir("dead", 0700));
	fd = open("dead", O_RDONLY | O_DIRECTORY);
	MUST(!rmdir("dead"));
	CALL("getdents64 of a removed directory (ENOENT)", syscall(SYS_getdents64, fd, buffer, 1000));
	CALL("open in a removed directory (ENOENT)", openat(fd, "x", O_CREAT | O_RDWR, 0600));
	CALL("stat in a removed directory (ENOENT)", fstatat(fd, "x", &st, 0));
	fstat(fd, &st);
	CALL("the same after fstat of the directory (ENOENT)", fstatat(fd, "x", &st, 0));
	close(fd);
	CALL("chdir", (void)!chdir("old"));
	CALL("getcwd", (void)!getcwd(buffer, sizeof(buffer)));
	MUST(!chdir(directory));
	fd = open(".", O_RDONLY);
	CALL("fchdir", (void)!fchdir(fd));
	close(fd);
	CALL("chdir, absent name", (void)!chdir("absent"));
	CALL("chdir to a file (ENOTDIR)", (void)!chdir("file"));
}

static void made(void)
{
	const struct sockaddr_un address = { AF_UNIX, "socket" };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), caller = socket(AF_UNIX, SOCK_STREAM, 0);

	CALL("mkdir, new name", mkdir("dir", 0755));
	CALL("mkdir, known name", mkdir("dir", 0755));
	CALL("mkdir, existing name, first use", mkdir("old/mkdir", 0755));
	CALL("mkdir, absent directory", mkdir("nodir/dir", 0755));
	CALL("mkdir, name too long", mkdir(too_long, 0755));
	CALL("mknod of a named pipe", mkfifo("pipe", 0644));
	CALL("mknod of a regular file", mknod("plain", S_IFREG | 0644, 0));
	CALL("mknod, known name", mkfifo("dir", 0644));
	CALL("symlink, new name", (void)!symlink("target", "symlink"));
	CALL("symlink, known name", (void)!symlink("target", "dir"));
	CALL("symlink, empty target (ENOENT)", (void)!symlink("", "symlink2"));
	CALL("link, new name", (void)!link("file", "hard"));
	CALL("link, known name", (void)!link("file", "dir"));
	CALL("link, absent old name", (void)!link("absent", "hard2"));
	CALL("link of a directory (EPERM)", (void)!link("dir", "hard2"));
	CALL("bind of a socket", bind(listener, (struct sockaddr *)&address, sizeof(address)));
	MUST(!listen(listener, 1));
	CALL("connect to a socket", connect(caller, (struct sockaddr *)&address, sizeof(address)));
	close(caller);
	close(listener);
}

static void removed(void)
{
	CALL("unlink", unlink("hard"));
	CALL("unlink, existing name, first use", unlink("old/unlink"));
	CALL("unlink, absent name", unlink("absent"));
	CALL("unlink of a directory (EISDIR)", unlink("dir"));
	make("dir/child");
	CALL("rmdir, not empty", rmdir("dir"));
	unlink("dir/child");
	CALL("rmdir", rmdir("dir"));
	CALL("rmdir, absent name", rmdir("absent"));
	CALL("rmdir of a file (ENOTDIR)", rmdir("file"));
}

static void renamed(void)
{
	make("a");
	make("b");
	MUST(!mkdir("dir", 0700) && !mkdir("dir/sub", 0700) && !mkdir("dir2", 0700));
	make("dir/file");
	CALL("rename, new name", rename("a", "c"));
	CALL("rename, known new name", rename("c", "b"));
	CALL("rename, first use of the old name", rename("old/rename", "old/renamed"));
	CALL("rename, first use of both names", rename("old/rename2", "old/rename3"));
	CALL("rename, absent old name", rename("absent", "d"));
	CALL("rename, absent directory", rename("b", "nodir/b"));
	MUST(!link("b", "b2"));
	CALL("rename onto a link of the same file", rename("b", "b2"));
	CALL("rename, RENAME_EXCHANGE", renameat2(AT_FDCWD, "b", AT_FDCWD, "file", RENAME_EXCHANGE));
	CALL("rename, RENAME_EXCHANGE, absent new name",
	     renameat2(AT_FDCWD, "b", AT_FDCWD, "absent", RENAME_EXCHANGE));
	CALL("rename, RENAME_NOREPLACE", renameat2(AT_FDCWD, "b2", AT_FDCWD, "e", RENAME_NOREPLACE));
	CALL("rename, RENAME_NOREPLACE, known new name (EEXIST)",
	     renameat2(AT_FDCWD, "b", AT_FDCWD, "file", RENAME_NOREPLACE));
	CALL("rename, RENAME_WHITEOUT", renameat2(AT_FDCWD, "e", AT_FDCWD, "f", RENAME_WHITEOUT));
	CALL("rename of a directory onto a file (ENOTDIR)", rename("dir", "b"));
	CALL("rename of a file onto a directory (EISDIR)", rename("b", "dir"));
	CALL("rename of a directory into itself (EINVAL)", rename("dir", "dir/sub/x"));
	CALL("rename onto a nonempty directory", rename("dir2", "dir"));
	CALL("rename onto an empty directory", rename("dir2", "dir/sub"));
	CALL("rename to another mount (EXDEV)", rename("b", "/dev/shm/x"));
}

/* As another user. A refusal by permissions is recorded; other refusals are not. */
static void refused(void)
{
	MUST(!mkdir("private", 0700) && !mkdir("open", 0777) && !chmod("open", 0777));
	MUST(!mkdir("sticky", 0777) && !chmod("sticky", 01777));
	make("private/file");
	make("open/file");
	make("sticky/file");
	make("mine");
	MUST(!chmod("mine", 0600) && !seteuid(1000));
	CALL("open, permission refused", open("mine", O_RDONLY));
	CALL("stat, directory not searchable", stat("private/file", &st));
	CALL("open, O_CREAT, directory not writable", open("private2", O_CREAT | O_RDWR, 0600));
	CALL("mkdir, directory not writable", mkdir("private2", 0700));
	CALL("unlink, directory not writable", unlink("mine"));
	CALL("unlink in a sticky directory (EPERM)", unlink("sticky/file"));
	CALL("unlink of another user's file in a writable directory", unlink("open/file"));
	CALL("chmod, not the owner", chmod("mine", 0666));
	CALL("utimensat, not the owner", utimensat(AT_FDCWD, "mine", NULL, 0));
	CALL("truncate, permission refused", (void)!truncate("mine", 0));
	CALL("setxattr, permission refused", setxattr("mine", "user.x", "", 0, 0));
	CALL("open, O_NOATIME, not the owner (EPERM)", open("file", O_RDONLY | O_NOATIME));
	MUST(!seteuid(0));
	MUST(!mount(NULL, directory, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
	CALL("open for writing, mount read-only (EROFS)", open("file", O_RDWR));
	CALL("mkdir, mount read-only (EROFS)", mkdir("readonly", 0700));
	CALL("unlink, mount read-only (EROFS)", unlink("file"));
	MUST(!mount(NULL, directory, NULL, MS_REMOUNT | MS_BIND, NULL));
}

void calls_of_names(void)
{
	memset(too_long, 'x', sizeof(too_long) - 1);
	looked_up();
	opened();
	directories();
	made();
	removed();
	renamed();
	refused();
}
