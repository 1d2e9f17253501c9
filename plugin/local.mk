# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libibsmplugin.so, loaded by opensm.
lib_LTLIBRARIES += plugin/libibsmplugin.la
noinst_LTLIBRARIES += plugin/libplugin.la

# All but the vtable: the tests link this, the plugin wraps it.
plugin_libplugin_la_SOURCES = \
	plugin/backoff.c plugin/backoff.h \
	plugin/capture.c plugin/capture.h \
	plugin/connection.c plugin/connection.h \
	plugin/layout.c plugin/layout.h \
	plugin/log.c plugin/log.h \
	plugin/options.c plugin/options.h \
	plugin/osm.h \
	plugin/plugin.h \
	plugin/report.c plugin/report.h \
	plugin/ring.c plugin/ring.h \
	plugin/sender.c plugin/sender.h \
	plugin/snapshot-buffer.c plugin/snapshot-buffer.h \
	plugin/snapshot-options.c plugin/snapshot-options.h \
	plugin/snapshot-resolve.c plugin/snapshot-resolve.h \
	plugin/snapshot-send.c plugin/snapshot-send.h \
	plugin/snapshot-take.c plugin/snapshot-take.h \
	plugin/wake.c plugin/wake.h
plugin_libplugin_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
plugin_libplugin_la_LDFLAGS = $(MODULE_LINK_FLAGS)

plugin_libibsmplugin_la_SOURCES = plugin/plugin.c
plugin_libibsmplugin_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSM_CFLAGS)
plugin_libibsmplugin_la_LIBADD = plugin/libplugin.la
plugin_libibsmplugin_la_LDFLAGS = $(MODULE_LINK_FLAGS) -module -shared -avoid-version \
	-Wl,-z,nodelete -Wl,--version-script=$(srcdir)/plugin/libibsmplugin.map
EXTRA_plugin_libibsmplugin_la_DEPENDENCIES = plugin/libibsmplugin.map
EXTRA_DIST += plugin/libibsmplugin.map
