import type { CorrectedTool, SiteEvent, SiteTool } from '#contracts/events/corpus/site.ts';
import type { SiteScan } from '#contracts/observations/site-scan.ts';
import { inGroups, type SiteSighting } from './sighting.ts';
import {
  compareScans,
  oldestOf,
  type RecordedScan,
  type ScanHistory,
  type ToolStanding,
  standingsAfter,
  standingsOf,
  withScan,
} from './standing.ts';
import type { SiteState } from './state.ts';

/** Also for the last scan itself. */
export const isLate = (scan: SiteScan, { history }: SiteState): boolean => {
  const last = history.scans.at(-1);
  return last !== undefined && compareScans(scan, last) <= 0;
};

const isSame = (one: ToolStanding | undefined, other: ToolStanding): boolean =>
  one?.present === other.present &&
  one.missing_since === other.missing_since &&
  one.detected_at === other.detected_at;

/** The description stays if a later scan showed the tool. */
const describedBy = (found: SiteTool, existing: SiteTool | undefined, isNewest: boolean): SiteTool => {
  if (existing === undefined) return found;
  const [newer, older] = isNewest ? [found, existing] : [existing, found];
  return {
    ...newer,
    website_url: newer.website_url ?? older.website_url,
    split_testing: newer.split_testing || older.split_testing,
  };
};

const isSameTool = (one: SiteTool | undefined, other: SiteTool): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const correctedTools = (
  history: ScanHistory,
  scan: RecordedScan,
  found: readonly SiteTool[],
  state: SiteState,
): readonly CorrectedTool[] => {
  const before = standingsOf(history);
  const after = standingsOf(withScan(history, scan));
  const shownLater = new Set(
    history.scans.flatMap((other) => (compareScans(other, scan) > 0 ? other.shown : [])),
  );
  const descriptions = new Map(found.map((tool) => [tool.slug, tool]));
  return [...after].flatMap(([slug, standing]) => {
    const existing = state.tools.get(slug)?.tool;
    const own = descriptions.get(slug);
    const tool = own === undefined ? existing : describedBy(own, existing, !shownLater.has(slug));
    if (tool === undefined) return [];
    const { detected_at, ...now } = standing;
    return isSame(before.get(slug), standing) && isSameTool(existing, tool)
      ? []
      : [{ tool, ...now, detected_at }];
  });
};

/** A repeated or very old scan records nothing. Its split tests are history: they change no test (rules 4, 11). */
export const recordLateScan = (
  scan: SiteScan,
  at: SiteSighting,
  found: readonly SiteTool[],
  state: SiteState,
): SiteEvent[] => {
  const { history } = state;
  const { observed_at, collector, complete } = scan;
  const isKnown = history.scans.some((other) => compareScans(other, scan) === 0);
  if (isKnown || observed_at < oldestOf(history.scans)) return [];
  const shown = found.map(({ slug }) => slug);
  const recorded = { observed_at, collector, complete, shown };
  const earlier = history.scans.filter((other) => compareScans(other, scan) < 0);
  const standings = standingsAfter(standingsOf({ ...history, scans: earlier }), recorded);
  const newlyRead = scan.split_test_tools.filter(({ slug }) => !state.readable.has(slug));
  const read = scan.split_test_tools.filter(({ slug, readable }) => readable && !state.read.has(slug));
  return [
    ...inGroups(correctedTools(history, recorded, found, state), (tools) => ({
      type: 'ToolsCorrected',
      data: { ...at, tools },
    })),
    ...inGroups(
      [...new Map(newlyRead.map(({ slug, readable }) => [slug, { slug, readable }])).values()],
      (tools) => ({ type: 'SplitTestToolsRead', data: { ...at, tools } }),
    ),
    {
      type: 'SiteScanRecorded',
      data: {
        ...at,
        collector,
        complete,
        tools: [...standings.values()].filter(({ present }) => present).length,
        // A later scan that read a tool stays the last one.
        read: [...new Set(read.map(({ slug }) => slug))],
        shown,
        late_arrival: true,
      },
    },
  ];
};
