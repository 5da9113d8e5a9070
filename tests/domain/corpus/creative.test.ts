import { describe, expect, test } from 'vitest';
import type { CreativeEvent, CreativeMedia } from '#contracts/events/corpus/creative.ts';
import {
  type CreativeAnalysis,
  type CreativeFile,
  TRANSCRIPT_MAX_CHARACTERS,
} from '#contracts/observations/creative.ts';
import { Observation } from '#contracts/observations/index.ts';
import { creative, recordCreativeAnalysis, recordCreativeFile } from '#domain/corpus/creative.ts';
import { given } from '#tests/dsl/deciders.ts';

const KEY = 'ab'.repeat(32);
const at = (day: number): string => `2026-05-0${day}T10:00:00Z`;

const MEDIA = {
  media_kind: 'video',
  content_type: 'video/mp4',
  bytes: 2_000_000,
  width: 1080,
  height: 1920,
  duration_seconds: 14.5,
  frame_times_seconds: [0, 1.5, 3],
  media_url: null,
  object_key: null,
  poster_url: null,
} as const;
const file = (day: number, more: Partial<CreativeFile> = {}): CreativeFile => ({
  type: 'creative.file',
  creative_key: KEY,
  observed_at: at(day),
  ad_ids: ['123456', '123457'],
  ...MEDIA,
  frame_times_seconds: [0, 1.5, 3],
  ...more,
});
const stored = (day: number, more: object = {}, ad_ids: string[] = ['123456', '123457']): CreativeEvent => ({
  type: 'CreativeStored',
  data: { creative_key: KEY, observed_at: at(day), media: { ...MEDIA, ...more }, ad_ids },
});
type MeasuredField = keyof CreativeMedia;
const STATED = [
  'media_kind',
  'content_type',
  'bytes',
  'width',
  'height',
  'duration_seconds',
  'frame_times_seconds',
] as const;
const measured = (
  day: number,
  changes: object,
  confirmed: readonly MeasuredField[] = STATED,
): CreativeEvent => ({
  type: 'CreativeMeasured',
  data: { creative_key: KEY, observed_at: at(day), changes, confirmed },
});
const carried = (day: number, ...ad_ids: string[]): CreativeEvent => ({
  type: 'CreativeCarried',
  data: { creative_key: KEY, observed_at: at(day), ad_ids },
});

const NO_FIELDS = {
  hook: null,
  style: null,
  presenter: null,
  setting: null,
  tone: null,
  offer: null,
  audio: null,
} as const;
const analysis = (day: number, more: Partial<CreativeAnalysis> = {}): CreativeAnalysis => ({
  type: 'creative.analysis',
  creative_key: KEY,
  observed_at: at(day),
  depth: 'transcribed',
  transcript: 'the cove boot is back',
  language: null,
  corrections: null,
  shown_texts: null,
  read_frame_times_seconds: null,
  fields: null,
  ...more,
});
const analysed = (day: number, changes: object, confirmed?: readonly string[]): CreativeEvent => ({
  type: 'CreativeAnalysed',
  data: { creative_key: KEY, observed_at: at(day), changes, ...(confirmed && { confirmed }) },
});

describe('recordCreativeFile', () => {
  test('stores the file with its media properties and its ads without duplicates', () =>
    given(creative)
      .when(recordCreativeFile(file(1, { ad_ids: ['123456', '123457', '123456'] })))
      .records(stored(1)));
  test('adds hash and keys that a later observation states, and keeps those that another leaves out', () => {
    const more = { perceptual_hash: '00ff00ff00ff00ff', thumb_object_key: 'a', poster_object_key: 'b' };
    given(creative, stored(1))
      .when(recordCreativeFile(file(2, more)))
      .records(measured(2, more));
    given(creative, stored(1, more))
      .when(recordCreativeFile(file(2)))
      .records(measured(2, {}));
  });
  test('ends the keys of a removed file once, keeps its measurements, and takes new keys later', () => {
    const keys = { object_key: 'a', thumb_object_key: 'b', perceptual_hash: '00ff00ff00ff00ff' };
    const ended = { object_key: null, thumb_object_key: null };
    given(creative, stored(1, keys))
      .when(recordCreativeFile(file(2, { removed: true })))
      .records(measured(2, ended, ['poster_object_key']));
    given(creative, stored(2, keys))
      .when(recordCreativeFile(file(1, { removed: true })))
      .records(measured(1, {}, ['poster_object_key']), carried(1, '123456', '123457'));
    given(creative, stored(1, keys), measured(2, ended))
      .when(recordCreativeFile(file(3, keys)))
      .records(measured(3, { object_key: 'a', thumb_object_key: 'b' }, [...STATED, 'perceptual_hash']));
  });
  test('keeps the removal of a file that arrives before the file', () => {
    const keys = { object_key: 'a', thumb_object_key: 'b' };
    const none = { object_key: null, thumb_object_key: null, poster_object_key: null };
    const removed: CreativeEvent = {
      type: 'CreativeMeasured',
      data: { creative_key: KEY, observed_at: at(2), changes: none },
    };
    const carriers = carried(2, '123456', '123457');
    given(creative)
      .when(recordCreativeFile(file(2, { removed: true })))
      .records(removed, carriers);
    given(creative, removed, carriers)
      .when(recordCreativeFile(file(1, keys)))
      .records(stored(1, none));
    given(creative, removed, carriers)
      .when(recordCreativeFile(file(3, keys)))
      .records(stored(3, { ...keys, poster_object_key: null }));
  });
  test('adds the new ads when the file is seen again', () =>
    given(creative, stored(1))
      .when(recordCreativeFile(file(2, { ad_ids: ['123457', '123458'] })))
      .records(measured(2, {}), carried(2, '123458')));
  test('adds more ads than one event holds in several events', () => {
    const ids = Array.from({ length: 12_000 }, (_, index) => String(900_000_000 + index));
    const parts = [ids.slice(0, 5_000), ids.slice(5_000, 10_000), ids.slice(10_000)] as const;
    given(creative)
      .when(recordCreativeFile(file(1, { ad_ids: ids })))
      .records(stored(1, {}, parts[0]), carried(1, ...parts[1]), carried(1, ...parts[2]));
    given(creative, stored(1))
      .when(recordCreativeFile(file(2, { ad_ids: ids })))
      .records(measured(2, {}), ...parts.map((part) => carried(2, ...part)));
  });
  test('records only the changed properties when the file is measured again', () =>
    given(creative, stored(1))
      .when(recordCreativeFile(file(2, { media_url: 'https://media.example/a.mp4', width: null })))
      .records(
        measured(
          2,
          { media_url: 'https://media.example/a.mp4' },
          STATED.filter((field) => field !== 'width'),
        ),
      ));
  test('records that nothing changed, so that an older measurement overwrites nothing', () => {
    given(creative, stored(1))
      .when(recordCreativeFile(file(3)))
      .records(measured(3, {}));
    given(creative, stored(1), measured(3, {}))
      .when(recordCreativeFile(file(2, { bytes: 5 })))
      .records();
  });
  test('adds the ads of an older observation, and only the measurements that no other has', () => {
    given(creative, stored(3))
      .when(recordCreativeFile(file(2, { bytes: 5, ad_ids: ['123499'] })))
      .records(carried(2, '123499'));
    given(creative, stored(3))
      .when(recordCreativeFile(file(2, { poster_url: 'https://media.example/a.png' })))
      .records(
        measured(2, { poster_url: 'https://media.example/a.png' }, []),
        carried(2, '123456', '123457'),
      );
  });
});

describe('recordCreativeAnalysis', () => {
  test('records the analysis, also before the file is measured', () =>
    given(creative)
      .when(recordCreativeAnalysis(analysis(2)))
      .records(analysed(2, { depth: 'transcribed', transcript: 'the cove boot is back' })));
  test('records that a film has no speech', () =>
    given(creative, stored(1))
      .when(recordCreativeAnalysis(analysis(2, { transcript: '' })))
      .records(analysed(2, { depth: 'transcribed', transcript: '' })));
  test('adds fields to earlier results and blanks none', () =>
    given(
      creative,
      stored(1),
      analysed(2, { depth: 'described', transcript: 'hi', fields: { hook: 'story' } }),
    )
      .when(
        recordCreativeAnalysis(
          analysis(3, {
            depth: 'described',
            transcript: null,
            fields: { ...NO_FIELDS, hook: 'story', tone: 'urgent' },
          }),
        ),
      )
      .records(analysed(3, { fields: { tone: 'urgent' } }, ['fields.hook'])));
  test('never lowers the depth of analysis', () =>
    given(creative, stored(1), analysed(2, { depth: 'described' }))
      .when(recordCreativeAnalysis(analysis(3, { depth: 'transcribed' })))
      .records(analysed(3, { transcript: 'the cove boot is back' })));
  test('records that nothing changed, so that an older analysis overwrites nothing', () => {
    const first = analysed(1, { depth: 'transcribed', transcript: 'the cove boot is back' });
    const again = analysed(3, {}, ['transcript']);
    given(creative, first)
      .when(recordCreativeAnalysis(analysis(3)))
      .records(again);
    given(creative, first, again)
      .when(recordCreativeAnalysis(analysis(2, { transcript: 'hi' })))
      .records();
  });
  test('takes from an analysis older than the last one only what no other has', () => {
    given(creative, analysed(2, { depth: 'transcribed', transcript: 'hi' }))
      .when(recordCreativeAnalysis(analysis(1)))
      .records();
    given(creative, analysed(2, { depth: 'transcribed', transcript: 'hi' }))
      .when(recordCreativeAnalysis(analysis(1, { language: 'en-US' })))
      .records(analysed(1, { language: 'en-US' }, []));
  });
});

describe('the observation schema', () => {
  test.each([
    [
      'a value that is not listed',
      analysis(1, { depth: 'described', fields: { ...NO_FIELDS, hook: 'shock' as 'story' } }),
      'fields.hook',
    ],
    ['fields of a file that was not described', analysis(1, { fields: NO_FIELDS }), 'fields'],
    ['a depth that does not exist', analysis(1, { depth: 'deep' as 'described' }), 'depth'],
    ['a NUL character', analysis(1, { transcript: 'a\u0000' }), 'transcript'],
    ['a key that is not a SHA-256 hash', file(1, { creative_key: 'abc' }), 'creative_key'],
    ['no ads', file(1, { ad_ids: [] }), 'ad_ids'],
    ['a negative size', file(1, { bytes: -1 }), 'bytes'],
    ['an image with a duration', file(1, { media_kind: 'image' }), 'duration_seconds'],
    ['frames out of order', file(1, { frame_times_seconds: [1, 1] }), 'frame_times_seconds'],
    ['an address with the scheme javascript', file(1, { media_url: 'javascript:1' }), 'media_url'],
    ['an amount of money', { ...file(1), spend: 3 }, ''],
  ])('rejects %s', (_case, observation, path) => {
    const result = Observation.safeParse(observation);
    expect(result.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });
  test('accepts 1,001 ads: a file is never refused because of many', () => {
    const ad_ids = Array.from({ length: 1_001 }, (_, index) => String(10_000 + index));
    expect(Observation.parse(file(1, { ad_ids }))).toMatchObject({ ad_ids });
  });
  test('cuts texts and lists that are too long, and marks the cut', () => {
    const cut = Observation.parse(
      analysis(1, {
        transcript: 'x'.repeat(5_000_000),
        corrections: Array.from({ length: 501 }, () => ({ heard: 'a', meant: 'b'.repeat(501) })),
        shown_texts: Array.from({ length: 201 }, () => 'NEW'),
      }),
    ) as CreativeAnalysis;
    expect(cut.transcript).toHaveLength(TRANSCRIPT_MAX_CHARACTERS);
    expect(cut.transcript?.endsWith('x…')).toBe(true);
    expect(cut.shown_texts).toHaveLength(200);
    expect(cut.shown_texts?.at(-1)).toBe('…');
    expect(cut.corrections?.[0]?.meant).toBe(`${'b'.repeat(499)}…`);
    expect(cut.corrections?.at(-1)).toEqual({ heard: '…', meant: '…' });
  });
  test('cuts an analysis so that its event fits into one append, in any script', () => {
    for (const letter of ['\u0001a', 'я', '漢', '😀']) {
      const cut = Observation.parse(
        analysis(1, {
          transcript: letter.repeat(500_000),
          corrections: Array.from({ length: 500 }, () => ({
            heard: letter.repeat(500),
            meant: letter.repeat(500),
          })),
          shown_texts: Array.from({ length: 200 }, () => letter.repeat(1_000)),
        }),
      ) as CreativeAnalysis;
      const [event] = recordCreativeAnalysis(cut)(creative.initial);
      expect(Buffer.byteLength(JSON.stringify(event)), letter).toBeLessThan(900_000);
      expect(cut.transcript?.isWellFormed()).toBe(true);
    }
  });
  test('accepts a complete observation unchanged', () => {
    const whole = analysis(1, {
      depth: 'described',
      transcript: 'x'.repeat(TRANSCRIPT_MAX_CHARACTERS),
      fields: NO_FIELDS,
    });
    expect(Observation.parse(whole)).toEqual(whole);
    expect(Observation.parse(file(1))).toEqual(file(1));
  });
});
