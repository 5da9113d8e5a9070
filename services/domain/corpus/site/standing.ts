import { isEqual } from 'es-toolkit/predicate/isEqual';
import { DAY_MS } from '#contracts/values/time.ts';
import { isGone } from './sighting.ts';

/** Decided from scans in the order of observation (rule 11). */

export type ToolStanding = {
  readonly present: boolean;
  readonly missing_since: string | null;
  readonly detected_at: string;
};
export type ToolStandings = ReadonlyMap<string, ToolStanding>;

/** `shown`: slugs of the tools that it found. */
export type RecordedScan = {
  readonly observed_at: string;
  readonly collector: string;
  readonly complete: boolean;
  readonly shown: readonly string[];
};
type ScanKey = Pick<RecordedScan, 'observed_at' | 'collector'>;

/** Before the newest scan. An older scan is history. */
export const LATE_SITE_DAYS_MAX = 60;

export const compareScans = (one: ScanKey, other: ScanKey): number => {
  if (one.observed_at !== other.observed_at) return one.observed_at < other.observed_at ? -1 : 1;
  if (one.collector === other.collector) return 0;
  return one.collector < other.collector ? -1 : 1;
};

export const standingsAfter = (standings: ToolStandings, scan: RecordedScan): ToolStandings => {
  const { observed_at, complete, shown } = scan;
  const after = new Map(standings);
  for (const slug of shown) {
    const before = standings.get(slug);
    const detected_at = before?.present ? before.detected_at : observed_at;
    after.set(slug, { present: true, missing_since: null, detected_at });
  }
  if (!complete) return after;
  const found = new Set(shown);
  for (const [slug, standing] of standings) {
    const { present, missing_since } = standing;
    if (found.has(slug) || !present) continue;
    if (missing_since === null) after.set(slug, { ...standing, missing_since: observed_at });
    else if (isGone(missing_since, observed_at))
      after.set(slug, { ...standing, present: false, missing_since: null });
  }
  return after;
};

export type ScanHistory = { readonly before: ToolStandings; readonly scans: readonly RecordedScan[] };

export const NO_HISTORY: ScanHistory = { before: new Map(), scans: [] };

export const withScan = ({ before, scans }: ScanHistory, scan: RecordedScan): ScanHistory => {
  const last = scans.findLastIndex((other) => compareScans(other, scan) < 0);
  const shownBefore = scans[last]?.shown ?? [];
  const shown = isEqual(shownBefore, scan.shown) ? shownBefore : scan.shown;
  const all = scans.toSpliced(last + 1, 0, { ...scan, shown });
  const oldest = oldestOf(all);
  const kept = all.findIndex(({ observed_at }) => observed_at >= oldest);
  return { before: all.slice(0, kept).reduce(standingsAfter, before), scans: all.slice(kept) };
};

/** An empty text before the first scan. */
export const oldestOf = (scans: readonly RecordedScan[]): string => {
  const newest = scans.at(-1)?.observed_at;
  return newest === undefined ? '' : new Date(Date.parse(newest) - LATE_SITE_DAYS_MAX * DAY_MS).toISOString();
};

export const standingsOf = ({ before, scans }: ScanHistory): ToolStandings =>
  scans.reduce(standingsAfter, before);
