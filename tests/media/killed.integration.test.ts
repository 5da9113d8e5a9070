import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreativeFile } from '#contracts/observations/creative.ts';
import { creative, recordCreativeFile } from '#domain/corpus/creative.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { runArchive } from '#services/media/archive.ts';
import { ROW_LEASE_MS } from '#platform/postgres/lease/row-lease.ts';
import { DyingProcess } from '#tests/collector/dying-process.ts';
import { addressOf, bytes, FILM, type MediaStack, openMediaStack, picture } from './media-stack.ts';

const ADS = 5;
let stack: MediaStack;
beforeAll(async () => {
  stack = await openMediaStack();
});
afterAll(() => stack[Symbol.asyncDispose]());

const eventsOf = (observations: readonly CreativeFile[]): readonly object[] => {
  const states = new Map<string, { state: typeof creative.initial; ads: Set<string> }>();
  for (const observation of observations) {
    const file = states.get(observation.creative_key) ?? { state: creative.initial, ads: new Set<string>() };
    for (const event of recordCreativeFile(observation)(file.state)) {
      file.state = creative.evolve(file.state, event);
      for (const id of 'ad_ids' in event.data ? event.data.ad_ids : []) {
        // No event may name an ad of the file twice.
        expect(file.ads.has(id)).toBe(false);
        file.ads.add(id);
      }
    }
    states.set(observation.creative_key, file);
  }
  return [...states]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { state, ads }]) => [key, state.media, [...ads].toSorted()]);
};

/** Writes nothing after its process is killed. */
const dyingStore = (store: ObjectStore, dying: DyingProcess): ObjectStore => ({
  ...store,
  write: async (key, source) => {
    if (dying.isDead) throw new Error('This process was killed.');
    return store.write(key, source);
  },
});

const want = async (run: number): Promise<void> => {
  const name = (file: string): string => addressOf(`${run}-${file}`);
  const ads = Array.from({ length: ADS }, (_, n) => [
    String(run * 1_000 + 10_001 + n),
    [[name(`${n % 2}.png`)], [name('f.mp4'), 'video', name('p.jpg')]] as const,
  ]);
  await stack.want(Object.fromEntries(ads));
};

const play = async (run: number): Promise<void> => {
  for (const n of [0, 1]) stack.answers.set(`${run}-${n}.png`, bytes(await picture(20 + n)));
  stack.answers.set(`${run}-f.mp4`, bytes(FILM)).set(`${run}-p.jpg`, bytes(await picture(22, 'jpeg')));
};

const archive = async (run: number, dieAt: number | null): Promise<readonly CreativeFile[]> => {
  await stack.database.query('truncate media.wanted, media.object cascade');
  await stack.database.query('update media.usage set bytes = 0');
  const before = (await stack.observations()).length;
  await play(run);
  await want(run);
  if (dieAt !== null) {
    const dying = new DyingProcess(dieAt);
    await runArchive({
      ...stack.options(),
      database: dying.database(stack.database),
      nats: dying.jetstream(stack.nats, new Map()),
      objectStore: dyingStore(stack.objectStore, dying),
      signal: dying.ended.signal,
    }).catch(() => undefined);
    stack.nowMs += ROW_LEASE_MS + 1;
  }
  {
    await using _ = stack.start();
    await stack.settled();
  }
  return (await stack.observations()).slice(before);
};

test('an archive killed at any commit leaves the same events, nothing lost and nothing twice', async () => {
  const normal = (observations: readonly CreativeFile[], run: number): unknown =>
    JSON.parse(
      JSON.stringify(eventsOf(observations)).replaceAll(
        /"(\d{5})"/g,
        (_all, id: string) => `"${Number(id) - run * 1_000}"`,
      ),
    );
  const expected = normal(await archive(0, null), 0);
  expect(expected).toHaveLength(3);
  for (let dieAt = 1; dieAt <= 18; dieAt += 1) {
    expect(normal(await archive(dieAt, dieAt), dieAt), `killed after commit ${dieAt}`).toEqual(expected);
  }
});

test('two archives store each file once', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `two-${n}.png`);
  for (const [n, name] of names.entries()) stack.answers.set(name, bytes(await picture(40 + n)));
  await stack.want({ '90001': names.map((name) => [addressOf(name)] as const) });
  const before = (await stack.observations()).length;
  {
    await using both = new AsyncDisposableStack();
    both.use(stack.start());
    both.use(stack.start());
    await stack.settled();
  }
  expect(stack.requested.filter((path) => path.startsWith('two-')).toSorted()).toEqual(names.toSorted());
  const keys = (await stack.observations()).slice(before).map(({ creative_key }) => creative_key);
  expect([keys.length, new Set(keys).size]).toEqual([12, 12]);
});
