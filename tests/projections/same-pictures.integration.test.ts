import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { type CreativeEvent, creativeStream } from '#contracts/events/corpus/creative.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { creatives } from '#projections/creatives/project.ts';
import { findRecord, searchRecords } from '#projections/creatives/read-records.ts';
import { type GivenEvent, given, interleave } from '../dsl/projections.ts';
import { ad, BRAND, library } from '../dsl/scans.ts';
import { registered } from '../operations/fixtures/corpus.ts';
import { limitMs, runs } from '../property-seed.ts';

const ADS = 6;
const BITS = 64;
const BASE = 0x0f1e2d3c4b5a6978n;
/** Milliseconds for one run of the property test. */
const RUN_MS = 30_000;

const idOf = (n: number): string => ad(n).ad_id;
const keyOf = (n: number): string => String(n).padStart(64, 'a');
const hex = (hash: bigint): string => hash.toString(16).padStart(BITS / 4, '0');
/** Changes `bits` bits of the base, from bit `first` on. */
const flipped = (bits: number, first = 0): string =>
  hex(BASE ^ (((1n << BigInt(bits)) - 1n) << BigInt(first)));

type Kind = 'image' | 'video';
const stored = (
  n: number,
  ads: readonly number[],
  hash: string | null,
  kind: Kind = 'image',
): GivenEvent => ({
  stream: creativeStream(keyOf(n)),
  event: {
    type: 'CreativeStored',
    data: {
      creative_key: keyOf(n),
      observed_at: '2026-05-06T10:00:00Z',
      ad_ids: ads.map(idOf),
      media: {
        media_kind: kind,
        content_type: null,
        bytes: 1_000,
        width: null,
        height: null,
        duration_seconds: null,
        frame_times_seconds: null,
        media_url: null,
        object_key: null,
        poster_url: null,
        perceptual_hash: hash,
      },
    },
  } satisfies CreativeEvent,
});
const measured = (n: number, hash: string): GivenEvent => ({
  stream: creativeStream(keyOf(n)),
  event: {
    type: 'CreativeMeasured',
    data: {
      creative_key: keyOf(n),
      observed_at: '2026-05-07T10:00:00Z',
      changes: { perceptual_hash: hash },
    },
  } satisfies CreativeEvent,
});

/** A brand with ads; the last one ends. */
const brand = (): GivenEvent[] => {
  const of = library();
  const ads = Array.from({ length: ADS }, (_, index) => ad(index + 1, { started_on: '2026-04-01' }));
  const ended = ads.with(ADS - 1, ad(ADS, { is_active: false, stopped_on: '2026-05-05' }));
  const scans = [of.scan({ at: '2026-05-04T10:00Z' }, ads), of.scan({ at: '2026-05-05T10:00Z' }, ended)];
  return [
    { stream: brandStream(BRAND), event: registered('shop.example', '2026-05-01T00:00:00.000Z', {}) },
    ...scans.flat().map((event) => ({ stream: adLibraryStream(BRAND), event })),
  ];
};

type Counted = { creative_key: string; active_ads: number; total_ads: number };
type Shown = {
  brands: { active_ads: number; total_ads: number }[];
  ads: { id: string; creative_id: string }[];
};
const parsed = (text: string): never => JSON.parse(text.replaceAll('\u0001', '')) as never;

/** Returns live and all ads of each file, in the order of the files. */
const counts = async (db: ReadDatabase): Promise<readonly string[]> => {
  const { items } = await searchRecords(db, { facets: [], ranges: {} }, { limit: 100, after: null });
  return items
    .map((item): Counted => parsed(item))
    .toSorted((a, b) => (a.creative_key < b.creative_key ? -1 : 1))
    .map(
      ({ creative_key, active_ads, total_ads }) =>
        `${Number(creative_key.replaceAll('a', ''))}: ${active_ads}/${total_ads}`,
    );
};

describe('files with the same picture', () => {
  test('count the ads of all of them, each ad once, up to ten different bits', async () => {
    const files = [
      stored(1, [1, 6], flipped(0)),
      stored(2, [1, 2], flipped(5)),
      stored(3, [3], flipped(10, 20)),
      stored(4, [4], flipped(16, 40)),
      stored(5, [5], flipped(0), 'video'),
      stored(6, [5], null),
    ];
    const expected = ['1: 3/4', '2: 3/4', '3: 3/4', '4: 1/1', '5: 1/1', '6: 1/1'];
    await given([...brand(), ...files])
      .into(creatives)
      .shows(counts, expected);
    await given([...files.toReversed(), ...brand()])
      .into(creatives)
      .shows(counts, expected);
  });

  test('are shown with the brands and ads of all of them', async () => {
    await given([...brand(), stored(1, [1, 2, 6], flipped(0)), stored(2, [2, 3], flipped(3))])
      .into(creatives)
      .shows(
        async (db) => {
          const shown = async (n: number): Promise<Shown> =>
            parsed((await findRecord(db, keyOf(n)))?.json ?? '{}');
          const [record, other] = [await shown(2), await shown(1)];
          const creativeIn = ({ ads }: Shown) => ads.find(({ id }) => id === idOf(2))?.creative_id;
          return {
            brands: record.brands.map(({ active_ads, total_ads }) => [active_ads, total_ads]),
            ads: record.ads.map(({ id }) => id).toSorted(),
            isOwnFile: creativeIn(record) !== creativeIn(other),
          };
        },
        { brands: [[3, 4]], ads: [1, 2, 3, 6].map(idOf).toSorted(), isOwnFile: true },
      );
  });

  test('are joined by a file between them, and parted when it gets another hash', async () => {
    const apart = [stored(1, [1], flipped(0)), stored(2, [2], flipped(16))];
    const bridge = stored(3, [3], flipped(8));
    await given([...brand(), ...apart, bridge])
      .into(creatives)
      .shows(counts, ['1: 3/3', '2: 3/3', '3: 3/3']);
    await given([...brand(), bridge, ...apart, measured(3, flipped(20, 44))])
      .into(creatives)
      .shows(counts, ['1: 1/1', '2: 1/1', '3: 1/1']);
  });

  test('of plain areas are not taken for one picture', async () => {
    const plain = [stored(1, [1], hex(0n)), stored(2, [2], hex(0n)), stored(3, [3], hex((1n << 64n) - 1n))];
    await given([...brand(), ...plain])
      .into(creatives)
      .shows(counts, ['1: 1/1', '2: 1/1', '3: 1/1']);
  });
});

/** Counts by definition: pairs of near hashes, joined until nothing changes. */
const countsByDefinition = (files: readonly { readonly ads: readonly number[]; readonly hash: bigint }[]) => {
  const differing = (a: bigint, b: bigint): number => (a ^ b).toString(2).replaceAll('0', '').length;
  const tells = ({ hash }: { hash: bigint }): boolean =>
    differing(hash, 0n) >= 16 && differing(hash, 0n) <= 48;
  const picture = files.map((_, index) => index);
  for (let joined = true; joined; ) {
    joined = false;
    for (const [a, one] of files.entries()) {
      for (const [b, other] of files.entries()) {
        const isSame = tells(one) && tells(other) && differing(one.hash, other.hash) <= 10;
        const [low, high] = [picture[a] as number, picture[b] as number].toSorted((x, y) => x - y);
        if (!isSame || low === high) continue;
        joined = true;
        for (const [index, of] of picture.entries()) if (of === high) picture[index] = low as number;
      }
    }
  }
  return files.map((_, index) => {
    const ads = new Set(files.flatMap((file, at) => (picture[at] === picture[index] ? file.ads : [])));
    return `${index + 1}: ${[...ads].filter((n) => n !== ADS).length}/${ads.size}`;
  });
};

test(
  'counts are those of the definition, for random hashes that change, in any order of the streams',
  async () => {
    const bits = fc.uniqueArray(fc.nat(BITS - 1), { maxLength: 14 });
    const ofHash = fc.record({ base: fc.nat(2), bits }).map(({ base, bits: flips }) => {
      const bases = [BASE, BASE ^ 0xffffn, 0xaaaa5555cccc3333n];
      return flips.reduce((hash, bit) => hash ^ (1n << BigInt(bit)), bases[base] as bigint);
    });
    const ads = fc.uniqueArray(fc.integer({ min: 1, max: ADS }), { minLength: 1, maxLength: 3 });
    const ofFile = fc.record({ ads, hashes: fc.array(ofHash, { minLength: 1, maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(ofFile, { minLength: 2, maxLength: 12 }),
        fc.array(fc.nat(100), { minLength: 1, maxLength: 20 }),
        async (files, picks) => {
          const events = files.flatMap(({ ads: of, hashes }, index) => {
            const [first, ...later] = hashes.map(hex);
            return [
              stored(index + 1, of, first as string),
              ...later.map((hash) => measured(index + 1, hash)),
            ];
          });
          const expected = countsByDefinition(
            files.map(({ ads: of, hashes }) => ({ ads: of, hash: hashes.at(-1) as bigint })),
          );
          await given(interleave([...events, ...brand()], picks))
            .into(creatives)
            .shows(counts, expected);
        },
      ),
      { numRuns: runs(6) },
    );
    expect.hasAssertions();
  },
  limitMs(6 * RUN_MS),
);
