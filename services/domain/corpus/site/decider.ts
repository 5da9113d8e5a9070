import type { SiteEvent, SiteTool } from '#contracts/events/corpus/site.ts';
import type { SiteScan } from '#contracts/observations/site-scan.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { isLate, recordLateScan } from './late-scan.ts';
import { inGroups, isGone, type SiteSighting } from './sighting.ts';
import type { SiteState } from './state.ts';
import { splitTestEvents } from './split-tests.ts';

/** Collectors list tools for split tests under this category, in lower case. */

const SPLIT_TESTING_CATEGORY = 'a/b testing';

const scannedTools = (scan: SiteScan, state: SiteState): readonly SiteTool[] => {
  const forSplitTests = new Set(scan.split_test_tools.map(({ slug }) => slug));
  const tools = new Map<string, SiteTool>();
  for (const { slug, name, category, website_url } of scan.tools) {
    if (tools.has(slug)) continue;
    const existing = state.tools.get(slug)?.tool;
    const split_testing =
      forSplitTests.has(slug) ||
      category.toLowerCase() === SPLIT_TESTING_CATEGORY ||
      existing?.split_testing === true;
    tools.set(slug, {
      tool_id: derivedId('tool', slug),
      slug,
      name,
      category,
      website_url: website_url ?? existing?.website_url ?? null,
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

const toolEvents = (
  scan: SiteScan,
  at: SiteSighting,
  state: SiteState,
  tools: readonly SiteTool[],
): SiteEvent[] => {
  const scannedSlugs = new Set(tools.map(({ slug }) => slug));
  const existingOf = ({ slug }: SiteTool) => state.tools.get(slug);
  const novelty = state.completed_at === null ? 'baseline' : 'news';
  const fresh = tools.filter((tool) => existingOf(tool) === undefined);
  const returned = tools.filter((tool) => existingOf(tool)?.present === false);
  const stillPresent = tools.filter((tool) => existingOf(tool)?.present === true);
  const described = stillPresent.filter((tool) => !isSameTool(existingOf(tool)?.tool ?? tool, tool));
  const seen = stillPresent.filter((tool) => existingOf(tool)?.missing_since !== null);
  const absent = scan.complete
    ? [...state.tools.values()].filter(({ tool, present }) => present && !scannedSlugs.has(tool.slug))
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

const readingEvents = (scan: SiteScan, at: SiteSighting, state: SiteState): SiteEvent[] => {
  const now = new Map(scan.split_test_tools.map(({ slug, readable }) => [slug, readable]));
  const tools = [...now].flatMap(([slug, readable]) =>
    state.readable.get(slug) === readable ? [] : [{ slug, readable }],
  );
  return inGroups(tools, (group) => ({ type: 'SplitTestToolsRead', data: { ...at, tools: group } }));
};

/** A tool is gone when complete scans at least 20 hours apart both miss it. A repeated scan records nothing. */
export const recordSiteScan =
  (scan: SiteScan) =>
  (state: SiteState): SiteEvent[] => {
    const { domain, observed_at, collector, complete } = scan;
    const at = { brand_id: brandIdOf(domain), domain, observed_at };
    const shown = scannedTools(scan, state);
    if (isLate(scan, state)) return recordLateScan(scan, at, shown, state);
    const tools = toolEvents(scan, at, state, shown);
    const present = new Set(
      [...state.tools.values()].flatMap((existing) => (existing.present ? [existing.tool.slug] : [])),
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
          ...(complete ? {} : { shown: shown.map(({ slug }) => slug) }),
        },
      },
    ];
  };
