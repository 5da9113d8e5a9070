import { expect, test } from 'vitest';
import { LARGE_OBSERVATION_BYTES } from '#contracts/messages/subjects.ts';
import { createSlots, largeSlotsOf } from '#services/ingest/queue/slots.ts';

const LARGE_MS = 50;
const LARGE = { bytes: LARGE_OBSERVATION_BYTES + 1, brand: 'large.example' };

/** Slots in simulated time; `pass` lets it pass. */
const simulate = (concurrency: number) => {
  const time = { ms: 0 };
  const pass = async (ms: number): Promise<void> => {
    time.ms += ms;
  };
  return {
    time,
    pass,
    slots: createSlots(concurrency, new AbortController().signal, { now: () => time.ms, pause: pass }),
  };
};

/** Runs large observations. Returns how many ended in the last 10 s. */
const runFor20s = async (smallBrand: string | null): Promise<number> => {
  const { time, slots } = simulate(1);
  let small = Promise.resolve();
  let count = 0;
  while (time.ms < 20_000) {
    if (smallBrand !== null) small = slots.run({ bytes: 1_000, brand: smallBrand }, async () => undefined);
    await small;
    await slots.run(LARGE, async () => {
      time.ms += LARGE_MS;
    });
    if (time.ms > 10_000) count += 1;
  }
  return count;
};

test('slots give large observations all of the time, and a tenth of it while small ones of other brands arrive', async () => {
  const all = 10_000 / LARGE_MS;
  expect(await runFor20s(null)).toBeGreaterThanOrEqual(all);
  expect(await runFor20s(LARGE.brand)).toBeGreaterThanOrEqual(all);
  const given = await runFor20s('small.example');
  expect(given / all).toBeGreaterThan(0.08);
  expect(given / all).toBeLessThan(0.12);
});

test('slots run no two large observations in a row when small ones of other brands begin to arrive', async () => {
  const { time, pass, slots } = simulate(6);
  const startedAt: number[] = [];
  const runLarge = () =>
    slots.run(LARGE, async () => {
      startedAt.push(time.ms);
      await pass(LARGE_MS);
    });
  // Large observations disturbed none meanwhile.
  await pass(60_000);
  for (let run = 0; run < 20; run += 1) await runLarge();
  startedAt.length = 0;
  for (let run = 0; run < 3; run += 1) {
    await slots.run({ bytes: 10, brand: 'small.example' }, async () => undefined);
    await runLarge();
  }
  const [first = 0, second = 0, third = 0] = startedAt;
  expect(second - first).toBeGreaterThan(4 * LARGE_MS);
  expect(second - first).toBeLessThan(12 * LARGE_MS);
  expect(third - second).toBeGreaterThan(4 * LARGE_MS);
  expect(third - second).toBeLessThan(12 * LARGE_MS);
});

test('slots do not let large observations make up for time in which they disturbed none', async () => {
  const { time, pass, slots } = simulate(6);
  const runLarge = () => slots.run(LARGE, () => pass(20 * LARGE_MS));
  await Promise.all([runLarge(), runLarge(), runLarge()]);
  const since = time.ms;
  await slots.run({ bytes: 10, brand: 'small.example' }, async () => undefined);
  await slots.run(LARGE, async () => expect(time.ms - since).toBeLessThan(2 * LARGE_MS));
});

test('slots run a third as many large observations at once, and small ones in the others', async () => {
  const slots = createSlots(6, new AbortController().signal);
  const gate = Promise.withResolvers<void>();
  let large = 0;
  const waiting = Array.from({ length: 10 }, () =>
    slots.run(LARGE, async () => {
      large += 1;
      await gate.promise;
    }),
  );
  await new Promise(setImmediate);
  expect(large).toBe(largeSlotsOf(6));
  expect(await slots.run({ bytes: 10, brand: 'a' }, async () => 'done')).toBe('done');
  expect(large).toBe(largeSlotsOf(6));
  gate.resolve();
  await Promise.all(waiting);
  expect(large).toBe(10);
});

test('slots run one large observation at a time while small ones of other brands arrive', async () => {
  const slots = createSlots(6, new AbortController().signal);
  let inProgress = 0;
  let most = 0;
  const done = Array.from({ length: 3 }, async () => {
    await slots.run({ bytes: 10, brand: 'small.example' }, async () => undefined);
    await slots.run(LARGE, async () => {
      inProgress += 1;
      most = Math.max(most, inProgress);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inProgress -= 1;
    });
  });
  await Promise.all(done);
  expect(most).toBe(1);
});

test('slots release their places after failures', async () => {
  const slots = createSlots(1, new AbortController().signal);
  const fail = () => Promise.reject(new Error('no'));
  await expect(slots.run(LARGE, fail)).rejects.toThrow('no');
  await expect(slots.run({ bytes: 1, brand: 'a' }, fail)).rejects.toThrow('no');
  expect(await slots.run(LARGE, async () => 1)).toBe(1);
});
