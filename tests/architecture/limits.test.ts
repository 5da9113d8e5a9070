import { expect, test } from 'vitest';
import { AT_LIMIT } from '#deploy/limits/at-limit.ts';
import { limitsIn, readLimits } from '#deploy/limits/read-constants.ts';

/** Every wait has an end and every queue a limit, and operators can read which. */

test('every wait and queue in the code is described, and nothing else', async () => {
  const limits = await readLimits();
  expect(limits.length).toBeGreaterThan(100);
  const inCode = limits.map(({ file, name }) => `${file} ${name}`);
  const described = Object.entries(AT_LIMIT).flatMap(([file, names]) =>
    Object.keys(names).map((name) => `${file} ${name}`),
  );
  expect(described.toSorted()).toEqual(inCode.toSorted());
});

test('limits are read with their values, and intervals are none', () => {
  const code = `
export const ANSWER_TIMEOUT_MS = 2 * MINUTE_MS + 1_000;
const WAITING_MAX = 1_000;
const OF_WORKSPACE_WAITING_MAX = WAITING_MAX / 4;
const BUFFER_BYTES_MAX = 2 ** 20;
const IN_FLIGHT_OF: Limits = { one: 1 };
const WAIT_EVERY_MS = 10;
const NAME_MAX = 5;
const OPENED_TIMEOUT_MS = settings.OPENED;
export const RUNNING_PER_WORKSPACE_MAX = Math.min(2, availableParallelism());
const PER_TURN = 2;
const REQUESTS_PER_MINUTE = 60;
  const serialize = createKeyedMutex();
`;
  expect(limitsIn('a.ts', code).map(({ name, value }) => [name, value])).toEqual([
    ['ANSWER_TIMEOUT_MS', 121_000],
    ['WAITING_MAX', 1_000],
    ['OF_WORKSPACE_WAITING_MAX', 250],
    ['BUFFER_BYTES_MAX', 1_048_576],
    ['IN_FLIGHT_OF', '{ one: 1 }'],
    ['RUNNING_PER_WORKSPACE_MAX', '`Math.min(2, availableParallelism())`'],
    ['PER_TURN', 2],
    ['REQUESTS_PER_MINUTE', 60],
    ['serialize', 'one at a time'],
  ]);
});
