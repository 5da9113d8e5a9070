import type { SiteEvent, SiteTool } from '#contracts/events/corpus/site.ts';
import type { SiteScan } from '#contracts/observations/site-scan.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { inGroups, isGone, type SiteSighting } from './sighting.ts';
import type { SiteState } from './state.ts';
import { splitTestEvents } from './split-tests.ts';

/**
 * What a scan of a site says. Absent is not gone: a tool is gone when complete scans at least 20 hours apart both
 * miss it, and the tools of the first complete scan are a baseline. A scan not newer than the last changes nothing.
 */
/** How collectors file tools for split tests. */
const SPLIT_TESTING_CATEGORY = 'a/b testing';

/** The scan's tools, each once; what it does not say of one stays as known. */
const toolsOf = (scan: SiteScan, state: SiteState): readonly SiteTool[] => {
  const forSplitTests = new Set(scan.split_test_tools.map(({ slug }) => slug));
  const tools = new Map<string, SiteTool>();
  for (const { slug, name, category, website_url } of scan.tools) {
    if (tools.has(slug)) continue;
    const known = state.tools.get(slug)?.tool;
    const split_testing =
      forSplitTests.has(slug) ||
      category.toLowerCase() === SPLIT_TESTING_CATEGORY ||
      known?.split_testing === true;
    tools.set(slug, {
      tool_id: derivedId('tool', slug),
      slug,
      name,
      category,
      website_url: website_url ?? known?.website_url ?? null,
      split_testing,
    });
  }
  return [...tools.values()];
};

const isSameTool = (one: SiteTool, other: SiteTool): boolean =>
  one.name === other.name &&
  one.category === other.category &&
  one.website_url === other.website_url &&
  one.split_testing === other.split_testing;

const toolEvents = (scan: SiteScan, at: SiteSighting, state: SiteState): SiteEvent[] => {
  const tools = toolsOf(scan, state);
  const found = new Set(tools.map(({ slug }) => slug));
  const knownOf = ({ slug }: SiteTool) => state.tools.get(slug);
  const novelty = state.completed_at === null ? 'baseline' : 'news';
  const fresh = tools.filter((tool) => knownOf(tool) === undefined);
  const returned = tools.filter((tool) => knownOf(tool)?.present === false);
  const still = tools.filter((tool) => knownOf(tool)?.present === true);
  const described = still.filter((tool) => !isSameTool(knownOf(tool)?.tool ?? tool, tool));
  const seen = still.filter((tool) => knownOf(tool)?.missing_since !== null);
  const absent = scan.complete
    ? [...state.tools.values()].filter(({ tool, present }) => present && !found.has(tool.slug))
    : [];
  const missed = absent.filter(({ missing_since }) => missing_since === null);
  const gone = absent.flatMap(({ tool: { slug }, missing_since }) =>
    missing_since !== null && isGone(missing_since, at.observed_at) ? [{ slug, missing_since }] : [],
  );
  const slugsOf = (group: readonly SiteTool[]): readonly string[] => group.map(({ slug }) => slug);
  return [
    ...inGroups(fresh, (group) => ({ type: 'ToolsDetected', data: { ...at, novelty, tools: group } })),
    ...inGroups(returned, (group) => ({
      type: 'ToolsDetected',
      data: { ...at, novelty: 'returned', tools: group },
    })),
    ...inGroups(described, (group) => ({ type: 'ToolsDescribed', data: { ...at, tools: group } })),
    ...inGroups(seen, (group) => ({ type: 'ToolsSeen', data: { ...at, slugs: slugsOf(group) } })),
    ...inGroups(missed, (group) => ({
      type: 'ToolsMissed',
      data: { ...at, slugs: slugsOf(group.map(({ tool }) => tool)) },
    })),
    ...inGroups(gone, (group) => ({ type: 'ToolsGone', data: { ...at, tools: group } })),
  ];
};

/** Which split-testing tools can be read now, where that is not what was known. */
const readingEvents = (scan: SiteScan, at: SiteSighting, state: SiteState): SiteEvent[] => {
  const now = new Map(scan.split_test_tools.map(({ slug, readable }) => [slug, readable]));
  const tools = [...now].flatMap(([slug, readable]) =>
    state.readable.get(slug) === readable ? [] : [{ slug, readable }],
  );
  return inGroups(tools, (group) => ({ type: 'SplitTestToolsRead', data: { ...at, tools: group } }));
};

export const recordSiteScan =
  (scan: SiteScan) =>
  (state: SiteState): SiteEvent[] => {
    const { domain, observed_at, collector, complete } = scan;
    if (state.scanned_at !== null && observed_at <= state.scanned_at) return [];
    const at = { brand_id: brandIdOf(domain), domain, observed_at };
    const tools = toolEvents(scan, at, state);
    const present = new Set(
      [...state.tools.values()].flatMap((known) => (known.present ? [known.tool.slug] : [])),
    );
    const gone = new Set<string>();
    for (const event of tools) {
      if (event.type === 'ToolsDetected') for (const { slug } of event.data.tools) present.add(slug);
      if (event.type === 'ToolsGone') for (const { slug } of event.data.tools) gone.add(slug);
    }
    return [
      ...tools,
      ...readingEvents(scan, at, state),
      ...splitTestEvents(scan, at, state, gone),
      {
        type: 'SiteScanRecorded',
        data: {
          ...at,
          collector,
          complete,
          tools: [...present].filter((slug) => !gone.has(slug)).length,
          read: [...new Set(scan.split_test_tools.flatMap(({ slug, readable }) => (readable ? [slug] : [])))],
        },
      },
    ];
  };
