// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Whether the opensm that loads us has the structures that we were compiled with.

/*
 * opensm compares version strings, but a build with other options (without perfmgr, say) moves
 * fields under the same version. When opensm loads plugins it has already tied its parts together;
 * if each knot is found where our headers put it, everything up to the last one is in place.
 */

#include "layout.h"

const char *layout_mismatch(const osm_opensm_t *osm)
{
	if (osm->subn.p_osm != osm)
		return "subn.p_osm";
	if (osm->sm.p_subn != &osm->subn)
		return "sm.p_subn";
	if (osm->sm.p_lock != &osm->lock)
		return "sm.p_lock";
	if (osm->sm.p_log != &osm->log)
		return "sm.p_log";
	if (osm->sm.mad_ctrl.p_stats != &osm->stats)
		return "sm.mad_ctrl.p_stats";
	if (osm->vl15.p_stats != &osm->stats)
		return "vl15.p_stats";
	return NULL;
}
