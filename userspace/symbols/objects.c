// SPDX-License-Identifier: GPL-2.0-only
/*
 * objects.c - functions, lines and frames of programs and libraries, through elfutils.
 *
 * The files are named by a trace, which is not trusted: only a regular file is opened, and only if it is the recorded one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

#ifdef IOTAPE_HAS_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define HEAD_BYTES 4096 /* that have the build id */

struct elf {
	Dwfl *dwfl;
	Dwfl_Module *module;
};

bool symbols_has_elfutils(void)
{
	return true;
}

static void digits_of(const u8 *id, u32 bytes, char *text)
{
	u32 i;

	text[0] = 0;
	for (i = 0; i < bytes; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
}

static bool is_recorded(const struct object *object, int fd)
{
	char build[2 * IOT_BUILD_ID_MAX_BYTES + 1];
	u8 head[HEAD_BYTES], id[IOT_BUILD_ID_MAX_BYTES];
	struct stat stat;
	ssize_t bytes;

	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode))
		return false;
	if (!object->build[0])
		return stat.st_ino == object->ino && stat.st_dev == object->dev;
	bytes = pread(fd, head, sizeof(head), 0);
	digits_of(id, bytes > 0 ? iot_build_id_find(head, (size_t)bytes, id) : 0, build);
	return !strcmp(build, object->build);
}

/* Nothing is downloaded: debug information comes from the file, or from where the system keeps it. */
static struct elf *elf_load(const char *path, int fd)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	struct elf *elf = calloc(1, sizeof(*elf));

	if (elf)
		elf->dwfl = dwfl_begin(&callbacks);
	if (!elf || !elf->dwfl) {
		free(elf);
		close(fd);
		return NULL;
	}
	dwfl_report_begin(elf->dwfl);
	elf->module = dwfl_report_offline(elf->dwfl, path, path, fd); /* takes the descriptor if it succeeds */
	dwfl_report_end(elf->dwfl, NULL, NULL);
	if (elf->module)
		return elf;
	close(fd);
	dwfl_end(elf->dwfl);
	free(elf);
	return NULL;
}

/* Return: the open object; NULL if its file is not here. */
static struct elf *elf_of(struct object *object)
{
	int fd;

	if (object->is_tried)
		return object->elf;
	object->is_tried = true;
	unsetenv("DEBUGINFOD_URLS");
	fd = open(object->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (is_recorded(object, fd))
		object->elf = elf_load(object->path, fd);
	else
		close(fd);
	return object->elf;
}

/* Return: the address that elfutils gives to an offset in the file; 0 if no code is there. */
static GElf_Addr address_of(const struct elf *elf, u64 offset_bytes)
{
	GElf_Addr bias;
	Elf *file = dwfl_module_getelf(elf->module, &bias);
	size_t count = 0, i;
	GElf_Phdr segment;

	if (!file || elf_getphdrnum(file, &count))
		return 0;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(file, (int)i, &segment) && segment.p_type == PT_LOAD && offset_bytes >= segment.p_offset &&
		    offset_bytes - segment.p_offset < segment.p_filesz)
			return segment.p_vaddr + (offset_bytes - segment.p_offset) + bias;
	return 0;
}

/**
 * object_find() - the function and line of a place
 * @object: any
 * @offset_bytes: in its file
 * @is_return: it is a return address: the call is before it
 * @frame: the function, file and line are set if they are known; they live as long as the object
 */
void object_find(struct object *object, u64 offset_bytes, bool is_return, struct symbols_frame *frame)
{
	struct elf *elf = elf_of(object);
	GElf_Addr address = elf ? address_of(elf, offset_bytes - is_return) : 0;
	Dwfl_Line *line;
	int number = 0;

	if (!address)
		return;
	frame->function = dwfl_module_addrname(elf->module, address);
	line = dwfl_module_getsrc(elf->module, address);
	if (line)
		frame->file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	frame->line = number > 0 ? (u32)number : 0;
}

static int machine_of(const struct elf *elf)
{
	GElf_Addr bias;
	GElf_Ehdr head;
	Elf *file = dwfl_module_getelf(elf->module, &bias);

	return file && gelf_getehdr(file, &head) ? head.e_machine : EM_NONE;
}

/* The numbers of registers are those of DWARF. On x86-64, the return address is below the frame. */
static enum frame_rule rule_x86(Dwarf_Frame *frame, u64 *bytes)
{
	bool is_indexed;
	Dwarf_Op *op;
	size_t count;
	u64 number;

	if (dwarf_frame_cfa(frame, &op, &count) || count != 1)
		return FRAME_UNKNOWN;
	is_indexed = op->atom == DW_OP_bregx;
	if (!is_indexed && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31))
		return FRAME_UNKNOWN;
	number = is_indexed ? op->number : (u64)op->atom - DW_OP_breg0;
	*bytes = is_indexed ? op->number2 : op->number;
	return number == 7 ? FRAME_BY_STACK : number == 6 ? FRAME_BY_POINTER : FRAME_UNKNOWN;
}

static bool is_stored(Dwarf_Frame *frame, int number)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	return !dwarf_frame_register(frame, number, memory, &ops, &count) && count;
}

/* On aarch64, the frame pointer and the return address are stored as a pair, or neither is; and the frame pointer is set then. */
static enum frame_rule rule_aarch64(Dwarf_Frame *frame)
{
	if (is_stored(frame, 29))
		return FRAME_BY_POINTER;
	return is_stored(frame, 30) ? FRAME_UNKNOWN : FRAME_IN_LINK;
}

/**
 * object_frame() - how a function finds its frame
 * @object: any
 * @offset_bytes, @is_return: as of object_find()
 * @bytes: out: if by the stack pointer, from there to the beginning of the frame; on x86-64, the return address ends there
 */
enum frame_rule object_frame(struct object *object, u64 offset_bytes, bool is_return, u64 *bytes)
{
	struct elf *elf = elf_of(object);
	GElf_Addr address = elf ? address_of(elf, offset_bytes - is_return) : 0;
	enum frame_rule rule = FRAME_UNKNOWN;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *rules;
	Dwarf_Addr bias;
	int machine;

	rules = address ? dwfl_module_eh_cfi(elf->module, &bias) : NULL;
	if (!rules || dwarf_cfi_addrframe(rules, address - bias, &frame))
		return FRAME_UNKNOWN;
	machine = machine_of(elf);
	if (machine == EM_X86_64)
		rule = rule_x86(frame, bytes);
	else if (machine == EM_AARCH64)
		rule = rule_aarch64(frame);
	free(frame);
	return rule;
}

/**
 * object_close() - free an object
 */
void object_close(struct object *object)
{
	if (object->elf)
		dwfl_end(object->elf->dwfl);
	free(object->elf);
	free(object->path);
	free(object);
}

#else

bool symbols_has_elfutils(void)
{
	return false;
}

void object_find(struct object *object, u64 offset_bytes, bool is_return, struct symbols_frame *frame)
{
	(void)object;
	(void)offset_bytes;
	(void)is_return;
	(void)frame;
}

enum frame_rule object_frame(struct object *object, u64 offset_bytes, bool is_return, u64 *bytes)
{
	(void)object;
	(void)offset_bytes;
	(void)is_return;
	(void)bytes;
	return FRAME_UNKNOWN;
}

void object_close(struct object *object)
{
	free(object->path);
	free(object);
}

#endif
