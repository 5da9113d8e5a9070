import { expect, test } from 'vitest';
import type { CreativeEvent } from '#contracts/events/corpus/creative.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { creatives } from '#projections/creatives/project.ts';
import { groupChanges } from '#application/read-models/group-changes.ts';

const AT = '2026-05-06T10:00:00Z';
const keyOf = (n: number): string => String(n).padStart(64, 'a');
const sighting = (n: number) => ({ creative_key: keyOf(n), observed_at: AT });
const ad_ids = ['900000000000001'];

const stored = (n: number, media: object): CreativeEvent => ({
  type: 'CreativeStored',
  data: {
    ...sighting(n),
    ad_ids,
    media: {
      media_kind: 'image',
      content_type: null,
      bytes: null,
      width: null,
      height: null,
      duration_seconds: null,
      frame_times_seconds: null,
      media_url: null,
      object_key: null,
      poster_url: null,
      ...media,
    },
  },
});
const measured = (n: number, changes: object): CreativeEvent => ({
  type: 'CreativeMeasured',
  data: { ...sighting(n), changes },
});
const carried = (n: number): CreativeEvent => ({ type: 'CreativeCarried', data: { ...sighting(n), ad_ids } });
const analysed = (n: number): CreativeEvent => ({
  type: 'CreativeAnalysed',
  data: { ...sighting(n), changes: { transcript: 'words' } },
});

const REFRESHES: ReadonlySet<string> = new Set(['enter_hashes', 'find_near_hashes', 'refresh_file']);

const refreshes = (events: readonly CreativeEvent[]): readonly (readonly [string, ...number[]])[] =>
  groupChanges(
    creatives,
    events.map((event) => ({
      stream: event.data.creative_key,
      changes: creatives.project(event as RecordedEvent<CreativeEvent>),
    })),
  ).flatMap((group) =>
    group.kind === 'run' && REFRESHES.has(group.statement)
      ? [
          [
            group.statement,
            ...group.rows.map(({ creative_key }) =>
              Number((creative_key as string).slice(-3).replaceAll('a', '')),
            ),
          ] as const,
        ]
      : [],
  );

const HASH = '0f0f0f0f0f0f0f0f';

test.each<readonly [string, CreativeEvent]>([
  ['a file without a hash', stored(1, {})],
  ['a film', stored(1, { media_kind: 'video', perceptual_hash: null })],
  ['another width', measured(1, { width: 100 })],
  ['further ads', carried(1)],
  ['an analysis', analysed(1)],
])('%s refreshes its file alone', (_name, event) => {
  expect(refreshes([event])).toEqual([['refresh_file', 1]]);
});

test.each<readonly [string, CreativeEvent]>([
  ['a file with a hash', stored(1, { perceptual_hash: HASH })],
  ['another hash', measured(1, { perceptual_hash: HASH })],
  ['a hash that is unknown now', measured(1, { perceptual_hash: null })],
  ['another kind', measured(1, { media_kind: 'video' })],
])('%s enters hashes before its file is refreshed', (_name, event) => {
  expect(refreshes([event])).toEqual([
    ['enter_hashes', 1],
    ['find_near_hashes', 1],
    ['refresh_file', 1],
  ]);
});

test('a batch enters the hashes of those files only whose hash may have changed, and refreshes all files after that', () => {
  expect(refreshes([carried(1), analysed(2), stored(3, { perceptual_hash: HASH }), carried(3)])).toEqual([
    ['enter_hashes', 3],
    ['find_near_hashes', 3],
    ['refresh_file', 1, 2, 3],
  ]);
});
