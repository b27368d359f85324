// SPDX-License-Identifier: GPL-2.0-only
/*
 * xml_document.c - read a document that nobody trusts, and validate it against workload.xsd. There are no document
 * types, entities, namespaces or processing instructions, and nothing but the given bytes is read.
 */
#ifdef IOTAPE_HAS_LIBXML2
#include <ctype.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlschemas.h>

#include "xml.h"

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_error;
#else
typedef xmlError *xml_error;
#endif

struct problems {
	struct pattern_refusal *refusal;
	const char *kind;
	bool is_out_of_memory;
	bool is_failed;
};

/* The first sentence of libxml2, without the full stop at its end, and without characters that a terminal might obey. */
static void make_printable(const char *sentence, char printable[400])
{
	const char *stop = strstr(sentence, ". ");
	size_t bytes = stop ? (size_t)(stop - sentence) : strcspn(sentence, "\n"), i;

	bytes = bytes > 380 ? 380 : bytes;
	while (bytes && strchr(". \n", sentence[bytes - 1]))
		bytes--;
	for (i = 0; i < bytes; i++)
		printable[i] = isprint((unsigned char)sentence[i]) ? sentence[i] : '?';
	printable[bytes] = 0;
	if (isupper((unsigned char)printable[0]) && islower((unsigned char)printable[1]))
		printable[0] = (char)tolower((unsigned char)printable[0]);
}

/* States the first problem. */
static void state(struct problems *p, long line, const char *kind, const char *sentence)
{
	char printable[400];

	if (p->is_failed)
		return;
	p->is_failed = true;
	make_printable(sentence, printable);
	snprintf(p->refusal->text, sizeof(p->refusal->text), "%ld: %s%s", line > 0 ? line : 1, kind, printable);
}

static void note_problem(void *data, xml_error error)
{
	struct problems *p = data;

	if (error->level < XML_ERR_ERROR)
		return;
	if (error->code == XML_ERR_NO_MEMORY)
		p->is_out_of_memory = p->is_failed = true;
	state(p, error->node ? xmlGetLineNo(error->node) : error->line, p->kind, error->message ? error->message : "an unknown error");
}

/* The first part of a document type, before any of its entities. */
static void refuse_type(void *data, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
	xmlParserCtxt *context = data;

	(void)name;
	(void)external;
	(void)system;
	state(context->_private, xmlSAX2GetLineNumber(context), "", "a document type is not allowed, and neither are entities");
	xmlStopParser(context);
}

static xmlParserInput *load_nothing(const char *address, const char *id, xmlParserCtxt *context)
{
	(void)address;
	(void)id;
	(void)context;
	return NULL;
}

/* The validation would read other schemas that a document names: so there are no namespaces. */
static void check_node(struct problems *p, const xmlNode *node)
{
	const xmlAttr *attribute;

	if (node->type == XML_PI_NODE)
		state(p, xmlGetLineNo(node), "", "a processing instruction is not allowed");
	if (node->type != XML_ELEMENT_NODE)
		return;
	if (node->ns || node->nsDef)
		state(p, xmlGetLineNo(node), "", "a namespace is not allowed");
	for (attribute = node->properties; attribute; attribute = attribute->next)
		if (attribute->ns)
			state(p, xmlGetLineNo(node), "", "a namespace is not allowed");
}

static void check_nodes(struct problems *p, const xmlDoc *document)
{
	const xmlNode *node = document->children;

	while (node && !p->is_failed) {
		check_node(p, node);
		if (node->type == XML_ELEMENT_NODE && node->children) {
			node = node->children;
			continue;
		}
		while (node && !node->next)
			node = node->parent && node->parent->type == XML_ELEMENT_NODE ? node->parent : NULL;
		node = node ? node->next : NULL;
	}
}

static void validate(struct problems *p, xmlDoc *document)
{
	xmlSchemaParserCtxt *parser = xmlSchemaNewMemParserCtxt(pattern_schema, (int)strlen(pattern_schema));
	xmlSchema *schema = parser ? xmlSchemaParse(parser) : NULL;
	xmlSchemaValidCtxt *context = schema ? xmlSchemaNewValidCtxt(schema) : NULL;

	if (context) {
		xmlSchemaSetValidStructuredErrors(context, (xmlStructuredErrorFunc)note_problem, p);
		if (xmlSchemaValidateDoc(context, document) && !p->is_failed)
			state(p, 1, p->kind, "an unknown error");
	} else if (!p->is_failed) {
		p->is_out_of_memory = p->is_failed = true;
	}
	xmlSchemaFreeValidCtxt(context);
	xmlSchemaFree(schema);
	xmlSchemaFreeParserCtxt(parser);
}

static xmlDoc *parse(struct problems *p, const char *text, size_t bytes)
{
	xmlParserCtxt *context = xmlNewParserCtxt();
	xmlDoc *document;

	if (!context) {
		p->is_out_of_memory = p->is_failed = true;
		return NULL;
	}
	context->_private = p;
	context->sax->internalSubset = refuse_type;
	document = xmlCtxtReadMemory(context, text, (int)bytes, NULL, NULL, XML_PARSE_NONET | XML_PARSE_BIG_LINES | XML_PARSE_NOCDATA);
	if (!document && !p->is_failed)
		state(p, 1, p->kind, "an unknown error");
	xmlFreeParserCtxt(context);
	return document;
}

/**
 * xml_read_document() - a valid document
 * @text, @bytes: not more than PATTERN_TEXT_MAX; nothing in it is trusted
 * @refusal: out: LINE: and a sentence
 * @is_out_of_memory: out
 *
 * Return: the document, to be freed by xmlFreeDoc(); NULL if it was refused or memory is exhausted.
 */
xmlDoc *xml_read_document(const char *text, size_t bytes, struct pattern_refusal *refusal, bool *is_out_of_memory)
{
	struct problems p = { .refusal = refusal, .kind = "not well-formed: " };
	xmlExternalEntityLoader loader = xmlGetExternalEntityLoader();
	xmlDoc *document;

	xmlInitParser();
	xmlSetExternalEntityLoader(load_nothing);
	xmlSetStructuredErrorFunc(&p, (xmlStructuredErrorFunc)note_problem);
	document = parse(&p, text, bytes);
	p.kind = "against the schema: ";
	if (!p.is_failed)
		check_nodes(&p, document);
	if (!p.is_failed)
		validate(&p, document);
	xmlSetStructuredErrorFunc(NULL, NULL);
	xmlSetExternalEntityLoader(loader);
	*is_out_of_memory = p.is_out_of_memory;
	if (!p.is_failed)
		return document;
	xmlFreeDoc(document);
	return NULL;
}
#endif
