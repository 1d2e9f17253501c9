// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Varlink interface descriptions: parse one, and check calls, replies and errors against it.
#include "varlink/idl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

#define TYPE_DEPTH_MAX 32 /* structs, arrays… within each other in a description */

enum kind {
	KIND_BOOL,
	KIND_INT,
	KIND_FLOAT,
	KIND_STRING,
	KIND_OBJECT,
	KIND_ENUM,
	KIND_STRUCT,
	KIND_ARRAY,
	KIND_MAP,
	KIND_NAMED,
};

struct type {
	enum kind kind;
	bool nullable;
	struct type *element;	   /* of an array or map */
	const struct type *target; /* of a named type; another member's */
	char *name;		   /* of a named type */
	struct field *fields;	   /* of a struct; of an enum: names alone */
	size_t n_fields;
};

struct field {
	char *name;
	struct type *type;
};

enum member_kind {
	MEMBER_TYPE,
	MEMBER_METHOD,
	MEMBER_ERROR,
};

struct varlink_interface_method {
	enum member_kind kind;
	char *name;
	struct type *in; /* of a type and an error: its only one */
	struct type *out;
};

struct varlink_interface {
	char *text;
	char *name;
	struct varlink_interface_method **members;
	size_t n_members;
};

/* ---- freeing ---- */

static void type_free(struct type *type)
{
	if (!type)
		return;
	for (size_t i = 0; i < type->n_fields; i++) {
		free(type->fields[i].name);
		type_free(type->fields[i].type);
	}
	free(type->fields);
	type_free(type->element);
	free(type->name);
	free(type);
}

DEFINE_CLEANUP(struct type *, type_free);

static void member_free(struct varlink_interface_method *member)
{
	type_free(member->in);
	type_free(member->out);
	free(member->name);
	free(member);
}

DEFINE_CLEANUP(struct varlink_interface_method *, member_free);

struct varlink_interface *varlink_interface_free(struct varlink_interface *interface)
{
	if (!interface)
		return NULL;
	for (size_t i = 0; i < interface->n_members; i++)
		member_free(interface->members[i]);
	free(interface->members);
	free(interface->name);
	free(interface->text);
	free(interface);
	return NULL;
}

DEFINE_CLEANUP(struct varlink_interface *, varlink_interface_free);

/* ---- words ---- */

struct parser {
	const char *start;
	const char *p;
};

static void skip_blanks(struct parser *parser)
{
	for (;;) {
		parser->p += strspn(parser->p, " \t\r\n");
		if (*parser->p != '#')
			return;
		parser->p += strcspn(parser->p, "\n");
	}
}

static bool take(struct parser *parser, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(parser);
	if (strncmp(parser->p, word, n) != 0)
		return false;
	parser->p += n;
	return true;
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alnum(char c)
{
	return is_alpha(c) || (c >= '0' && c <= '9');
}

/* Letters and digits; @inner may stand between two of them. Returns the length, 0: no name. */
static size_t name_length(const char *p, char inner, bool repeated)
{
	size_t n = 0, end = 0;

	while (is_alnum(p[n]) || (inner && n > 0 && p[n] == inner)) {
		if (p[n] == inner && !repeated && p[n - 1] == inner)
			break;
		n++;
		if (is_alnum(p[n - 1]))
			end = n;
	}
	return end;
}

static int take_n(struct parser *parser, size_t n, char **ret)
{
	char *name;

	if (n == 0)
		return -EBADMSG;
	name = strndup(parser->p, n);
	if (!name)
		return -ENOMEM;
	parser->p += n;
	*ret = name;
	return 0;
}

/* A keyword or the name of a type, method or error: no separators within. */
static int take_word(struct parser *parser, char **ret)
{
	skip_blanks(parser);
	return take_n(parser, name_length(parser->p, '\0', false), ret);
}

static int take_member_name(struct parser *parser, char **ret)
{
	skip_blanks(parser);
	if (*parser->p < 'A' || *parser->p > 'Z')
		return -EBADMSG;
	return take_word(parser, ret);
}

static int take_field_name(struct parser *parser, char **ret)
{
	skip_blanks(parser);
	if (!is_alpha(*parser->p))
		return -EBADMSG;
	return take_n(parser, name_length(parser->p, '_', false), ret);
}

static int take_interface_name(struct parser *parser, char **ret)
{
	size_t n, labels = 0, total = 0;

	skip_blanks(parser);
	if (!is_alpha(*parser->p))
		return -EBADMSG;
	for (;;) {
		n = name_length(parser->p + total, '-', true);
		if (n == 0)
			return -EBADMSG;
		total += n;
		labels++;
		if (parser->p[total] != '.')
			break;
		total++;
	}
	if (labels < 2 || total > 255)
		return -EBADMSG;
	return take_n(parser, total, ret);
}

/* ---- types ---- */

static int parse_type(struct parser *parser, unsigned depth, struct type **ret);

static int add_field(struct type *type, char *name, struct type *field_type)
{
	struct field *fields;

	for (size_t i = 0; i < type->n_fields; i++)
		if (strcmp(type->fields[i].name, name) == 0)
			return -EBADMSG;
	fields = reallocarray(type->fields, type->n_fields + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	type->fields = fields;
	type->fields[type->n_fields++] = (struct field){.name = name, .type = field_type};
	return 0;
}

/* After the '(': fields with types make a struct, names alone an enum, nothing an empty struct. */
static int parse_fields(struct parser *parser, unsigned depth, struct type *type)
{
	int r;

	type->kind = KIND_STRUCT;
	if (take(parser, ")"))
		return 0;

	do {
		_cleanup_(type_freep) struct type *field_type = NULL;
		_cleanup_free_ char *name = NULL;

		r = take_field_name(parser, &name);
		if (r < 0)
			return r;
		if (take(parser, ":")) {
			if (type->kind == KIND_ENUM)
				return -EBADMSG;
			r = parse_type(parser, depth, &field_type);
			if (r < 0)
				return r;
		} else {
			if (type->kind == KIND_STRUCT && type->n_fields > 0)
				return -EBADMSG;
			type->kind = KIND_ENUM;
		}
		r = add_field(type, name, field_type);
		if (r < 0)
			return r;
		(void)TAKE_PTR(name);
		(void)TAKE_PTR(field_type);
	} while (take(parser, ","));

	return take(parser, ")") ? 0 : -EBADMSG;
}

static int parse_type_word(struct parser *parser, struct type *type)
{
	static const struct {
		const char *word;
		enum kind kind;
	} words[] = {
		{"bool", KIND_BOOL},	 {"int", KIND_INT},	  {"float", KIND_FLOAT},
		{"string", KIND_STRING}, {"object", KIND_OBJECT},
	};
	_cleanup_free_ char *word = NULL;
	int r;

	r = take_word(parser, &word);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ELEMENTSOF(words); i++)
		if (strcmp(words[i].word, word) == 0) {
			type->kind = words[i].kind;
			return 0;
		}
	if (*word < 'A' || *word > 'Z')
		return -EBADMSG;
	type->kind = KIND_NAMED;
	type->name = TAKE_PTR(word);
	return 0;
}

static int parse_type(struct parser *parser, unsigned depth, struct type **ret)
{
	_cleanup_(type_freep) struct type *type = NULL;
	int r;

	if (depth >= TYPE_DEPTH_MAX)
		return -EBADMSG;
	type = calloc(1, sizeof(*type));
	if (!type)
		return -ENOMEM;

	type->nullable = take(parser, "?");
	if (take(parser, "[]")) {
		type->kind = KIND_ARRAY;
		r = parse_type(parser, depth + 1, &type->element);
	} else if (take(parser, "[string]")) {
		type->kind = KIND_MAP;
		r = parse_type(parser, depth + 1, &type->element);
	} else if (take(parser, "(")) {
		r = parse_fields(parser, depth + 1, type);
	} else {
		r = parse_type_word(parser, type);
	}
	if (r < 0)
		return r;

	*ret = TAKE_PTR(type);
	return 0;
}

/* A struct; where @or_enum, an enum, too. */
static int parse_composed(struct parser *parser, bool or_enum, struct type **ret)
{
	_cleanup_(type_freep) struct type *type = NULL;
	int r;

	skip_blanks(parser);
	if (*parser->p != '(')
		return -EBADMSG;
	r = parse_type(parser, 0, &type);
	if (r < 0)
		return r;
	if (type->kind == KIND_ENUM && !or_enum)
		return -EBADMSG;
	*ret = TAKE_PTR(type);
	return 0;
}

/* ---- members ---- */

static struct varlink_interface_method *find(const struct varlink_interface *interface,
					     enum member_kind kind, const char *name)
{
	for (size_t i = 0; i < interface->n_members; i++) {
		struct varlink_interface_method *member = interface->members[i];

		if (member->kind == kind && strcmp(member->name, name) == 0)
			return member;
	}
	return NULL;
}

static int parse_member(struct parser *parser, struct varlink_interface_method **ret)
{
	_cleanup_(member_freep) struct varlink_interface_method *member = NULL;
	_cleanup_free_ char *keyword = NULL;
	int r;

	member = calloc(1, sizeof(*member));
	if (!member)
		return -ENOMEM;

	r = take_word(parser, &keyword);
	if (r < 0)
		return r;
	if (strcmp(keyword, "type") == 0)
		member->kind = MEMBER_TYPE;
	else if (strcmp(keyword, "method") == 0)
		member->kind = MEMBER_METHOD;
	else if (strcmp(keyword, "error") == 0)
		member->kind = MEMBER_ERROR;
	else
		return -EBADMSG;

	r = take_member_name(parser, &member->name);
	if (r < 0)
		return r;
	r = parse_composed(parser, member->kind == MEMBER_TYPE, &member->in);
	if (r < 0)
		return r;
	if (member->kind == MEMBER_METHOD) {
		if (!take(parser, "->"))
			return -EBADMSG;
		r = parse_composed(parser, false, &member->out);
		if (r < 0)
			return r;
	}

	*ret = TAKE_PTR(member);
	return 0;
}

static int add_member(struct varlink_interface *interface, struct varlink_interface_method *member)
{
	struct varlink_interface_method **members;

	for (size_t i = 0; i < interface->n_members; i++)
		if (strcmp(interface->members[i]->name, member->name) == 0)
			return -EBADMSG;
	members = reallocarray(interface->members, interface->n_members + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	interface->members = members;
	interface->members[interface->n_members++] = member;
	return 0;
}

static int resolve(const struct varlink_interface *interface, struct type *type)
{
	const struct varlink_interface_method *member;
	int r;

	if (!type)
		return 0;
	if (type->kind == KIND_NAMED) {
		member = find(interface, MEMBER_TYPE, type->name);
		if (!member)
			return -EBADMSG;
		type->target = member->in;
	}
	for (size_t i = 0; i < type->n_fields; i++) {
		r = resolve(interface, type->fields[i].type);
		if (r < 0)
			return r;
	}
	return resolve(interface, type->element);
}

static int parse_interface(struct parser *parser, struct varlink_interface *interface)
{
	_cleanup_free_ char *keyword = NULL;
	bool has_method = false;
	int r;

	r = take_word(parser, &keyword);
	if (r < 0)
		return r;
	if (strcmp(keyword, "interface") != 0)
		return -EBADMSG;
	r = take_interface_name(parser, &interface->name);
	if (r < 0)
		return r;

	for (skip_blanks(parser); *parser->p; skip_blanks(parser)) {
		_cleanup_(member_freep) struct varlink_interface_method *member = NULL;

		r = parse_member(parser, &member);
		if (r < 0)
			return r;
		r = add_member(interface, member);
		if (r < 0)
			return r;
		has_method = has_method || member->kind == MEMBER_METHOD;
		(void)TAKE_PTR(member);
	}
	if (!has_method)
		return -EBADMSG;

	for (size_t i = 0; i < interface->n_members; i++) {
		r = resolve(interface, interface->members[i]->in);
		if (r >= 0)
			r = resolve(interface, interface->members[i]->out);
		if (r < 0)
			return r;
	}
	return 0;
}

int varlink_interface_parse(const char *text, struct varlink_interface **ret, unsigned *ret_line)
{
	_cleanup_(varlink_interface_freep) struct varlink_interface *interface = NULL;
	struct parser parser;
	unsigned line = 1;
	int r;

	interface = calloc(1, sizeof(*interface));
	if (!interface)
		return -ENOMEM;
	interface->text = strdup(text);
	if (!interface->text)
		return -ENOMEM;

	parser = (struct parser){.start = interface->text, .p = interface->text};
	r = parse_interface(&parser, interface);
	if (r < 0) {
		for (const char *p = parser.start; p < parser.p; p++)
			line += *p == '\n';
		if (r == -EBADMSG && ret_line)
			*ret_line = line;
		return r;
	}

	*ret = TAKE_PTR(interface);
	return 0;
}

const char *varlink_interface_name(const struct varlink_interface *interface)
{
	return interface->name;
}

const char *varlink_interface_text(const struct varlink_interface *interface)
{
	return interface->text;
}

const struct varlink_interface_method *varlink_interface_method(
	const struct varlink_interface *interface, const char *name)
{
	return find(interface, MEMBER_METHOD, name);
}

const struct varlink_interface_method *varlink_interface_nth_method(
	const struct varlink_interface *interface, size_t n)
{
	for (size_t i = 0; i < interface->n_members; i++)
		if (interface->members[i]->kind == MEMBER_METHOD && n-- == 0)
			return interface->members[i];
	return NULL;
}

const char *varlink_interface_method_name(const struct varlink_interface_method *method)
{
	return method->name;
}

bool varlink_interface_has_error(const struct varlink_interface *interface, const char *name)
{
	return find(interface, MEMBER_ERROR, name);
}

bool varlink_interface_method_has_list(const struct varlink_interface_method *method,
				       const char *name)
{
	for (size_t i = 0; i < method->out->n_fields; i++)
		if (strcmp(method->out->fields[i].name, name) == 0)
			return method->out->fields[i].type->kind == KIND_ARRAY;
	return false;
}

/* ---- checks ---- */

/* The way to a value, from the innermost outwards; on the stack of check(). */
struct step {
	const struct step *parent;
	const char *key; /* of a struct or map; NULL: an array's */
	size_t index;
};

static size_t print_path(const struct step *step, char *buffer, size_t size)
{
	size_t n;
	int written;

	if (!step)
		return 0;
	n = print_path(step->parent, buffer, size);
	if (n >= size)
		return n;
	if (step->key)
		written =
			snprintf(buffer + n, size - n, "%s%s", step->parent ? "." : "", step->key);
	else
		written = snprintf(buffer + n, size - n, "[%zu]", step->index);
	return written < 0 ? n : n + (size_t)written;
}

static int mismatch(const struct step *step, const char *why, struct varlink_mismatch *ret)
{
	if (!ret)
		return -EINVAL;
	*ret = (struct varlink_mismatch){.why = why};
	print_path(step, ret->path, sizeof(ret->path));
	for (; step; step = step->parent)
		ret->field = step->key;
	return -EINVAL;
}

static int check(const struct type *type, const json_t *value, const struct step *step,
		 struct varlink_mismatch *ret);

static const struct field *find_field(const struct type *type, const char *name)
{
	for (size_t i = 0; i < type->n_fields; i++)
		if (strcmp(type->fields[i].name, name) == 0)
			return &type->fields[i];
	return NULL;
}

static int check_struct(const struct type *type, const json_t *value, const struct step *parent,
			struct varlink_mismatch *ret)
{
	json_t *object = (json_t *)value, *member; /* jansson's iterators take no const */
	const char *key;
	int r;

	if (!json_is_object(value))
		return mismatch(parent, "not an object", ret);

	for (size_t i = 0; i < type->n_fields; i++) {
		const struct field *field = &type->fields[i];
		struct step step = {.parent = parent, .key = field->name};

		member = json_object_get(object, field->name);
		if (!member && !field->type->nullable)
			return mismatch(&step, "missing", ret);
		if (!member)
			continue;
		r = check(field->type, member, &step, ret);
		if (r < 0)
			return r;
	}

	json_object_foreach (object, key, member) {
		struct step step = {.parent = parent, .key = key};

		if (!find_field(type, key))
			return mismatch(&step, "not declared", ret);
	}
	return 0;
}

static int check_elements(const struct type *type, const json_t *value, const struct step *parent,
			  struct varlink_mismatch *ret)
{
	json_t *container = (json_t *)value, *member;
	const char *key;
	size_t i;
	int r;

	if (type->kind == KIND_ARRAY) {
		if (!json_is_array(value))
			return mismatch(parent, "not an array", ret);
		json_array_foreach (container, i, member) {
			struct step step = {.parent = parent, .index = i};

			r = check(type->element, member, &step, ret);
			if (r < 0)
				return r;
		}
		return 0;
	}

	if (!json_is_object(value))
		return mismatch(parent, "not an object", ret);
	json_object_foreach (container, key, member) {
		struct step step = {.parent = parent, .key = key};

		r = check(type->element, member, &step, ret);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check(const struct type *type, const json_t *value, const struct step *step,
		 struct varlink_mismatch *ret)
{
	const char *why = NULL;

	if (json_is_null(value))
		return type->nullable ? 0 : mismatch(step, "null", ret);

	switch (type->kind) {
	case KIND_BOOL:
		why = json_is_boolean(value) ? NULL : "not a bool";
		break;
	case KIND_INT:
		why = json_is_integer(value) ? NULL : "not an int";
		break;
	case KIND_FLOAT: /* 1.0 is 1 to many encoders */
		why = json_is_number(value) ? NULL : "not a float";
		break;
	case KIND_STRING:
		why = json_is_string(value) ? NULL : "not a string";
		break;
	case KIND_OBJECT:
		why = json_is_object(value) ? NULL : "not an object";
		break;
	case KIND_ENUM:
		if (!json_is_string(value))
			why = "not a string";
		else if (!find_field(type, json_string_value(value)))
			why = "not of the enum";
		break;
	case KIND_STRUCT:
		return check_struct(type, value, step, ret);
	case KIND_ARRAY:
	case KIND_MAP:
		return check_elements(type, value, step, ret);
	case KIND_NAMED:
		return check(type->target, value, step, ret);
	}
	return why ? mismatch(step, why, ret) : 0;
}

int varlink_interface_check_call(const struct varlink_interface_method *method,
				 const json_t *parameters, struct varlink_mismatch *ret_mismatch)
{
	return check(method->in, parameters, NULL, ret_mismatch);
}

int varlink_interface_check_reply(const struct varlink_interface_method *method,
				  const json_t *parameters, struct varlink_mismatch *ret_mismatch)
{
	return check(method->out, parameters, NULL, ret_mismatch);
}

int varlink_interface_check_error(const struct varlink_interface *interface, const char *name,
				  const json_t *parameters, struct varlink_mismatch *ret_mismatch)
{
	const struct varlink_interface_method *error = find(interface, MEMBER_ERROR, name);

	return error ? check(error->in, parameters, NULL, ret_mismatch) : -ENOENT;
}
