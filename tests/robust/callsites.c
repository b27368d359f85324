// SPDX-License-Identifier: GPL-2.0-only
/*
 * callsites.c - writes from functions with known names, known numbers of times, with frame pointers of any value.
 *
 *	sites plain FILE	300 writes by first_site(), 200 by second_site(), both called by loop()
 *	sites long FILE		100 times as plain
 *	sites hostile FILE	10 writes with each of several frame pointers that are none
 *	sites compiled FILE	50 writes by code that was made at run time, which /tmp/perf-PID.map names
 *	sites threads FILE	4 threads, each as plain, while another one maps and unmaps memory
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static atomic_bool is_over;

NOINLINE static void first_site(int fd, int i)
{
	if (pwrite(fd, "first", 5, i) != 5)
		err(1, "pwrite");
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void second_site(int fd, int i)
{
	if (pwrite(fd, "second", 6, i) != 6)
		err(1, "pwrite");
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void loop(int fd)
{
	int i;

	for (i = 0; i < 300; i++) {
		__asm__ volatile("" : "+r"(i)); /* one loop, not two */
		first_site(fd, i);
		if (i < 200)
			second_site(fd, i);
	}
}

/* The write that the kernel sees has this frame pointer. */
#ifdef __aarch64__
NOINLINE static void write_with(int fd, uint64_t frame)
{
	register long call __asm__("x8") = SYS_pwrite64;
	register long a __asm__("x0") = fd;
	register const char *b __asm__("x1") = "hostile";
	register long c __asm__("x2") = 7;
	register long d __asm__("x3") = 0;
	register uint64_t e __asm__("x4") = frame;

	__asm__ volatile("mov x9, x29; mov x29, x4; svc #0; mov x29, x9"
			 : "+r"(a)
			 : "r"(call), "r"(b), "r"(c), "r"(d), "r"(e)
			 : "x9", "memory");
	if (a != 7)
		errx(1, "pwrite: %ld", a);
}
#else
NOINLINE static void write_with(int fd, uint64_t frame)
{
	register long call __asm__("rax") = SYS_pwrite64;
	register long a __asm__("rdi") = fd;
	register const char *b __asm__("rsi") = "hostile";
	register long c __asm__("rdx") = 7;
	register long d __asm__("r10") = 0;
	register uint64_t e __asm__("r8") = frame;

	__asm__ volatile("push %%rbp; mov %%r8, %%rbp; syscall; pop %%rbp"
			 : "+r"(call)
			 : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e)
			 : "rcx", "r11", "memory");
	if (call != 7)
		errx(1, "pwrite: %ld", call);
}
#endif

static void hostile(int fd)
{
	/* On the stack, where frames may be. */
	uint64_t frames[512] __attribute__((aligned(16))) = {}, code = (uint64_t)__builtin_return_address(0);
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *hole = mmap(NULL, 3 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t values[] = {
		0, 1, 8, UINT64_MAX, UINT64_MAX - 7, 0xffff888000000000, 0xffffffff81000000, 0x8000000000000000,
		0x0000800000000000, 0x00007ffffffffff8, 0x00007ffffffff000, (uint64_t)hole + page_bytes, (uint64_t)hole + page_bytes - 8,
		(uint64_t)&frames[0], (uint64_t)&frames[2], (uint64_t)&frames[4] + 3, (uint64_t)&frames[8], (uint64_t)&frames[16],
	};
	size_t i, j;

	if (hole == MAP_FAILED || munmap(hole + page_bytes, page_bytes))
		err(1, "mmap");
	frames[0] = (uint64_t)&frames[0]; /* a frame that is its own caller */
	frames[1] = code;
	frames[2] = (uint64_t)&frames[0]; /* and one that is called by a lower one */
	frames[3] = code;
	frames[8] = 0xffff888000000000; /* called by the kernel */
	frames[9] = code;
	for (i = 16; i + 2 < 512; i += 2) { /* more than are recorded */
		frames[i] = (uint64_t)&frames[i + 2];
		frames[i + 1] = code;
	}
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (j = 0; j < 10; j++)
			write_with(fd, values[i]);
}

/* int f(int fd): has a frame, and calls pwrite(fd, text, 4, 0) */
#ifdef __aarch64__
#define FUNCTION_AT 40
static const uint32_t code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0x100000e1, /* adr x1, 28: the text */
	0xd2800082, /* mov x2, #4 */
	0xd2800003, /* mov x3, #0 */
	0x580000a9, /* ldr x9, 20: pwrite */
	0xd63f0120, /* blr x9 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
	0x74786574, /* text */
	0, 0,	    /* pwrite */
};
#else
#define FUNCTION_AT 20
static const uint8_t code[] = {
	0x55,				   /* push %rbp */
	0x48, 0x89, 0xe5,		   /* mov %rsp, %rbp */
	0x48, 0x8d, 0x35, 32 - 11, 0, 0, 0, /* lea 21(%rip), %rsi: the text */
	0xba, 4, 0, 0, 0,		   /* mov $4, %edx */
	0x31, 0xc9,			   /* xor %ecx, %ecx */
	0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, /* mov $pwrite, %rax; at 20 */
	0xff, 0xd0,			   /* call *%rax; returns to 30 */
	0x5d,				   /* pop %rbp */
	0xc3,				   /* ret */
	't', 'e', 'x', 't',
};
#endif

static void compiled(int fd)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *function = (void *)pwrite;
	char path[64];
	FILE *map;
	int i;

	if (page == MAP_FAILED)
		err(1, "mmap");
	memcpy(page, code, sizeof(code));
	memcpy(page + FUNCTION_AT, &function, sizeof(function));
	__builtin___clear_cache((char *)page, (char *)page + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		err(1, "%s", path);
	fprintf(map, "%lx %zx py::compiled_function:/src/program.py\n", (unsigned long)page, sizeof(code));
	fclose(map);
	for (i = 0; i < 50; i++)
		((int (*)(int))page)(fd);
}

static void *writer(void *fd)
{
	loop(*(int *)fd);
	return NULL;
}

static void *mapper(void *unused)
{
	while (!is_over)
		munmap(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1 << 20);
	return unused;
}

static void threads(int fd)
{
	pthread_t all[5];
	int i;

	for (i = 0; i < 5; i++)
		if (pthread_create(&all[i], NULL, i ? writer : mapper, &fd))
			errx(1, "pthread_create");
	for (i = 1; i < 5; i++)
		pthread_join(all[i], NULL);
	is_over = true;
	pthread_join(all[0], NULL);
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0644) : -1, i;

	if (fd < 0)
		err(2, "sites plain|long|hostile|compiled|threads FILE");
	if (!strcmp(argv[1], "plain"))
		loop(fd);
	else if (!strcmp(argv[1], "long"))
		for (i = 0; i < 100; i++)
			loop(fd);
	else if (!strcmp(argv[1], "hostile"))
		hostile(fd);
	else if (!strcmp(argv[1], "compiled"))
		compiled(fd);
	else
		threads(fd);
	return 0;
}
