/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xml.h - private to xml_document.c, xml_import.c and xml_parts.c: a workload in XML that becomes a program.
 */
#ifndef IOTAPE_PATTERN_XML_H
#define IOTAPE_PATTERN_XML_H

#include <libxml/tree.h>

#include "language_statement.h"

/**
 * struct xml_source - where a text that the reader reads is in the document
 * @attribute: NULL: it is the name of the element
 */
struct xml_source {
	const char *element;
	const char *attribute;
	long line;
};

/**
 * struct xml_pool - files of a pool
 * @path: directory, as in the text of a name
 * @directories: number of subdirectories; 0: none
 */
struct xml_pool {
	const char *name;
	const char *path;
	u64 count;
	u64 directories;
	struct xml_pool *next;
};

struct xml_datatype {
	const char *name;
	u64 bytes;
	struct xml_datatype *next;
};

/**
 * struct xml_import - a document that is read
 * @r: the reader of all its values; the line of a place is the index of its source, from 1
 * @sources: an array, to be freed
 * @next: where the next block is to be stored
 */
struct xml_import {
	struct reader *r;
	struct xml_source *sources;
	u32 source_count;
	u32 source_room;
	struct xml_pool *pools;
	struct xml_datatype *datatypes;
	struct language_block **next;
};

/* xml_document.c */
xmlDoc *xml_read_document(const char *text, size_t bytes, struct pattern_refusal *refusal, bool *is_out_of_memory);
extern const char pattern_schema[];

/* xml_import.c */
const char *xml_attribute(struct xml_import *x, xmlNode *node, const char *name);
void xml_open(struct xml_import *x, xmlNode *node, const char *attribute, const char *text);
void xml_open_text(struct xml_import *x, xmlNode *node, const char *attribute, const char *text);
void xml_close(struct xml_import *x);
void xml_fail(struct xml_import *x, xmlNode *node, const char *attribute, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
u64 xml_constant(struct xml_import *x, xmlNode *node, const char *attribute, u64 otherwise);

/* xml_parts.c */
void xml_read_variable(struct xml_import *x, xmlNode *node);
void xml_read_datatype(struct xml_import *x, xmlNode *node);
void xml_read_pool(struct xml_import *x, xmlNode *node);
void xml_use_pool(struct xml_import *x, xmlNode *node, struct language_operation *o);
struct language_operation *xml_read_transfer(struct xml_import *x, xmlNode *node);

#endif
