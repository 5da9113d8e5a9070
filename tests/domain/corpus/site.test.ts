import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SiteEvent } from '#contracts/events/corpus/site.ts';
import { type DetectedTool, type ObservedSplitTest, SiteScan } from '#contracts/observations/site-scan.ts';
import { recordSiteScan, redactAmounts, redactResults } from '#domain/corpus/site/decider.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { type SiteState, site, standingsOf } from '#domain/corpus/site/state.ts';
import { runs, seedOf } from '#tests/property-seed.ts';
import { shuffled } from '#tests/stack/shuffled.ts';

const tool = (slug: string, fields: Partial<DetectedTool> = {}): DetectedTool => ({
  slug,
  name: slug.toUpperCase(),
  category: 'Analytics',
  website_url: null,
  ...fields,
});

const splitTest = (test_id: string, fields: Partial<ObservedSplitTest> = {}): ObservedSplitTest => ({
  tool: 'splitter',
  test_id,
  name: null,
  type: 'content',
  state: 'running',
  state_basis: 'configuration',
  arms: null,
  pages: null,
  ...fields,
});

const scan = (at: string, fields: Partial<SiteScan> = {}): SiteScan => ({
  type: 'site.scan',
  domain: 'shop.example',
  observed_at: new Date(at).toISOString(),
  collector: 'test',
  complete: true,
  tools: [],
  split_test_tools: [],
  split_tests: [],
  ...fields,
});

const read = (at: string, ...split_tests: readonly ObservedSplitTest[]): SiteScan =>
  scan(at, {
    tools: [tool('splitter', { category: 'A/B testing' })],
    split_test_tools: [{ slug: 'splitter', readable: true }],
    split_tests: [...split_tests],
  });

const idOf = (test_id: string): string => derivedId('split test', `shop.example|splitter|${test_id}`);

const scanned = () => {
  let state: SiteState = site.initial;
  return {
    scan: (one: SiteScan): readonly SiteEvent[] => {
      const events = recordSiteScan(SiteScan.parse(one))(state);
      state = events.reduce(site.evolve, state);
      expect(recordSiteScan(one)(state), 'decided again').toEqual([]);
      return events;
    },
    test: (test_id: string) => state.tests.get(idOf(test_id)),
  };
};

const typesOf = (events: readonly SiteEvent[]): readonly string[] =>
  events.flatMap(({ type }) => (type === 'SiteScanRecorded' ? [] : [type]));

describe('tools of a site', () => {
  test('are a baseline in the first complete scan, and news later', () => {
    const one = scanned();
    expect(one.scan(scan('2026-05-01T08:00Z', { tools: [tool('pixel'), tool('pixel')] }))).toMatchObject([
      {
        type: 'ToolsDetected',
        data: {
          brand_id: brandIdOf('shop.example'),
          novelty: 'baseline',
          tools: [{ slug: 'pixel', tool_id: derivedId('tool', 'pixel'), split_testing: false }],
        },
      },
      { type: 'SiteScanRecorded', data: { complete: true, tools: 1, read: [] } },
    ]);
    expect(one.scan(scan('2026-05-02T08:00Z', { tools: [tool('pixel'), tool('chat')] }))).toMatchObject([
      { type: 'ToolsDetected', data: { novelty: 'news', tools: [{ slug: 'chat' }] } },
      { data: { tools: 2 } },
    ]);
  });

  test('are gone after two complete scans at least 20 hours apart miss them, and may return', () => {
    const one = scanned();
    one.scan(scan('2026-05-01T08:00Z', { tools: [tool('pixel'), tool('chat')] }));
    const without = (at: string, complete = true) => one.scan(scan(at, { complete, tools: [tool('pixel')] }));
    expect(typesOf(without('2026-05-02T08:00Z', false))).toEqual([]);
    expect(typesOf(without('2026-05-03T08:00Z'))).toEqual(['ToolsMissed']);
    expect(typesOf(without('2026-05-03T20:00Z'))).toEqual([]);
    expect(without('2026-05-04T08:00Z')).toMatchObject([
      { type: 'ToolsGone', data: { tools: [{ slug: 'chat', missing_since: '2026-05-03T08:00:00.000Z' }] } },
      { data: { tools: 1 } },
    ]);
    expect(one.scan(scan('2026-05-05T08:00Z', { tools: [tool('pixel'), tool('chat')] }))).toMatchObject([
      { type: 'ToolsDetected', data: { novelty: 'returned', tools: [{ slug: 'chat' }] } },
      { data: { tools: 2 } },
    ]);
  });

  test('are recorded as seen after one absence', () => {
    const one = scanned();
    one.scan(scan('2026-05-01T08:00Z', { tools: [tool('pixel')] }));
    one.scan(scan('2026-05-02T08:00Z'));
    expect(typesOf(one.scan(scan('2026-05-03T08:00Z', { tools: [tool('pixel')] })))).toEqual(['ToolsSeen']);
  });

  test('are recorded when their description changes, and a blank address keeps the existing one', () => {
    const one = scanned();
    const address = { website_url: 'https://pixel.example/' };
    one.scan(scan('2026-05-01T08:00Z', { tools: [tool('pixel', address)] }));
    expect(typesOf(one.scan(scan('2026-05-02T08:00Z', { tools: [tool('pixel')] })))).toEqual([]);
    const renamed = tool('pixel', { name: 'The Pixel' });
    expect(one.scan(scan('2026-05-03T08:00Z', { tools: [renamed] }))[0]).toMatchObject({
      type: 'ToolsDescribed',
      data: { tools: [{ name: 'The Pixel', ...address }] },
    });
  });

  test('are unchanged by a scan of the same time and collector', () => {
    const one = scanned();
    one.scan(scan('2026-05-02T08:00Z', { tools: [tool('pixel')] }));
    expect(one.scan(scan('2026-05-02T08:00Z', { tools: [tool('chat')] }))).toEqual([]);
  });

  test('have the detection and the absences that a late scan shows at its own time', () => {
    const one = scanned();
    one.scan(scan('2026-05-02T08:00Z', { tools: [tool('pixel')] }));
    one.scan(scan('2026-05-04T08:00Z', { tools: [tool('pixel')] }));
    const late = scan('2026-05-01T08:00Z', { tools: [tool('pixel'), tool('chat')] });
    expect(one.scan(late)).toMatchObject([
      {
        type: 'ToolsCorrected',
        data: {
          observed_at: '2026-05-01T08:00:00.000Z',
          tools: [
            { tool: { slug: 'pixel' }, present: true, detected_at: '2026-05-01T08:00:00.000Z' },
            { tool: { slug: 'chat' }, present: false, detected_at: '2026-05-01T08:00:00.000Z' },
          ],
        },
      },
      { type: 'SiteScanRecorded', data: { tools: 2, shown: ['pixel', 'chat'], late_arrival: true } },
    ]);
    expect(typesOf(one.scan(scan('2026-05-03T08:00Z', { tools: [tool('pixel')] })))).toEqual([]);
  });

  test('keep what a later scan described, and get a blank address from a late one', () => {
    const one = scanned();
    one.scan(scan('2026-05-02T08:00Z', { tools: [tool('pixel', { name: 'New' })] }));
    const late = { tools: [tool('pixel', { name: 'Old', website_url: 'https://pixel.example/' })] };
    expect(one.scan(scan('2026-05-01T08:00Z', late))[0]).toMatchObject({
      data: { tools: [{ tool: { name: 'New', website_url: 'https://pixel.example/' } }] },
    });
  });

  test('are unchanged by a scan of more than 60 days before the last', () => {
    const one = scanned();
    one.scan(scan('2026-05-02T08:00Z', { tools: [tool('pixel')] }));
    one.scan(scan('2026-07-10T08:00Z', { tools: [tool('pixel')] }));
    expect(one.scan(scan('2026-05-03T08:00Z', { tools: [tool('chat')] }))).toEqual([]);
  });

  test('are the same in any order of arrival', () => {
    const oneScan = fc.record({
      hour: fc.integer({ min: 0, max: 20 }).map((tenths) => tenths * 10),
      complete: fc.boolean(),
      collector: fc.constantFrom('one', 'two'),
      slugs: fc.uniqueArray(fc.constantFrom('pixel', 'chat', 'shop', 'mail'), { maxLength: 4 }),
    });
    const scans = fc.uniqueArray(oneScan, {
      selector: ({ hour, collector }) => `${hour} ${collector}`,
      minLength: 2,
      maxLength: 6,
    });
    const stands = (drawn: readonly (typeof oneScan extends fc.Arbitrary<infer Value> ? Value : never)[]) => {
      let state = site.initial;
      for (const { hour, slugs, ...fields } of drawn) {
        const time = new Date(Date.UTC(2026, 4, 1, hour)).toISOString();
        const observation = scan(time, { ...fields, tools: slugs.map((slug) => tool(slug)) });
        state = recordSiteScan(observation)(state).reduce(site.evolve, state);
        expect(recordSiteScan(observation)(state)).toEqual([]);
      }
      const detected = standingsOf(state.history);
      return new Map(
        [...state.tools].map(([slug, { present, missing_since }]) => [
          slug,
          { present, missing_since, detected_at: detected.get(slug)?.detected_at },
        ]),
      );
    };
    fc.assert(
      fc.property(scans, fc.nat(), (drawn, seed) => {
        const inOrder = drawn.toSorted((one, other) =>
          one.hour === other.hour ? (one.collector < other.collector ? -1 : 1) : one.hour - other.hour,
        );
        expect(stands(shuffled(drawn, seed))).toEqual(stands(inOrder));
      }),
      { numRuns: runs(300), seed: seedOf(20_261_125) },
    );
  });

  test('count as split-testing tools by the scan or by their category', () => {
    const filed = tool('filed', { category: 'A/B Testing' });
    const events = scanned().scan(
      scan('2026-05-01T08:00Z', {
        tools: [filed, tool('named')],
        split_test_tools: [{ slug: 'named', readable: false }],
      }),
    );
    expect(events).toMatchObject([
      { data: { tools: [{ split_testing: true }, { split_testing: true }] } },
      { type: 'SplitTestToolsRead', data: { tools: [{ slug: 'named', readable: false }] } },
      { data: { read: [] } },
    ]);
  });
});

describe('split tests of a site', () => {
  test('are a baseline when their tool is first read, and news later', () => {
    const one = scanned();
    const arms = [
      { name: 'Control', allocation: 0.5 },
      { name: 'New hero', allocation: 0.5 },
    ];
    expect(one.scan(read('2026-05-01T08:00Z', splitTest('1', { arms })))).toMatchObject([
      { type: 'ToolsDetected' },
      { type: 'SplitTestToolsRead', data: { tools: [{ slug: 'splitter', readable: true }] } },
      {
        type: 'SplitTestsObserved',
        data: { novelty: 'baseline', tests: [{ id: idOf('1'), tool: 'splitter', state: 'running', arms }] },
      },
      { type: 'SiteScanRecorded', data: { read: ['splitter'] } },
    ]);
    const events = one.scan(read('2026-05-02T08:00Z', splitTest('1', { arms }), splitTest('2')));
    expect(events[0]).toMatchObject({ data: { novelty: 'news', tests: [{ test_id: '2' }] } });
  });

  test('record only the changed fields, and ignore blanks', () => {
    const one = scanned();
    const pages = [{ url: 'https://shop.example/sale?price=9', match: 'exact' as const }];
    one.scan(read('2026-05-01T08:00Z', splitTest('1', { name: 'Hero', pages })));
    const blank = splitTest('1', { state: 'unknown', state_basis: 'unknown' });
    expect(typesOf(one.scan(read('2026-05-02T08:00Z', blank)))).toEqual([]);
    const events = one.scan(read('2026-05-03T08:00Z', splitTest('1', { state: 'paused' })));
    expect(events[0]).toEqual({
      type: 'SplitTestsChanged',
      data: expect.objectContaining({
        tests: [{ id: idOf('1'), tool: 'splitter', test_id: '1', changes: { state: 'paused' } }],
      }),
    });
    expect(one.test('1')?.details.pages).toEqual([{ url: 'https://shop.example/sale', match: 'exact' }]);
  });

  test('end by absence only when complete scans could read their tool', () => {
    const one = scanned();
    one.scan(read('2026-05-01T08:00Z', splitTest('1')));
    const unreadable = scan('2026-05-02T08:00Z', {
      tools: [tool('splitter', { category: 'A/B testing' })],
      split_test_tools: [{ slug: 'splitter', readable: false }],
    });
    expect(typesOf(one.scan(unreadable))).toEqual(['SplitTestToolsRead']);
    expect(typesOf(one.scan({ ...read('2026-05-03T08:00Z'), complete: false }))).toEqual([
      'SplitTestToolsRead',
    ]);
    expect(typesOf(one.scan(read('2026-05-04T08:00Z')))).toEqual(['SplitTestsMissed']);
    expect(typesOf(one.scan(read('2026-05-05T08:00Z', splitTest('1'))))).toEqual(['SplitTestsSeen']);
    one.scan(read('2026-05-06T08:00Z'));
    expect(one.scan(read('2026-05-07T08:00Z'))[0]).toMatchObject({
      type: 'SplitTestsChanged',
      data: { tests: [{ changes: { state: 'ended', state_basis: 'absence' } }] },
    });
    expect(typesOf(one.scan(read('2026-05-08T08:00Z')))).toEqual([]);
    expect(one.scan(read('2026-05-09T08:00Z', splitTest('1')))[0]).toMatchObject({
      data: { tests: [{ changes: { state: 'running', state_basis: 'configuration' } }] },
    });
  });

  test('end when their tool is gone', () => {
    const one = scanned();
    one.scan(read('2026-05-01T08:00Z', splitTest('1'), splitTest('2', { state: 'ended' })));
    expect(typesOf(one.scan(scan('2026-05-02T08:00Z')))).toEqual(['ToolsMissed']);
    const events = one.scan(scan('2026-05-03T08:00Z'));
    expect(typesOf(events)).toEqual(['ToolsGone', 'SplitTestsChanged']);
    expect(events[1]).toMatchObject({ data: { tests: [{ test_id: '1' }] } });
  });
});

describe('redactAmounts', () => {
  test.each([
    ['price', 'Price $49.99', 'Price …'],
    ['price', '49', '…'],
    ['price', '-10%', '…'],
    ['price', 'Variant 2', 'Variant 2'],
    ['shipping', 'Free shipping over 60 EUR', 'Free shipping over …'],
    ['shipping', '5.95 dollars flat', '… flat'],
    ['offer', 'Get 20% off', 'Get … off'],
    ['content', 'Hero with $10 badge', 'Hero with … badge'],
    ['content', 'Hero 2026', 'Hero 2026'],
    ['theme', '9,90 € teaser', '… teaser'],
    ['content', 'Badge 20USD', 'Badge …'],
    ['content', 'Badge USD20 left', 'Badge … left'],
    ['content', 'US$20 and R$ 30 and ₹499', '… and … and …'],
    ['content', 'Rs. 499 banner', '… banner'],
    ['content', 'Bar at 1 000 € or 49,-', 'Bar at … or …'],
    ['content', '$10–20 or 49,99 zł', '… or …'],
    ['content', '$2k prize', '… prize'],
    ['content', 'Free shipping over 60', 'Free shipping over …'],
    ['layout', 'Price 49 vs 59', 'Price … vs …'],
    ['content', '$49 vs 59', '… vs …'],
    ['content', '20% off, 5 off', '20% off, … off'],
    ['content', 'TOP 10 list, 3 columns', 'TOP 10 list, 3 columns'],
    ['content', 'Hero at 50% width', 'Hero at 50% width'],
  ] as const)('of a %s test: %s', (type, name, kept) => {
    expect(redactAmounts(name, type)).toBe(kept);
  });

  test('removes the bare numbers of arms when the test is named after amounts', () => {
    expect(redactAmounts('49', 'other', 'Price points')).toBe('…');
    expect(redactAmounts('49', 'other', 'Number of tiles')).toBe('49');
    expect(redactAmounts('Variant 2', 'other', 'Price points')).toBe('Variant 2');
  });

  test("removes amounts in a tool's test ids from every event, and still distinguishes the tests", () => {
    const one = scanned();
    const tests = ['bar-$129', 'bar-$119'].map((test_id) => splitTest(test_id));
    const events = one.scan(read('2026-05-01T08:00Z', ...tests));
    expect(JSON.stringify(events)).not.toMatch(/129|119/);
    expect(one.test('bar-$129')).not.toEqual(one.test('bar-$119'));
    expect(typesOf(one.scan(read('2026-05-02T08:00Z', ...tests)))).toEqual([]);
  });

  test('keeps amounts out of every event', () => {
    const events = scanned().scan(
      read(
        '2026-05-01T08:00Z',
        splitTest('1', {
          type: 'price',
          name: 'Cove boot at $129',
          arms: [
            { name: '$119', allocation: 0.5 },
            { name: 'USD 139', allocation: 0.5 },
          ],
        }),
      ),
    );
    expect(JSON.stringify(events)).not.toMatch(/129|119|139/);
  });
});

describe('redactResults', () => {
  test.each([
    ['Winner', '…'],
    ['Hero B – winning variant', 'Hero B – … variant'],
    ['Long copy (best-performing)', 'Long copy (…)'],
    ['Hero B (+12.5 %)', 'Hero B (…)'],
    ['Grid, 8% uplift', 'Grid, …'],
    ['Win a bag', 'Win a bag'],
    ['Variant 2', 'Variant 2'],
    ['Hero at 50% width', 'Hero at 50% width'],
  ])('replaces the result in %s', (name, kept) => {
    expect(redactResults(name)).toBe(kept);
  });

  test('keeps results out of every event', () => {
    const arms = [
      { name: 'Control (loser)', allocation: 0.5 },
      { name: 'Hero B +9%', allocation: 0.5 },
    ];
    const events = scanned().scan(
      read('2026-05-01T08:00Z', splitTest('1', { name: 'Winner: hero B', arms })),
    );
    expect(JSON.stringify(events)).not.toMatch(/winner|loser|\+9/i);
  });
});

describe('the site scan schema', () => {
  const refused = (fields: object): string =>
    JSON.stringify(
      SiteScan.safeParse({ ...scan('2026-05-01T08:00Z'), ...fields }).error?.issues ?? 'nothing',
    );

  test('rejects a test whose tool was not read, and a split-testing tool that is not among the tools', () => {
    expect(refused({ split_tests: [splitTest('1')] })).toContain('splitter is no readable tool');
    expect(refused({ split_test_tools: [{ slug: 'x', readable: true }] })).toContain(
      'is not among the tools',
    );
  });

  test('rejects amounts, results and shares over 1', () => {
    expect(refused({ split_tests: [{ ...splitTest('1'), price: 9 }] })).toContain('unrecognized_keys');
    expect(refused({ split_tests: [splitTest('1', { arms: [{ name: null, allocation: 50 }] })] })).toContain(
      'too_big',
    );
  });
});
