import { expect, test } from 'vitest';
import { LARGE_OBSERVATION_BYTES } from '#contracts/messages/subjects.ts';
import { createSlots, largeSlotsOf } from '#services/ingest/queue/slots.ts';

const LARGE_MS = 50;
const LARGE = { bytes: LARGE_OBSERVATION_BYTES + 1, brand: 'large.example' };

/** Runs large observations for 20 s of simulated time, each `LARGE_MS` long. Returns how many ended in the last 10 s. */
const runFor20s = async (smallBrand: string | null): Promise<number> => {
  const time = { ms: 0 };
  let small = Promise.resolve();
  const slots = createSlots(1, new AbortController().signal, {
    now: () => time.ms,
    pause: async (waited) => {
      time.ms += waited;
    },
  });
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
  // No small one has arrived when the large ones begin.
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
