import type {
  CorrectedTool,
  SiteEvent,
  SiteTool,
  SplitTestDetails,
  SplitTestKey,
} from '#contracts/events/corpus/site.ts';
import type { ObservedSplitTest, SiteScan, SplitTestType } from '#contracts/observations/site-scan.ts';
import {
  type RecordedScan,
  type ScanHistory,
  type SiteSighting,
  type SiteState,
  type SplitTestState,
  type ToolStanding,
  compareScans,
  inGroups,
  isGone,
  oldestOf,
  standingsAfter,
  standingsOf,
  withScan,
} from './state.ts';
import { brandIdOf, derivedId } from '../../ids.ts';

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

const isEqualTool = (one: SiteTool | undefined, other: SiteTool): boolean =>
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
    return isSame(before.get(slug), standing) && isEqualTool(existing, tool)
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

/**
 * Names of tests have amounts, such as `Price $49`. Prices and shipping are never served (specification, row
 * "split-tests"), so they are removed before anything is recorded.
 */

const REDACTED = '…';

const NO_LETTER_BEFORE = String.raw`(?<!\p{L})`;
const NO_LETTER_AFTER = String.raw`(?!\p{L})`;
const word = (words: readonly string[]): string =>
  `${NO_LETTER_BEFORE}(?:${words.join('|')})${NO_LETTER_AFTER}`;

/** Without codes that are common words, such as `ALL`, `TOP` and `TRY`. */
const CURRENCY_WORDS = [
  'usd|eur|gbp|cad|aud|nzd|inr|chf|sek|nok|dkk|isk|jpy|cny|rmb|krw|pln|czk|huf|ron|bgn|uah|rub',
  'brl|mxn|clp|cop|ars|zar|ngn|kes|egp|aed|sar|qar|ils|hkd|sgd|twd|thb|idr|php|myr|vnd|pkr|bdt|lkr',
  'dollars?|euros?|pounds?|bucks|cents?|pence|quid|rupees?|yen|yuan|francs?|kron(?:a|e|or|er)|pesos?|reais|zloty|złoty',
  'dirhams?|rand|riyals?|shekels?|rubles?|lira|baht|zł|kč|lei|tl|kr\\.?|rs\\.?|руб\\.?|грн\\.?',
];
/** A sign, with the letters of `US$` and `R$`, or a code or word. */
const CURRENCY = String.raw`(?:(?:${NO_LETTER_BEFORE}\p{Lu}{1,3})?\p{Sc}|${word(CURRENCY_WORDS)})`;

/** With separators: `1,299.00`, `1 299`, `1'299`. */
const ONE_NUMBER = String.raw`\p{Nd}(?:[\p{Nd}.,'’]*\p{Nd})?(?:[ \u00a0\u202f]\p{Nd}{3}(?!\p{Nd}))*`;
const MULTIPLIER = String.raw`(?:\s?(?:k|m|mn|mio|million|thousand)${NO_LETTER_AFTER})?`;
const NO_CENTS = String.raw`(?:[.,][-–—]{1,2})`;
/** A number or range: `10`, `10-20`, `49/59`. */
const NUMBERS = String.raw`${ONE_NUMBER}${MULTIPLIER}(?:\s?[-–—/]\s?${ONE_NUMBER}${MULTIPLIER})*`;

/** Directly before or after a currency, or with the dash for no cents. */
const AMOUNT = new RegExp(
  `${CURRENCY}\\s*${NUMBERS}${NO_CENTS}?(?:\\s*[-–—/]?\\s*${CURRENCY})?|${NUMBERS}${NO_CENTS}?\\s*${CURRENCY}|${NUMBERS}${NO_CENTS}`,
  'giu',
);
/** In a test of amounts every number may be one. */
const NUMBER = new RegExp(
  `(?:[-+±]\\s?)?(?:${CURRENCY}\\s*)?${NUMBERS}${NO_CENTS}?(?:\\s?(?:%|${CURRENCY}))?`,
  'giu',
);
/** Except a percentage. */
const PLAIN_NUMBER = new RegExp(`${NUMBERS}(?![\\p{Nd}.,]*\\s?%)`, 'giu');
/** A number in such a name is an amount even without a currency. */
const ABOUT_AMOUNTS = new RegExp(
  word([
    'pric(?:e|es|ed|ing)',
    'costs?',
    'shipping',
    'postage',
    'fees?',
    'thresholds?',
    'spend',
    'save',
    'off',
  ]),
  'iu',
);
/** `Variant 2`: the number only identifies the arm. Without such a word it may be an amount. */
const NUMBERED_ARM =
  /^(?:variant|variation|version|arm|group|treatment|test|control|option)\s*#?\s*\d{1,2}$/i;

/** Types of tests in which every number is removed. */
const TESTS_OF_AMOUNTS: readonly SplitTestType[] = ['price', 'shipping', 'offer'];

/** A name about amounts keeps only percentages. `nameOfTest`: `49` is an amount in a test named `Price`. */
export const redactAmounts = (
  name: string,
  type: SplitTestType,
  nameOfTest: string | null = null,
): string => {
  if (NUMBERED_ARM.test(name.trim())) return name;
  if (TESTS_OF_AMOUNTS.includes(type)) return name.replace(NUMBER, REDACTED);
  const redacted = redactStatedAmounts(name);
  const isAboutAmounts =
    redacted !== name || ABOUT_AMOUNTS.test(name) || (nameOfTest !== null && ABOUT_AMOUNTS.test(nameOfTest));
  return isAboutAmounts ? redacted.replace(PLAIN_NUMBER, REDACTED) : redacted;
};

/** For a text such as a tool's own id of a test. */
export const redactStatedAmounts = (text: string): string => text.replace(AMOUNT, REDACTED);

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
    ...inGroups([...changed, ...endings], (tests) => ({ type: 'SplitTestsChanged', data: { ...at, tests } })),
    ...inGroups(seen, (ids) => ({ type: 'SplitTestsSeen', data: { ...at, ids } })),
    ...inGroups(
      missed.map(({ key }) => key.id),
      (ids) => ({ type: 'SplitTestsMissed', data: { ...at, ids } }),
    ),
  ];
};

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
