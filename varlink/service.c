// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// org.varlink.service: what every Varlink service tells about itself.
#include <errno.h>
#include <string.h>

#include "varlink/server-internal.h"

/* The interface as https://varlink.org/Service has it. */
const char service_description[] =
	"# What this service is, and which interfaces it offers.\n"
	"interface org.varlink.service\n"
	"\n"
	"# Who made the service, and the names of its interfaces.\n"
	"method GetInfo() -> (\n"
	"  vendor: string,\n"
	"  product: string,\n"
	"  version: string,\n"
	"  url: string,\n"
	"  interfaces: []string\n"
	")\n"
	"\n"
	"# The text that defines an interface.\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n"
	"\n"
	"# The service has no such interface.\n"
	"error InterfaceNotFound (interface: string)\n"
	"\n"
	"# The interface has no such method.\n"
	"error MethodNotFound (method: string)\n"
	"\n"
	"# The interface has this method, but the service does not implement it.\n"
	"error MethodNotImplemented (method: string)\n"
	"\n"
	"# A parameter is missing, unknown, of another type, or has a value that cannot be.\n"
	"error InvalidParameter (parameter: string)\n"
	"\n"
	"# The client may not do this.\n"
	"error PermissionDenied ()\n"
	"\n"
	"# The method answers with several replies: call it with `more`.\n"
	"error ExpectedMore ()\n";

static int get_info(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const struct varlink_server *server = userdata;
	const struct varlink_server_options *options = &server->options;
	json_t *names;

	(void)parameters;

	names = json_array();
	for (const struct interface *i = server->interfaces; i; i = i->next)
		if (json_array_append_new(
			    names, json_string(varlink_interface_name(i->description))) < 0) {
			json_decref(names);
			return -ENOMEM;
		}

	return varlink_call_reply(call, json_pack("{s:s, s:s, s:s, s:s, s:o}", "vendor",
						  options->vendor, "product", options->product,
						  "version", options->version, "url", options->url,
						  "interfaces", names));
}

static int get_interface_description(struct varlink_call *call, json_t *parameters, void *userdata)
{
	const struct varlink_server *server = userdata;
	json_t *name = json_object_get(parameters, "interface");
	const struct interface *interface;

	interface =
		server_find_interface(server, json_string_value(name), json_string_length(name));
	if (!interface)
		return call_service_error(call, "InterfaceNotFound",
					  json_pack("{s:O}", "interface", name));

	return varlink_call_reply(call, json_pack("{s:s}", "description",
						  varlink_interface_text(interface->description)));
}

const struct varlink_method service_methods[] = {
	{.name = "GetInfo", .handler = get_info},
	{.name = "GetInterfaceDescription", .handler = get_interface_description},
};
const size_t service_n_methods = ELEMENTSOF(service_methods);
