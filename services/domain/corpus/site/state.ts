import { isEqual } from 'es-toolkit/predicate/isEqual';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import {
  SITE_EVENT_MAX_CHARACTERS,
  type SiteEvent,
  type SiteScanRecorded,
  type SiteTool,
  type SplitTestDetails,
  type SplitTestKey,
} from '#contracts/events/corpus/site.ts';
import { boundedGroups } from '../../event-size-limit.ts';
import type { Decider } from '../../decider.ts';

export type SiteSighting = {
  readonly brand_id: string;
  readonly domain: string;
  readonly observed_at: string;
};

export const GONE_AFTER_HOURS = 20;

export const isGone = (missingSince: string, observedAt: string): boolean =>
  Date.parse(observedAt) - Date.parse(missingSince) >= GONE_AFTER_HOURS * HOUR_MS;

export const inGroups = <Item>(
  items: readonly Item[],
  eventOf: (group: readonly Item[]) => SiteEvent,
): SiteEvent[] => boundedGroups(items, SITE_EVENT_MAX_CHARACTERS).map(eventOf);

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

export type ToolState = {
  readonly tool: SiteTool;
  readonly present: boolean;
  readonly missing_since: string | null;
};
export type SplitTestState = {
  readonly key: SplitTestKey;
  readonly details: SplitTestDetails;
  readonly missing_since: string | null;
};

export type SiteState = {
  readonly tools: ReadonlyMap<string, ToolState>;
  /** By slug: the last scan that showed the tool could read it. */
  readonly readable: ReadonlyMap<string, boolean>;
  readonly read: ReadonlySet<string>;
  readonly tests: ReadonlyMap<string, SplitTestState>;
  readonly scanned_at: string | null;
  readonly completed_at: string | null;
  /** The scans among which a late one is decided. */
  readonly history: ScanHistory;
};

const initial: SiteState = {
  tools: new Map(),
  readable: new Map(),
  read: new Set(),
  tests: new Map(),
  scanned_at: null,
  completed_at: null,
  history: NO_HISTORY,
};

/** Ignores keys that the map does not have. */
const updateEntries = <Value>(
  map: ReadonlyMap<string, Value>,
  keys: readonly string[],
  change: (value: Value) => Value,
): ReadonlyMap<string, Value> => {
  const updated = new Map(map);
  for (const key of keys) {
    const value = map.get(key);
    if (value !== undefined) updated.set(key, change(value));
  }
  return updated;
};

/** A complete scan in order showed all tools that are not missing after it. */
const shownBy = ({ data }: SiteScanRecorded, tools: SiteState['tools']): readonly string[] =>
  data.shown ??
  [...tools].flatMap(([slug, { present, missing_since }]) =>
    present && missing_since === null ? [slug] : [],
  );

const evolve = (state: SiteState, event: SiteEvent): SiteState => {
  switch (event.type) {
    case 'ToolsCorrected': {
      const tools = new Map(state.tools);
      for (const { tool, present, missing_since } of event.data.tools)
        tools.set(tool.slug, { tool, present, missing_since });
      return { ...state, tools };
    }
    case 'ToolsDetected': {
      const tools = new Map(state.tools);
      for (const tool of event.data.tools) tools.set(tool.slug, { tool, present: true, missing_since: null });
      return { ...state, tools };
    }
    case 'ToolsDescribed': {
      const described = new Map(event.data.tools.map((tool) => [tool.slug, tool]));
      return {
        ...state,
        tools: updateEntries(state.tools, [...described.keys()], (existing) => ({
          ...existing,
          tool: described.get(existing.tool.slug) ?? existing.tool,
        })),
      };
    }
    case 'ToolsMissed': {
      const { slugs, observed_at } = event.data;
      return {
        ...state,
        tools: updateEntries(state.tools, slugs, (existing) => ({ ...existing, missing_since: observed_at })),
      };
    }
    case 'ToolsSeen':
      return {
        ...state,
        tools: updateEntries(state.tools, event.data.slugs, (existing) => ({
          ...existing,
          missing_since: null,
        })),
      };
    case 'ToolsGone': {
      const slugs = event.data.tools.map(({ slug }) => slug);
      return {
        ...state,
        tools: updateEntries(state.tools, slugs, (existing) => ({
          ...existing,
          present: false,
          missing_since: null,
        })),
      };
    }
    case 'SplitTestToolsRead': {
      const readable = new Map(state.readable);
      const read = new Set(state.read);
      for (const tool of event.data.tools) {
        readable.set(tool.slug, tool.readable);
        if (tool.readable) read.add(tool.slug);
      }
      return { ...state, readable, read };
    }
    case 'SplitTestsObserved': {
      const tests = new Map(state.tests);
      for (const { id, tool, test_id, ...details } of event.data.tests) {
        tests.set(id, { key: { id, tool, test_id }, details, missing_since: null });
      }
      return { ...state, tests };
    }
    case 'SplitTestsChanged': {
      const changes = new Map(event.data.tests.map((test) => [test.id, test.changes]));
      return {
        ...state,
        tests: updateEntries(state.tests, [...changes.keys()], (existing) => ({
          ...existing,
          details: { ...existing.details, ...changes.get(existing.key.id) },
        })),
      };
    }
    case 'SplitTestsMissed': {
      const { ids, observed_at } = event.data;
      return {
        ...state,
        tests: updateEntries(state.tests, ids, (existing) => ({ ...existing, missing_since: observed_at })),
      };
    }
    case 'SplitTestsSeen':
      return {
        ...state,
        tests: updateEntries(state.tests, event.data.ids, (existing) => ({
          ...existing,
          missing_since: null,
        })),
      };
    case 'SiteScanRecorded': {
      const { observed_at, collector, complete, late_arrival } = event.data;
      const history = withScan(state.history, {
        observed_at,
        collector,
        complete,
        shown: shownBy(event, state.tools),
      });
      const completed_at = history.scans.findLast((scan) => scan.complete)?.observed_at ?? state.completed_at;
      return { ...state, history, completed_at, scanned_at: late_arrival ? state.scanned_at : observed_at };
    }
  }
};

export const site: Decider<SiteState, SiteEvent> = { initial, evolve };
