import { afterAll, beforeAll, expect, it } from 'vitest';
import { Observation } from '#contracts/observations/index.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { runProjections } from '#services/projector/run.ts';
import { createTestDatabase, createTestEventStore } from '../stack/database.ts';
import { untilPassed } from '../stack/read-models.ts';
import { SAMPLES } from './observation-samples.ts';

/** The longest texts in four-byte characters and the largest and smallest numbers, one by one and all at once. */
type Path = readonly (string | number)[];

const leavesOf = (value: unknown, path: Path = []): readonly Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]))
    : [path];

const withLeaf = (value: unknown, [name, ...rest]: Path, leaf: unknown): unknown => {
  if (name === undefined) return leaf;
  if (Array.isArray(value))
    return value.map((one, at) => (at === Number(name) ? withLeaf(one, rest, leaf) : one));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [name]: withLeaf(object[name], rest, leaf) };
};

const leafAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((one, name) => (one as Readonly<Record<string, unknown>>)[name], value);

const LENGTHS = [
  100_000, 50_000, 20_000, 10_000, 8_192, 5_000, 2_000, 1_000, 500, 255, 250, 200, 100, 40, 20, 8,
];
const CHARACTERS = ['\u{1F9E6}', 'क', 'x', '"\\', '\u0001', "'{},(", '<b>&'];
const TEXTS = CHARACTERS.map((sign) => LENGTHS.map((length) => sign.repeat(length / sign.length)));
const URLS = LENGTHS.map((length) => `https://shop.example/${'%F0%9F%A7%A6'.repeat(length / 12)}`);
const NUMBERS = [Number.MAX_SAFE_INTEGER, 1e12, 1e10, 1e9, 86_400, 1_000, 1].flatMap((number) => [
  number,
  -number,
  0,
]);
const DATES = ['2199-12-31', '2000-01-01', '2000-01-01T00:00:00.000Z', '2000-01'];

const isAccepted = (observation: unknown): boolean => Observation.safeParse(observation).success;

const largestOf = (sample: object, path: Path, texts: readonly string[]): unknown => {
  const accepts = (leaf: unknown): boolean => isAccepted(withLeaf(sample, path, leaf));
  const leaf = leafAt(sample, path);
  if (typeof leaf === 'number') return NUMBERS.find(accepts) ?? leaf;
  return typeof leaf === 'string' ? (texts.find(accepts) ?? URLS.find(accepts) ?? leaf) : leaf;
};

const othersOf = (sample: object, path: Path): readonly unknown[] => {
  const accepts = (leaf: unknown): boolean => isAccepted(withLeaf(sample, path, leaf));
  const leaf = leafAt(sample, path);
  if (typeof leaf === 'number') return [NUMBERS.findLast(accepts) ?? leaf];
  return typeof leaf === 'string' ? DATES.filter(accepts) : [];
};

/** Fields that identify things keep their values, so that events refer to each other. */
const IDENTIFYING_FIELDS = new Set([
  'type',
  'scan_id',
  'chunk',
  'chunks',
  'page',
  'pages',
  'complete',
  'linked',
]);

const extreme = (sample: object): readonly object[] => {
  const paths = leavesOf(sample).filter((path) => !IDENTIFYING_FIELDS.has(String(path[0])));
  const largest = TEXTS.map((texts) => paths.map((path) => [path, largestOf(sample, path, texts)] as const));
  const single = paths.flatMap((path, at) =>
    [largest[0]?.[at]?.[1], ...othersOf(sample, path)].map((leaf) => withLeaf(sample, path, leaf) as object),
  );
  // Fields can limit each other. Then the largest value is looked for again, which is too slow to do for each field.
  const all = largest.map((leaves, at) =>
    leaves.reduce<object>((one, [path, leaf]) => {
      const next = withLeaf(one, path, leaf) as object;
      if (isAccepted(next)) return next;
      const limited = withLeaf(one, path, largestOf(one, path, TEXTS[at] ?? [])) as object;
      return isAccepted(limited) ? limited : one;
    }, sample),
  );
  return [...single, ...all, sample];
};

let resources: AsyncDisposableStack;
beforeAll(() => {
  resources = new AsyncDisposableStack();
});
afterAll(() => resources.disposeAsync());

it('projects every accepted observation without parking an event', async () => {
  const own = await createTestDatabase();
  resources.defer(() => own.drop());
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  const servers = { databaseUrl: own.url, eventStoreUrl: store.url };
  const intake = resources.use(await openIntake(servers));
  const faults: string[] = [];
  let accepted = 0;
  const submitPart = async (part: object, of: number, number: number): Promise<void> => {
    await intake.submit(renumbered(part, of, number)).then(
      () => (accepted += 1),
      (error: Error) => faults.push(`${(part as { type: string }).type}: ${error.message}`),
    );
  };
  for (const { said } of SAMPLES) expect(Observation.safeParse(said).error?.issues).toBeUndefined();
  // Made before the first is submitted: it takes seconds, in which waits for connections would run out.
  const extremes = SAMPLES.map(({ said }) => extreme(said));
  await Promise.all(
    SAMPLES.map(async (sample, of) => {
      for (const [number, said] of (extremes[of] ?? []).entries()) {
        for (const part of [sample.before, said, sample.after]) if (part) await submitPart(part, of, number);
      }
    }),
  );
  expect(faults).toEqual([]);
  expect(accepted).toBeGreaterThan(200);

  const database = openPool(own.url, 2);
  resources.defer(() => database.end());
  const eventStore = resources.use(openEventStore(store.url));
  const stopping = new AbortController();
  const running = runProjections({ ...servers, projections, log: silentLog(), signal: stopping.signal });
  resources.defer(async () => {
    stopping.abort();
    await running;
  });
  await untilPassed(database, await eventStore.head());
  const { rows } = await database.query(
    'select projection, type, left(error, 300) as error from projector.parked where error is not null',
  );
  expect(rows).toEqual([]);
});

const renumbered = (observation: object, of: number, number: number): object =>
  'scan_id' in observation
    ? {
        ...observation,
        scan_id: `00000000-0000-4000-8000-${String(of * 1_000_000 + number).padStart(12, '0')}`,
      }
    : observation;
