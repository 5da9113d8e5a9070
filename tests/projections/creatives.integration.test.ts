import { describe, expect, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { creativeStream, type CreativeEvent } from '#contracts/events/corpus/creative.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { brandIdOf } from '#domain/ids.ts';
import { creatives } from '#projections/creatives/project.ts';
import {
  type RecordFilter,
  findRecord,
  findRecordKeys,
  readCoverage,
  searchRecords,
} from '#projections/creatives/read-records.ts';
import { findCreativesOfAd, listCreatives, readBrandThumbs } from '#projections/creatives/read.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';
import { ad, BRAND, library } from '../dsl/scans.ts';

const AT = '2026-05-01T00:00:00.000Z';
const OTHER = brandIdOf('other.example');
const idOf = (n: number): string => ad(n).ad_id;
const keyOf = (n: number): string => String(n).padStart(64, 'a');

const shop = (details: object = {}): GivenEvent => ({
  stream: brandStream(BRAND),
  event: registered('shop.example', AT, details),
});
const scans = (): GivenEvent[] => {
  const of = library();
  const one = ad(1, { started_on: '2026-01-01', format: 'video', cta_type: 'SHOP_NOW' });
  const two = ad(2, { started_on: '2026-04-01', format: 'image' });
  const three = ad(3, { started_on: '2026-05-01', format: 'image' });
  return [
    of.scan({ at: '2026-05-04T10:00Z' }, [one, two, three]),
    of.scan({ at: '2026-05-05T10:00Z' }, [
      one,
      { ...two, is_active: false, stopped_on: '2026-05-05' },
      three,
    ]),
  ]
    .flat()
    .map((event) => ({ stream: adLibraryStream(BRAND), event }));
};

type Media = Extract<CreativeEvent, { type: 'CreativeStored' }>['data']['media'];
const file = (n: number, ads: readonly number[], media: Partial<Media> = {}): GivenEvent => ({
  stream: creativeStream(keyOf(n)),
  event: {
    type: 'CreativeStored',
    data: {
      creative_key: keyOf(n),
      observed_at: '2026-05-06T10:00:00Z',
      ad_ids: ads.map(idOf),
      media: {
        media_kind: 'video',
        content_type: 'video/mp4',
        bytes: 1_000 * n,
        width: 1080,
        height: 1920,
        duration_seconds: 10 * n,
        frame_times_seconds: [0, 2.5],
        media_url: `https://media.example/${n}.mp4`,
        object_key: null,
        poster_url: `https://media.example/${n}.jpg`,
        ...media,
      },
    },
  } satisfies CreativeEvent,
});
const read = (n: number, changes: object, day = 7): GivenEvent => ({
  stream: creativeStream(keyOf(n)),
  event: {
    type: 'CreativeAnalysed',
    data: { creative_key: keyOf(n), observed_at: `2026-05-0${day}T10:00:00Z`, changes },
  },
});
const image = { media_kind: 'image', content_type: 'image/jpeg', duration_seconds: null } as const;

const corpus = (): GivenEvent[] => [
  shop(),
  ...scans(),
  file(1, [1, 2, 3]),
  file(2, [2], image),
  file(3, [3, 77], { media_url: null, poster_url: null }),
  read(1, {
    depth: 'described',
    transcript: 'The cave boot is back',
    fields: { hook: 'question', tone: 'urgent' },
  }),
  read(1, { corrections: [{ heard: 'cave', meant: 'Cove' }], fields: { tone: 'emotional' } }, 8),
  read(2, { depth: 'described', shown_texts: ['Half price', 'TODAY'], fields: { hook: 'offer' } }),
  read(3, { depth: 'transcribed', transcript: '' }),
  read(9, { depth: 'transcribed', transcript: 'of a file that nobody measured' }),
];

const parsed = (text: string): never => JSON.parse(text.replaceAll('\u0001', '')) as never;
const search = async (db: ReadDatabase, filter: Partial<RecordFilter>): Promise<string[]> => {
  const page = { limit: 10, after: null };
  const found = await searchRecords(db, { facets: [], ranges: {}, ...filter }, page);
  return found.items.map((item) => {
    const record: { creative_key: string; active_ads: number; total_ads: number } = parsed(item);
    return `${record.creative_key.replaceAll('a', '')} ${record.active_ads}/${record.total_ads}`;
  });
};

const isOf =
  (prefix: string) =>
  ({ stream }: GivenEvent): boolean =>
    stream.startsWith(prefix);

describe('creative records', () => {
  test('lists files by the live ads that carry them, in any order of the streams', async () => {
    const filesFirst = [...corpus().filter(isOf('creative-')), ...scans(), shop()];
    for (const events of [corpus(), filesFirst]) {
      await given(events)
        .into(creatives)
        .shows(
          async (db) => ({
            all: await search(db, {}),
            brand: await search(db, { brandId: BRAND }),
            other: await search(db, { brandId: OTHER }),
            kind: await search(db, { facets: ['media_kind:image'] }),
            fields: await search(db, { facets: ['hook:question', 'tone:emotional'] }),
            before: await search(db, { facets: ['tone:urgent'] }),
            heard: await search(db, { said: 'cave boot' }),
            meant: await search(db, { said: 'COVE' }),
            shown: await search(db, { shown: '"half price" -tomorrow' }),
            long: await search(db, { ranges: { duration_seconds: { min: 11 } } }),
            large: await search(db, {
              ranges: { bytes: { min: 1_500, max: 2_500 }, active_ads: { max: 0 } },
            }),
          }),
          {
            all: ['1 2/3', '3 1/1', '2 0/1'],
            brand: ['1 2/3', '3 1/1', '2 0/1'],
            other: [],
            kind: ['2 0/1'],
            fields: ['1 2/3'],
            before: [],
            heard: ['1 2/3'],
            meant: ['1 2/3'],
            shown: ['2 0/1'],
            long: ['3 1/1'],
            large: ['2 0/1'],
          },
        );
    }
  });

  test('returns a record by key, and finds keys by prefix', () =>
    given(corpus())
      .into(creatives)
      .shows(
        async (db): Promise<unknown> => [
          parsed((await findRecord(db, keyOf(1)))?.json ?? 'null'),
          (await findRecordKeys(db, 'a'.repeat(63))).length,
          await findRecordKeys(db, keyOf(2)),
          await findRecordKeys(db, keyOf(9)),
        ],
        [
          {
            creative_key: keyOf(1),
            media_kind: 'video',
            content_type: 'video/mp4',
            bytes: 1_000,
            width: 1080,
            height: 1920,
            duration_seconds: 10,
            media_url: 'https://media.example/1.mp4',
            poster_url: 'https://media.example/1.jpg',
            depth: 'described',
            fields: {
              hook: 'question',
              style: null,
              presenter: null,
              setting: null,
              tone: 'emotional',
              offer: null,
              audio: null,
            },
            transcript_excerpt: 'The cave boot is back',
            active_ads: 2,
            total_ads: 3,
            stored_at: '2026-05-06T10:00:00.000Z',
            as_of: '2026-05-08T10:00:00.000Z',
            url: `/v1/creative-records/${keyOf(1)}`,
            brands: [{ brand: expect.objectContaining({ id: BRAND }), active_ads: 2, total_ads: 3 }],
            ads: [3, 1, 2].map((n) =>
              expect.objectContaining({ id: idOf(n), brand_id: BRAND, active: n !== 2 }),
            ),
            frame_times_seconds: [0, 2.5],
            read_frame_times_seconds: null,
            transcript: {
              text: 'The cave boot is back',
              language: null,
              corrections: [{ heard: 'cave', meant: 'Cove' }],
            },
            shown_texts: null,
          },
          2,
          [keyOf(2)],
          [],
        ],
      ));

  test('pages through records without gaps or repeats', () =>
    given([shop(), ...scans(), ...Array.from({ length: 7 }, (_, n) => file(n + 1, [(n % 3) + 1]))])
      .into(creatives)
      .shows(
        async (db) => {
          const counts = [];
          for (const filter of [{}, { brandId: BRAND }, { facets: ['media_kind:video'] }]) {
            const seen = new Set<string>();
            let after: readonly (string | number)[] | null = null;
            do {
              const found: Awaited<ReturnType<typeof searchRecords>> = await searchRecords(
                db,
                { facets: [], ranges: {}, ...filter },
                { limit: 2, after },
              );
              for (const item of found.items) seen.add(item);
              after = found.next;
            } while (after !== null);
            counts.push(seen.size);
          }
          return counts;
        },
        [7, 7, 7],
      ));
});

describe('coverage', () => {
  const coverage = async (db: ReadDatabase, brandId: string | null): Promise<object> =>
    parsed((await readCoverage(db, brandId, 'null')).json);

  test('shows how far files are processed, counting each file once over all public brands', () =>
    given(corpus())
      .into(creatives)
      .shows(
        async (db) => [await coverage(db, BRAND), await coverage(db, null)],
        Array.from({ length: 2 }, () => ({
          brand: null,
          measured_files: 3,
          images: 1,
          videos: 2,
          transcribed_files: 3,
          described_files: 2,
          fields: expect.arrayContaining([
            {
              field: 'hook',
              values: [
                { value: 'offer', files: 1 },
                { value: 'question', files: 1 },
              ],
              not_read: 0,
            },
            { field: 'tone', values: [{ value: 'emotional', files: 1 }], not_read: 1 },
            { field: 'audio', values: [], not_read: 2 },
          ]),
        })),
      ));

  test('has null values if no file was described', () =>
    given([shop({ is_public: false }), ...scans(), file(1, [1])])
      .into(creatives)
      .shows(
        async (db) => [await coverage(db, BRAND), await coverage(db, null)],
        [
          expect.objectContaining({
            measured_files: 1,
            described_files: 0,
            fields: expect.arrayContaining([{ field: 'hook', values: null, not_read: null }]),
          }),
          expect.objectContaining({ measured_files: 0 }),
        ],
      ));
});

describe('creatives', () => {
  const page = { limit: 10, after: null };
  const ids = (items: readonly string[]): string[] =>
    items.map((item) => {
      const { ad_id, creative_key }: { ad_id: string; creative_key: string } = parsed(item);
      return `${ad_id.replaceAll('9', '')}:${creative_key.replaceAll('a', '')}`;
    });

  test('lists the archived files of an ad, and of a brand by newest ad', () =>
    given(corpus())
      .into(creatives)
      .shows(
        async (db) => [
          ids((await listCreatives(db, { brandId: BRAND }, page)).items).slice(0, 1),
          ids((await listCreatives(db, { brandId: BRAND }, page)).items).toSorted(),
          ids((await findCreativesOfAd(db, idOf(3))) ?? []),
          await findCreativesOfAd(db, '1234567'),
        ],
        [['3:1'], ['1:1', '2:1', '2:2', '3:1'], ['3:1'], null],
      ));

  test('returns thumbnails of live ads with a stored image, and an entry for every brand', () =>
    given([
      ...corpus(),
      // A video shows its poster, an image shows itself.
      file(4, [3], { poster_url: null }),
      file(5, [3], { ...image, media_url: 'https://media.example/5.jpg', poster_url: null }),
    ])
      .into(creatives)
      .shows(
        async (db) => (await readBrandThumbs(db, [OTHER, BRAND])).items.map(parsed),
        [
          { brand_id: OTHER, thumbs: [] },
          {
            brand_id: BRAND,
            thumbs: [
              expect.objectContaining({ creative_key: keyOf(5), image_url: 'https://media.example/5.jpg' }),
              expect.objectContaining({
                ad_id: idOf(3),
                creative_key: keyOf(1),
                image_url: 'https://media.example/1.jpg',
                started_on: '2026-05-01',
              }),
            ],
          },
        ],
      ));
});
