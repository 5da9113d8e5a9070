import type { SiteEvent, SplitTestDetails, SplitTestKey } from '#contracts/events/corpus/site.ts';
import type { ObservedSplitTest, SiteScan } from '#contracts/observations/site-scan.ts';
import { redactAmounts, redactStatedAmounts } from './redact-amounts.ts';
import { derivedId } from '../../ids.ts';
import { type SiteSighting, inGroups, isGone } from './sighting.ts';
import type { SiteState, SplitTestState } from './state.ts';

/**
 * Names of tests have results, such as `Winner`. The service never reports them (specification, row "split-tests"), so
 * they are removed before anything is recorded.
 */

const REDACTED = '…';

const VERDICT_WORD =
  /\b(?:winners?|winning|losers?|losing|(?:best|worst|top|over|under)[- ]?perform(?:er|ers|ing))\b/giu;
/** Recognised by its sign or by the word `lift` after it. */
const PERCENT_CHANGE = /[-+±−]\s?\d[\d.,]*\s?%(?:\s?(?:up)?lift\b)?|\d[\d.,]*\s?%\s?(?:up)?lift\b/giu;

export const redactResults = (name: string): string =>
  name.replace(VERDICT_WORD, REDACTED).replace(PERCENT_CHANGE, REDACTED);

const keyOf = (domain: string, { tool, test_id }: ObservedSplitTest): SplitTestKey => ({
  id: derivedId('split test', `${domain}|${tool}|${test_id}`),
  tool,
  test_id: redactStatedAmounts(test_id),
});

/** Drops the query, which may have amounts and does not select another page. */
const toPage = ({ url, match }: { readonly url: string; readonly match: 'exact' | 'prefix' }) => {
  const { origin, pathname } = new URL(url);
  return { url: `${origin}${pathname}`, match };
};

/** Without amounts and results. */
const redactName = (name: string, { type, name: nameOfTest }: ObservedSplitTest): string =>
  redactResults(redactAmounts(name, type, nameOfTest));

/** Blanks are filled from the existing details. */
const detailsOf = (
  observedTest: ObservedSplitTest,
  existing: SplitTestDetails | undefined,
): SplitTestDetails => {
  const keepsState = observedTest.state === 'unknown' && existing !== undefined;
  return {
    name: observedTest.name === null ? (existing?.name ?? null) : redactName(observedTest.name, observedTest),
    type: observedTest.type,
    state: keepsState ? existing.state : observedTest.state,
    state_basis: keepsState ? existing.state_basis : observedTest.state_basis,
    arms:
      observedTest.arms?.map(({ name, allocation }) => ({
        name: name === null ? null : redactName(name, observedTest),
        allocation,
      })) ??
      existing?.arms ??
      null,
    pages: observedTest.pages?.map(toPage) ?? existing?.pages ?? null,
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

/** `missed`: absent for the first time. Absence counts only when the scan is complete and could read the tool. */
const findAbsentTests = (
  scan: SiteScan,
  state: SiteState,
  shown: ReadonlySet<string>,
  goneTools: ReadonlySet<string>,
) => {
  const readTools = new Set(scan.split_test_tools.flatMap(({ slug, readable }) => (readable ? [slug] : [])));
  const open = [...state.tests.values()].filter(
    ({ key, details }) => !shown.has(key.id) && details.state !== 'ended',
  );
  const absent = scan.complete ? open.filter(({ key }) => readTools.has(key.tool)) : [];
  const isEnded = ({ missing_since }: SplitTestState): boolean =>
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
  for (const observedTest of scan.split_tests) {
    const key = keyOf(scan.domain, observedTest);
    if (!shown.has(key.id))
      shown.set(key.id, { ...key, details: detailsOf(observedTest, state.tests.get(key.id)?.details) });
  }
  const fresh = [...shown.values()].filter(({ id }) => !state.tests.has(id));
  const newTests = (isFirst: boolean) =>
    fresh
      .filter(({ tool }) => state.read.has(tool) !== isFirst)
      .map(({ id, tool, test_id, details }) => ({ id, tool, test_id, ...details }));
  const changed = [...shown.values()].flatMap(({ id, tool, test_id, details }) => {
    const existing = state.tests.get(id);
    const changes = existing === undefined ? {} : changesOf(existing.details, details);
    return Object.keys(changes).length === 0 ? [] : [{ id, tool, test_id, changes }];
  });
  const seen = [...shown.keys()].filter((id) => (state.tests.get(id)?.missing_since ?? null) !== null);
  const { missed, ended } = findAbsentTests(scan, state, new Set(shown.keys()), goneTools);
  const endings = ended.map(({ key }) => ({ ...key, changes: ENDED_BY_ABSENCE }));
  return [
    ...inGroups(newTests(true), (tests) => ({
      type: 'SplitTestsObserved',
      data: { ...at, novelty: 'baseline', tests },
    })),
    ...inGroups(newTests(false), (tests) => ({
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
