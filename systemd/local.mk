# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Units, sysusers, tmpfiles and catalog.
dist_systemdsystemunit_DATA = systemd/ibsmd.socket systemd/ibsmd-plugin.socket
nodist_systemdsystemunit_DATA = systemd/ibsmd.service
EXTRA_DIST += systemd/ibsmd.service.in
CLEANFILES += systemd/ibsmd.service

systemd/ibsmd.service: $(srcdir)/systemd/ibsmd.service.in
	$(AM_V_GEN)$(MKDIR_P) systemd && \
		$(SED) -e 's|@sbindir[@]|$(sbindir)|g' '$(srcdir)/systemd/ibsmd.service.in' > $@.tmp && \
		mv $@.tmp $@
