import type { SiteEvent, SplitTestDetails, SplitTestKey } from '#contracts/events/corpus/site.ts';
import type { ObservedSplitTest, SiteScan } from '#contracts/observations/site-scan.ts';
import { withoutAmounts } from './redact-amounts.ts';
import { derivedId } from '#domain/ids.ts';
import { inGroups, isGone, type SiteSighting } from './sighting.ts';
import type { KnownSplitTest, SiteState } from './state.ts';
import { withoutVerdicts } from './redact-results.ts';

/** What a scan of a site says of the split tests that the site's tools are configured to run. */

const keyOf = (domain: string, { tool, test_id }: ObservedSplitTest): SplitTestKey => ({
  id: derivedId('split test', `${domain}|${tool}|${test_id}`),
  tool,
  test_id,
});

/** A page by its address alone: a query may hold amounts, and names no other page. */
const pageOf = ({ url, match }: { readonly url: string; readonly match: 'exact' | 'prefix' }) => {
  const { origin, pathname } = new URL(url);
  return { url: `${origin}${pathname}`, match };
};

/** A name as it may be served: it tells tests and arms apart, and nothing of prices or of how they went. */
const servable = (name: string, { type }: ObservedSplitTest): string =>
  withoutVerdicts(withoutAmounts(name, type));

/** What the scan says of a test, with what was known where it says nothing. */
const detailsOf = (said: ObservedSplitTest, known: SplitTestDetails | undefined): SplitTestDetails => {
  const unsaid = said.state === 'unknown' && known !== undefined;
  return {
    name: said.name === null ? (known?.name ?? null) : servable(said.name, said),
    type: said.type,
    state: unsaid ? known.state : said.state,
    state_basis: unsaid ? known.state_basis : said.state_basis,
    arms:
      said.arms?.map(({ name, allocation }) => ({
        name: name === null ? null : servable(name, said),
        allocation,
      })) ??
      known?.arms ??
      null,
    pages: said.pages?.map(pageOf) ?? known?.pages ?? null,
  };
};

const DETAILS = ['name', 'type', 'state', 'state_basis', 'arms', 'pages'] as const;

const changesOf = (from: SplitTestDetails, to: SplitTestDetails): Partial<SplitTestDetails> =>
  Object.fromEntries(
    DETAILS.filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field])).map((field) => [
      field,
      to[field],
    ]),
  );

const ENDED_BY_ABSENCE = { state: 'ended', state_basis: 'absence' } as const;

/** Tests that were not shown: of tools that were read to the end, and of tools that are gone from the site. */
const unshown = (
  scan: SiteScan,
  state: SiteState,
  shown: ReadonlySet<string>,
  goneTools: ReadonlySet<string>,
) => {
  const read = new Set(scan.split_test_tools.flatMap(({ slug, readable }) => (readable ? [slug] : [])));
  const open = [...state.tests.values()].filter(
    ({ key, details }) => !shown.has(key.id) && details.state !== 'ended',
  );
  const absent = scan.complete ? open.filter(({ key }) => read.has(key.tool)) : [];
  const isEnded = ({ missing_since }: KnownSplitTest): boolean =>
    missing_since !== null && isGone(missing_since, scan.observed_at);
  return {
    missed: absent.filter(({ missing_since }) => missing_since === null),
    ended: [...absent.filter(isEnded), ...open.filter(({ key }) => goneTools.has(key.tool))],
  };
};

export const splitTestEvents = (
  scan: SiteScan,
  at: SiteSighting,
  state: SiteState,
  goneTools: ReadonlySet<string>,
): SiteEvent[] => {
  const shown = new Map<string, SplitTestKey & { readonly details: SplitTestDetails }>();
  for (const said of scan.split_tests) {
    const key = keyOf(scan.domain, said);
    if (!shown.has(key.id))
      shown.set(key.id, { ...key, details: detailsOf(said, state.tests.get(key.id)?.details) });
  }
  const fresh = [...shown.values()].filter(({ id }) => !state.tests.has(id));
  const observed = (isFirst: boolean) =>
    fresh
      .filter(({ tool }) => state.read.has(tool) !== isFirst)
      .map(({ id, tool, test_id, details }) => ({ id, tool, test_id, ...details }));
  const changed = [...shown.values()].flatMap(({ id, tool, test_id, details }) => {
    const known = state.tests.get(id);
    const changes = known === undefined ? {} : changesOf(known.details, details);
    return Object.keys(changes).length === 0 ? [] : [{ id, tool, test_id, changes }];
  });
  const seen = [...shown.keys()].filter((id) => (state.tests.get(id)?.missing_since ?? null) !== null);
  const { missed, ended } = unshown(scan, state, new Set(shown.keys()), goneTools);
  const endings = ended.map(({ key }) => ({ ...key, changes: ENDED_BY_ABSENCE }));
  return [
    ...inGroups(observed(true), (tests) => ({
      type: 'SplitTestsObserved',
      data: { ...at, novelty: 'baseline', tests },
    })),
    ...inGroups(observed(false), (tests) => ({
      type: 'SplitTestsObserved',
      data: { ...at, novelty: 'news', tests },
    })),
    ...inGroups([...changed, ...endings], (tests) => ({
      type: 'SplitTestsChanged',
      data: { ...at, tests },
    })),
    ...inGroups(seen, (ids) => ({ type: 'SplitTestsSeen', data: { ...at, ids } })),
    ...inGroups(
      missed.map(({ key }) => key.id),
      (ids) => ({ type: 'SplitTestsMissed', data: { ...at, ids } }),
    ),
  ];
};
