import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BriefEvent, RadarSnapshot } from '#contracts/events/workspace/brief.ts';
import {
  brief,
  briefIdOf,
  chooseNotable,
  countChanges,
  giveBriefFeedback,
  prepareBrief,
  weeksDue,
} from '#domain/workspace/brief.ts';
import { given } from '#tests/dsl/deciders.ts';

const workspace_id = 'ws_1';
const AT = '2026-11-16T06:00:01.000Z';
const week = { name: '2026-W46', from: '2026-11-09', to: '2026-11-15' };
const brief_id = briefIdOf(workspace_id, week);
const counts = (ads_started: number) => ({ ads_started, ads_stopped: 0, destinations_changed: 0 });

const item = (
  id: string,
  type: RadarSnapshot['type'],
  started_on: string | null,
  observed_at = '2026-11-10T08:00:00.000Z',
): RadarSnapshot => ({
  id,
  type,
  observed_at,
  brand: { id: 'brand', slug: 'brand', name: 'Brand', logo_url: null },
  ad: { id: '1000000001', page: null, format: 'video', title: null, body: null, started_on },
  destination_url: null,
  previous_destination_url: null,
  basis: null,
  stopped_on: null,
});

const prepared: BriefEvent = {
  type: 'BriefPrepared',
  data: {
    workspace_id,
    brief_id,
    week: week.name,
    from: week.from,
    to: week.to,
    brands: [
      { brand_id: 'b', ...counts(3) },
      { brand_id: 'a', ...counts(0) },
      { brand_id: 'c', ...counts(0) },
    ],
    notable_items: [],
    prepared_at: AT,
  },
};
const prepare = prepareBrief({
  workspace_id,
  week,
  brands: [
    { brand_id: 'c', ...counts(0) },
    { brand_id: 'a', ...counts(0) },
    { brand_id: 'b', ...counts(3) },
  ],
  notable_items: [],
  at: AT,
});
const feedback = (given_feedback: 'useful' | 'wrong' | null) =>
  giveBriefFeedback({ workspace_id, brief_id, feedback: given_feedback, at: AT });
const gave = (value: 'useful' | 'wrong' | null): BriefEvent => ({
  type: 'BriefFeedbackGiven',
  data: { workspace_id, brief_id, feedback: value, given_at: AT },
});

describe('items that a late scan corrects', () => {
  const started = item('a', 'ad_started', null);
  const added = { ...item('b', 'ad_started', null), correction: 'added' as const };
  const withdrawn = { ...item('c', 'ad_started', null), correction: 'withdrawn' as const };

  test('count when added, and not when withdrawn', () => {
    expect(countChanges([started, added, withdrawn])).toEqual(counts(2));
  });
  test('are notable after all others when added, and never when withdrawn', () => {
    const stop = item('d', 'ad_stopped', null);
    expect(chooseNotable([added, withdrawn, stop, started])).toEqual([started, stop, added]);
  });
});

describe('prepareBrief', () => {
  test('prepares a brief with the brands of most changes first', () =>
    given(brief).when(prepare).records(prepared));
  test('records nothing when the brief exists', () =>
    given(brief, prepared, gave('useful')).when(prepare).records());
  test('records nothing without brands', () =>
    given(brief)
      .when(prepareBrief({ workspace_id, week, brands: [], notable_items: [], at: AT }))
      .records());
});

describe('giveBriefFeedback', () => {
  test('records feedback', () => given(brief, prepared).when(feedback('useful')).records(gave('useful')));
  test('replaces earlier feedback', () =>
    given(brief, prepared, gave('useful')).when(feedback('wrong')).records(gave('wrong')));
  test('removes feedback', () =>
    given(brief, prepared, gave('useful')).when(feedback(null)).records(gave(null)));
  test('records nothing for the same feedback', () => {
    given(brief, prepared, gave('useful')).when(feedback('useful')).records();
    given(brief, prepared).when(feedback(null)).records();
  });
  test('refuses a brief that does not exist', () =>
    given(brief).when(feedback('useful')).refuses('not_found'));
});

describe('weeksDue', () => {
  test.each([
    ['2026-11-16T05:59:59.999Z', '2026-W45'],
    ['2026-11-16T06:00:00.000Z', '2026-W46'],
    ['2026-11-22T23:59:59.999Z', '2026-W46'],
    ['2027-01-04T06:00:00.000Z', '2026-W53'],
    ['2027-01-11T06:00:00.000Z', '2027-W01'],
    ['2025-01-06T06:00:00.000Z', '2025-W01'],
  ])('at %s ends with week %s', (now, name) => expect(weeksDue(new Date(now)).at(-1)?.name).toBe(name));

  test('returns four weeks, oldest first', () =>
    expect(weeksDue(new Date('2026-11-16T06:00:00Z'))).toEqual([
      { name: '2026-W43', from: '2026-10-19', to: '2026-10-25' },
      { name: '2026-W44', from: '2026-10-26', to: '2026-11-01' },
      { name: '2026-W45', from: '2026-11-02', to: '2026-11-08' },
      week,
    ]));
});

describe('chooseNotable', () => {
  test('sorts changes of long-running ads first, then launches, then the rest; newest first, then by id', () => {
    const items = [
      item('stop', 'ad_stopped', '2026-11-01'),
      item('move', 'destination_changed', null),
      item('launch-b', 'ad_started', '2026-11-10'),
      item('launch-a', 'ad_started', '2026-11-10'),
      item('launch-newer', 'ad_started', '2026-11-10', '2026-11-11T08:00:00.000Z'),
      item('long-stop', 'ad_stopped', '2026-09-11'),
      item('long-move', 'destination_changed', '2026-09-11'),
      item('almost-long-stop', 'ad_stopped', '2026-09-12'),
    ];
    expect(chooseNotable(items).map(({ id }) => id)).toEqual([
      'long-move',
      'long-stop',
      'launch-newer',
      'launch-a',
      'launch-b',
      'move',
      'almost-long-stop',
      'stop',
    ]);
  });

  test('returns ten items at most, and the same ones when items are chosen page by page', () => {
    const types = fc.constantFrom('ad_started', 'ad_stopped', 'destination_changed');
    const started = fc.constantFrom(null, '2026-01-01', '2026-11-01');
    const times = fc.constantFrom('2026-11-10T08:00:00.000Z', '2026-11-11T08:00:00.500000Z');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(types, started, times), { maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        (generated, size) => {
          const items = generated.map(([type, started_on, time], index) =>
            item(String(index).padStart(3, '0'), type, started_on, time),
          );
          let notable: readonly RadarSnapshot[] = [];
          for (let from = 0; from < items.length; from += size) {
            notable = chooseNotable([...notable, ...items.slice(from, from + size)]);
          }
          expect(notable).toEqual(chooseNotable(items));
          expect(notable.length).toBe(Math.min(10, items.length));
        },
      ),
    );
  });
});

test('countChanges adds counts by type to earlier counts', () =>
  expect(
    countChanges([item('a', 'ad_started', null), item('b', 'destination_changed', null)], counts(2)),
  ).toEqual({ ads_started: 3, ads_stopped: 0, destinations_changed: 1 }));
