import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CreativeEvent, creativeStream } from '#contracts/events/corpus/creative.ts';
import { creatives } from '#projections/creatives/project.ts';
import { findRecord } from '#projections/creatives/read-records.ts';
import { type GivenEvent, given, interleave } from '../dsl/projections.ts';
import { limitMs, runs } from '../property-seed.ts';
import {
  ADS,
  BASE,
  BITS,
  brand,
  counts,
  countsByDefinition,
  flipped,
  hex,
  idOf,
  keyOf,
  measured,
  parsed,
  stored,
} from './fixtures/picture-files.ts';

const RUN_MS = 30_000;

type Shown = {
  brands: { active_ads: number; total_ads: number }[];
  ads: { id: string; creative_id: string }[];
};

describe('files with the same picture', () => {
  test('count the ads of all of them, each ad once, up to ten different bits', async () => {
    const files = [
      stored(1, [1, 6], flipped(0)),
      stored(2, [1, 2], flipped(5)),
      stored(3, [3], flipped(10, 20)),
      stored(4, [4], flipped(11, 40)),
      stored(5, [5], flipped(0), 'video'),
      stored(6, [5], null),
    ];
    // The second and the third file differ by 15 bits: only the first is near both. The fourth differs from it by eleven.
    const expected = ['1: 3/4', '2: 2/3', '3: 2/3', '4: 1/1', '5: 1/1', '6: 1/1'];
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

  test('are near each other by their own hashes only, and no longer when one gets another hash', async () => {
    const apart = [stored(1, [1], flipped(0)), stored(2, [2], flipped(16))];
    const between = stored(3, [3], flipped(8));
    await given([...brand(), ...apart, between])
      .into(creatives)
      .shows(counts, ['1: 2/2', '2: 2/2', '3: 3/3']);
    await given([...brand(), between, ...apart, measured(3, flipped(20, 44))])
      .into(creatives)
      .shows(counts, ['1: 1/1', '2: 1/1', '3: 1/1']);
  });

  test('lose the ads of one of two files with equal hashes when it gets another hash', async () => {
    const files = [stored(1, [1], flipped(0)), stored(2, [2], flipped(0)), stored(3, [3], flipped(8))];
    await given([...brand(), ...files, measured(2, flipped(20, 44))])
      .into(creatives)
      .shows(counts, ['1: 2/2', '2: 1/1', '3: 2/2']);
  });

  test('are found when an ad of a file is known before its hash is', async () => {
    const carried = (n: number, ads: readonly number[]): GivenEvent => ({
      stream: creativeStream(keyOf(n)),
      event: {
        type: 'CreativeCarried',
        data: { creative_key: keyOf(n), observed_at: '2026-05-06T11:00:00Z', ad_ids: ads.map(idOf) },
      } satisfies CreativeEvent,
    });
    await given([...brand(), stored(1, [1], flipped(0)), carried(1, [2]), stored(2, [3], flipped(4))])
      .into(creatives)
      .shows(counts, ['1: 3/3', '2: 3/3']);
  });

  test('of plain areas are not taken for one picture', async () => {
    const plain = [stored(1, [1], hex(0n)), stored(2, [2], hex(0n)), stored(3, [3], hex((1n << 64n) - 1n))];
    await given([...brand(), ...plain])
      .into(creatives)
      .shows(counts, ['1: 1/1', '2: 1/1', '3: 1/1']);
  });
});

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
