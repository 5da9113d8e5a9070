import { expect, test } from 'vitest';
import { NEAR_HASHES_MAX, SAME_PICTURE_MAX_BITS } from '#contracts/values/media/creatives.ts';
import { Random } from '#deploy/local/demo/world/seeded-random.ts';
import { LONG_STATEMENT_TIMEOUT_MS, openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { creatives } from '#projections/creatives/project.ts';
import { applyBatch } from '#services/projector/apply/apply-batch.ts';
import { createProjectorTables } from '#services/projector/apply/checkpoints.ts';
import { createTestDatabase } from '#tests/stack/database.ts';
import { type GivenEvent, openTarget, recorded } from '../dsl/projections.ts';
import {
  BASE,
  brand,
  counts,
  countsByDefinition,
  hex as fileHex,
  measured,
  stored as storedFile,
} from './fixtures/picture-files.ts';

/** Lists are compared with all pairs. The long form (`npm run trials -- same-pictures`) has 100,000 hashes. */
const HASHES = Number(inheritedEnvironment()['SAME_PICTURES_HASHES'] ?? 2_000);
const SEED = Number(inheritedEnvironment()['SAME_PICTURES_SEED'] ?? 5);
const BATCH = 5_000;
const COMPARED = 200;
const SAME_SHARE = 0.3;
const FLIPS_MAX = 8;
const WAIT_MS = 10 * 60_000;

type Hash = readonly [number, number];

const bitCount = (word: number): number => {
  let count = 0;
  for (let left = word >>> 0; left !== 0; left = (left & (left - 1)) >>> 0) count += 1;
  return count;
};
const differing = (a: Hash, b: Hash): number => bitCount(a[0] ^ b[0]) + bitCount(a[1] ^ b[1]);
const hex = ([high, low]: Hash): string =>
  [high, low].map((word) => word.toString(16).padStart(8, '0')).join('');
const flip = ([high, low]: Hash, bit: number): Hash =>
  bit < 32 ? [high, (low ^ (1 << bit)) >>> 0] : [(high ^ (1 << (bit - 32))) >>> 0, low];

const drawHashes = (count: number): readonly Hash[] => {
  const random = new Random(SEED, 1);
  const drawn = new Map<string, Hash>();
  const list: Hash[] = [];
  while (drawn.size < count) {
    let hash: Hash = [random.below(2 ** 32), random.below(2 ** 32)];
    if (list.length > 0 && random.chance(SAME_SHARE)) {
      hash = random.pick(list);
      for (let flips = random.between(1, FLIPS_MAX); flips > 0; flips -= 1)
        hash = flip(hash, random.below(64));
    }
    const bits = differing(hash, [0, 0]);
    if (bits < 16 || bits > 48 || drawn.has(hex(hash))) continue;
    drawn.set(hex(hash), hash);
    list.push(hash);
  }
  return list;
};

const countsInBatches = async (events: readonly GivenEvent[], size: number): Promise<readonly string[]> => {
  await using resources = new AsyncDisposableStack();
  const created = await createTestDatabase();
  resources.defer(() => created.drop());
  const pool = openPool(created.url, 2);
  resources.defer(() => pool.end());
  const db = resources.use(openReadDatabase(created.url));
  await createProjectorTables(pool);
  const target = await openTarget(pool, creatives);
  const all = recorded(events);
  for (let from = 0; from < all.length; from += size) {
    const batch = all.slice(from, from + size);
    await applyBatch(pool, target, batch, batch.at(-1)?.position ?? 0n);
  }
  return await counts(db);
};

test(
  'a hash with more near hashes than its list holds counts with the nearest that list it too',
  async () => {
    const hashes = Array.from({ length: 16 }, (_, a) =>
      Array.from({ length: a }, (__, b) => BASE ^ (1n << BigInt(a)) ^ (1n << BigInt(b))),
    )
      .flat()
      .slice(0, NEAR_HASHES_MAX + 10);
    const files = hashes.map((hash, index) => ({ ads: [1_000 + index], hash }));
    const events = files.map(({ ads, hash }, index) => storedFile(index + 1, ads, fileHex(hash)));
    const library = brand(files.flatMap(({ ads }) => ads));
    const expected = countsByDefinition(files);
    // Not all of these hashes count alike, so lists are full.
    expect(new Set(expected.map((text) => text.split('/')[1])).size).toBeGreaterThan(1);
    expect(await countsInBatches([...library, ...events], BATCH)).toEqual(expected);

    const isMoved = (index: number): boolean => index % 30 === 0;
    const away = BASE ^ 0xffffffn;
    const left = files.map((file, index) => (isMoved(index) ? { ...file, hash: away } : file));
    const moves = left.flatMap(({ hash }, index) =>
      isMoved(index) ? [measured(index + 1, fileHex(hash))] : [],
    );
    const moved = [...events.toReversed(), ...library, ...moves];
    for (const size of [BATCH, 37]) {
      expect(await countsInBatches(moved, size)).toEqual(countsByDefinition(left));
    }
  },
  WAIT_MS,
);

test(
  'lists of near hashes hold every hash within ten bits, and no other',
  async () => {
    await using resources = new AsyncDisposableStack();
    const created = await createTestDatabase();
    resources.defer(() => created.drop());
    // As a rebuild does: a statement with thousands of new hashes may take longer than one of a live batch.
    const pool = openPool(created.url, 2, { statement_timeout: LONG_STATEMENT_TIMEOUT_MS });
    resources.defer(() => pool.end());
    await createProjectorTables(pool);
    const target = await openTarget(pool, creatives);
    const sizes = [1, 1, 1, 100, Math.min(BATCH, HASHES)];
    const hashes = drawHashes(HASHES + sizes.reduce((sum, size) => sum + size, 0));
    const events = recorded(hashes.map((hash, n) => storedFile(n + 1, [], hex(hash))));
    const apply = async (from: number, to: number): Promise<number> => {
      const started = performance.now();
      await applyBatch(pool, target, events.slice(from, to), events[to - 1]?.position ?? 0n);
      return performance.now() - started;
    };
    let applied = 0;
    let loadingMs = 0;
    for (; applied < HASHES; applied = Math.min(applied + BATCH, HASHES)) {
      loadingMs += await apply(applied, Math.min(applied + BATCH, HASHES));
    }
    console.log(`${HASHES} hashes written in ${(loadingMs / 1_000).toFixed(1)} s`);
    for (const size of sizes) {
      console.log(`a batch of ${size} new hashes: ${(await apply(applied, applied + size)).toFixed(1)} ms`);
      applied += size;
    }

    const { rows } = await pool.query<{ hash: string; others: string[] }>(
      `select hash, array_agg(other order by bits, other) as others from creatives.near_hash group by hash`,
    );
    const lists = new Map(rows.map(({ hash, others }) => [hash, others]));
    const random = new Random(SEED, 2);
    let near = 0;
    for (let compared = 0; compared < COMPARED; compared += 1) {
      const hash = random.pick(hashes);
      const expected = hashes
        .filter((other) => other !== hash && differing(hash, other) <= SAME_PICTURE_MAX_BITS)
        .map((other) => ({ text: hex(other), bits: differing(hash, other) }))
        .toSorted((a, b) => a.bits - b.bits || (a.text < b.text ? -1 : 1))
        .slice(0, NEAR_HASHES_MAX)
        .map(({ text }) => text);
      expect(lists.get(hex(hash)) ?? []).toEqual(expected);
      near += expected.length;
    }
    expect(near).toBeGreaterThan(COMPARED / 10);
    const { rows: left } = await pool.query(
      'select hash from creatives.unlisted union all select hash from creatives.recounted',
    );
    expect(left).toEqual([]);
  },
  WAIT_MS,
);
