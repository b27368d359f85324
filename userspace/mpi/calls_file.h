/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls_file.h - the wrapped calls on files: a part of calls.h.
 */
#ifndef IOTAPE_MPI_CALLS_FILE_H
#define IOTAPE_MPI_CALLS_FILE_H

/*
 * In these rows, `root` is true if the call is collective on `file`. D() moves data, whose
 * amount is in `count` and `type`; A() also has its position, in `offset`; P() has neither, and is the end of a split
 * collective or moves no data.
 */
#define IOT_MPI_FILE_DATA(D, A, is_all, read, Const, Suffix, _c, Count)                         \
	IOT_MPI_ROW(D, File_##read##Suffix##_c, file_##read##Suffix, is_all,                    \
		    (MPI_File file, Const void *buffer, Count count, MPI_Datatype type, MPI_Status *status), \
		    (file, buffer, count, type, status))

#define IOT_MPI_FILE_DATA_AT(D, A, is_all, read, Const, Suffix, _c, Count)                      \
	IOT_MPI_ROW(A, File_##read##Suffix##_c, file_##read##Suffix, is_all,                    \
		    (MPI_File file, MPI_Offset offset, Const void *buffer, Count count, MPI_Datatype type, \
		     MPI_Status *status),                                                       \
		    (file, offset, buffer, count, type, status))

#define IOT_MPI_FILE_IDATA(D, A, is_all, read, Const, Suffix, _c, Count)                \
	IOT_MPI_ROW(D, File_##read##Suffix##_c, file_##read##Suffix, is_all,            \
		    (MPI_File file, Const void *buffer, Count count, MPI_Datatype type, \
		     MPI_Request *request),                                             \
		    (file, buffer, count, type, request))

#define IOT_MPI_FILE_IDATA_AT(D, A, is_all, read, Const, Suffix, _c, Count)                     \
	IOT_MPI_ROW(A, File_##read##Suffix##_c, file_##read##Suffix, is_all,                    \
		    (MPI_File file, MPI_Offset offset, Const void *buffer, Count count, MPI_Datatype type, \
		     MPI_Request *request),                                                     \
		    (file, offset, buffer, count, type, request))

#define IOT_MPI_FILE_BEGIN(D, A, is_all, read, Const, Suffix, _c, Count)                 \
	IOT_MPI_ROW(D, File_##read##Suffix##_c, file_##read##Suffix, is_all,             \
		    (MPI_File file, Const void *buffer, Count count, MPI_Datatype type), \
		    (file, buffer, count, type))

#define IOT_MPI_FILE_BEGIN_AT(D, A, is_all, read, Const, Suffix, _c, Count)                     \
	IOT_MPI_ROW(A, File_##read##Suffix##_c, file_##read##Suffix, is_all,                    \
		    (MPI_File file, MPI_Offset offset, Const void *buffer, Count count, MPI_Datatype type), \
		    (file, offset, buffer, count, type))

#define IOT_MPI_FILE_END(D, A, is_all, read, Const, Suffix, _c, Count)   \
	IOT_MPI_ROW(D, File_##read##Suffix, file_##read##Suffix, is_all, \
		    (MPI_File file, Const void *buffer, MPI_Status *status), (file, buffer, status))

/* Both directions. */
#define IOT_MPI_FILE_TWO(SHAPE, D, A, is_all, read, write, Suffix, _c, Count) \
	SHAPE(D, A, is_all, read, , Suffix, _c, Count)                        \
	SHAPE(D, A, is_all, write, const, Suffix, _c, Count)

#define IOT_MPI_SIZED_FILE_WAITING(D, A, _c, Count)                                           \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 0, read, write, , _c, Count)                \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 1, read, write, _all, _c, Count)            \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 0, read, write, _shared, _c, Count)         \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA, D, A, 1, read, write, _ordered, _c, Count)        \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA_AT, D, A, 0, read, write, _at, _c, Count)          \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_DATA_AT, D, A, 1, read, write, _at_all, _c, Count)      \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_BEGIN, D, A, 1, read, write, _all_begin, _c, Count)     \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_BEGIN, D, A, 1, read, write, _ordered_begin, _c, Count) \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_BEGIN_AT, D, A, 1, read, write, _at_all_begin, _c, Count)

#define IOT_MPI_SIZED_FILE_REQUESTS(D, A, _c, Count)                                     \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA, D, A, 0, iread, iwrite, , _c, Count)        \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA, D, A, 1, iread, iwrite, _all, _c, Count)    \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA, D, A, 0, iread, iwrite, _shared, _c, Count) \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA_AT, D, A, 0, iread, iwrite, _at, _c, Count)  \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_IDATA_AT, D, A, 1, iread, iwrite, _at_all, _c, Count)

#define IOT_MPI_FILE_WAITING(D, A)              \
	IOT_MPI_SIZED_FILE_WAITING(D, A, , int) \
	IOT_MPI_SIZED_FILE_WAITING(D, A, _c, MPI_Count)
#define IOT_MPI_FILE_REQUESTS(D, A)              \
	IOT_MPI_SIZED_FILE_REQUESTS(D, A, , int) \
	IOT_MPI_SIZED_FILE_REQUESTS(D, A, _c, MPI_Count)

/* Of those that end a split collective, and those that move no data. */
#define IOT_MPI_FILE_PLAIN(P)                                                                   \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_END, P, , 1, read, write, _all_end, , )                   \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_END, P, , 1, read, write, _ordered_end, , )               \
	IOT_MPI_FILE_TWO(IOT_MPI_FILE_END, P, , 1, read, write, _at_all_end, , )                \
	IOT_MPI_ROW(P, File_sync, file_sync, 1, (MPI_File file), (file))                        \
	IOT_MPI_ROW(P, File_set_atomicity, file_set_atomicity, 1, (MPI_File file, int is_atomic), \
		    (file, is_atomic))

/* The one that sets a view. */
#define IOT_MPI_FILE_VIEW(P)                                                                    \
	IOT_MPI_ROW(P, File_set_view, file_set_view, 1,                                         \
		    (MPI_File file, MPI_Offset first, MPI_Datatype element, MPI_Datatype type,  \
		     const char *representation, MPI_Info info),                                \
		    (file, first, element, type, representation, info))

/* Of those that say where, or how long, and move no data. */
#define IOT_MPI_FILE_PLACES(P)                                                                  \
	IOT_MPI_ROW(P, File_set_size, file_set_size, 1, (MPI_File file, MPI_Offset offset), (file, offset)) \
	IOT_MPI_ROW(P, File_preallocate, file_preallocate, 1, (MPI_File file, MPI_Offset offset), \
		    (file, offset))

/* Of those that move a file pointer. */
#define IOT_MPI_FILE_SEEKS(P)                                                                   \
	IOT_MPI_ROW(P, File_seek, file_seek, 0, (MPI_File file, MPI_Offset offset, int whence), \
		    (file, offset, whence))                                                     \
	IOT_MPI_ROW(P, File_seek_shared, file_seek_shared, 1, (MPI_File file, MPI_Offset offset, int whence), \
		    (file, offset, whence))

#define IOT_MPI_FILE_LIFE(C)                                                                    \
	IOT_MPI_ROW(C, File_open, file_open, 1,                                                 \
		    (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file), \
		    (comm, path, mode, info, file))                                             \
	IOT_MPI_ROW(C, File_close, file_close, 1, (MPI_File * file), (file))

#define IOT_MPI_FILES(C)            \
	IOT_MPI_FILE_WAITING(C, C)  \
	IOT_MPI_FILE_REQUESTS(C, C) \
	IOT_MPI_FILE_PLAIN(C)       \
	IOT_MPI_FILE_VIEW(C)        \
	IOT_MPI_FILE_PLACES(C)      \
	IOT_MPI_FILE_SEEKS(C)       \
	IOT_MPI_FILE_LIFE(C)

#endif
