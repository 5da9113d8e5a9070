import type {
  SiteEvent,
  SiteScanRecorded,
  SiteTool,
  SplitTestDetails,
  SplitTestKey,
} from '#contracts/events/corpus/site.ts';
import type { Decider } from '#domain/decider.ts';
import { NO_HISTORY, type ScanHistory, withScan } from './standing.ts';

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
  readonly open: { readonly observed_at: string; readonly slugs: readonly string[] };
};

const initial: SiteState = {
  tools: new Map(),
  readable: new Map(),
  read: new Set(),
  tests: new Map(),
  scanned_at: null,
  completed_at: null,
  history: NO_HISTORY,
  open: { observed_at: '', slugs: [] },
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

/** Returns the slugs of tools that an event says the scan showed. */
const slugsShownBy = (event: SiteEvent): readonly string[] => {
  if (event.type === 'ToolsSeen') return event.data.slugs;
  return event.type === 'ToolsDetected' || event.type === 'ToolsDescribed'
    ? event.data.tools.map(({ slug }) => slug)
    : [];
};

const withOpen = (state: SiteState, event: SiteEvent): SiteState => {
  const slugs = slugsShownBy(event);
  if (slugs.length === 0) return state;
  const { observed_at } = event.data;
  const before = state.open.observed_at === observed_at ? state.open.slugs : [];
  return { ...state, open: { observed_at, slugs: [...before, ...slugs] } };
};

/**
 * A complete scan showed all tools not missing after it. Older releases recorded only changed tools of incomplete
 * scans.
 */
const shownBy = ({ data }: SiteScanRecorded, { tools, open }: SiteState): readonly string[] => {
  if (data.shown !== undefined) return data.shown;
  if (!data.complete) return open.observed_at === data.observed_at ? [...new Set(open.slugs)] : [];
  return [...tools].flatMap(([slug, { present, missing_since }]) =>
    present && missing_since === null ? [slug] : [],
  );
};

const evolve = (before: SiteState, event: SiteEvent): SiteState => {
  const state = withOpen(before, event);
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
        shown: shownBy(event, state),
      });
      const completed_at = history.scans.findLast((scan) => scan.complete)?.observed_at ?? state.completed_at;
      return { ...state, history, completed_at, scanned_at: late_arrival ? state.scanned_at : observed_at };
    }
  }
};

export const site: Decider<SiteState, SiteEvent> = { initial, evolve };
