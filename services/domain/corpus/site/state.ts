import type { SiteEvent, SiteTool, SplitTestDetails, SplitTestKey } from '#contracts/events/corpus/site.ts';

/** Stream `site-<domain>`: the tools and split tests of a site, as last observed. */

export type KnownTool = {
  readonly tool: SiteTool;
  readonly present: boolean;
  readonly missing_since: string | null;
};
export type KnownSplitTest = {
  readonly key: SplitTestKey;
  readonly details: SplitTestDetails;
  readonly missing_since: string | null;
};

export type SiteState = {
  /** By slug. */
  readonly tools: ReadonlyMap<string, KnownTool>;
  /** By slug: whether the last scan that met the tool could read it. */
  readonly readable: ReadonlyMap<string, boolean>;
  /** Slugs of tools that some scan could read. */
  readonly read: ReadonlySet<string>;
  /** By id. */
  readonly tests: ReadonlyMap<string, KnownSplitTest>;
  readonly scanned_at: string | null;
  /** The last complete scan. */
  readonly completed_at: string | null;
};

const initial: SiteState = {
  tools: new Map(),
  readable: new Map(),
  read: new Set(),
  tests: new Map(),
  scanned_at: null,
  completed_at: null,
};

/** The map with the entries under the keys changed; a key that is not there stays away. */
const changing = <Value>(
  map: ReadonlyMap<string, Value>,
  keys: readonly string[],
  change: (value: Value) => Value,
): ReadonlyMap<string, Value> => {
  const changed = new Map(map);
  for (const key of keys) {
    const value = map.get(key);
    if (value !== undefined) changed.set(key, change(value));
  }
  return changed;
};

const evolve = (state: SiteState, event: SiteEvent): SiteState => {
  switch (event.type) {
    case 'ToolsDetected': {
      const tools = new Map(state.tools);
      for (const tool of event.data.tools) tools.set(tool.slug, { tool, present: true, missing_since: null });
      return { ...state, tools };
    }
    case 'ToolsDescribed': {
      const described = new Map(event.data.tools.map((tool) => [tool.slug, tool]));
      return {
        ...state,
        tools: changing(state.tools, [...described.keys()], (known) => ({
          ...known,
          tool: described.get(known.tool.slug) ?? known.tool,
        })),
      };
    }
    case 'ToolsMissed': {
      const { slugs, observed_at } = event.data;
      return {
        ...state,
        tools: changing(state.tools, slugs, (known) => ({ ...known, missing_since: observed_at })),
      };
    }
    case 'ToolsSeen':
      return {
        ...state,
        tools: changing(state.tools, event.data.slugs, (known) => ({ ...known, missing_since: null })),
      };
    case 'ToolsGone': {
      const slugs = event.data.tools.map(({ slug }) => slug);
      return {
        ...state,
        tools: changing(state.tools, slugs, (known) => ({ ...known, present: false, missing_since: null })),
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
        tests: changing(state.tests, [...changes.keys()], (known) => ({
          ...known,
          details: { ...known.details, ...changes.get(known.key.id) },
        })),
      };
    }
    case 'SplitTestsMissed': {
      const { ids, observed_at } = event.data;
      return {
        ...state,
        tests: changing(state.tests, ids, (known) => ({ ...known, missing_since: observed_at })),
      };
    }
    case 'SplitTestsSeen':
      return {
        ...state,
        tests: changing(state.tests, event.data.ids, (known) => ({ ...known, missing_since: null })),
      };
    case 'SiteScanRecorded': {
      const { observed_at, complete } = event.data;
      return {
        ...state,
        scanned_at: observed_at,
        completed_at: complete ? observed_at : state.completed_at,
      };
    }
  }
};

export const site = { initial, evolve };
