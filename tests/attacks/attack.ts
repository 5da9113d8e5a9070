import { test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/** An attack is a test that returns its figure. `npm run attack` prints one line for each. */

const { ATTACK_FACTOR } = readSettings(
  z.object({ ATTACK_FACTOR: z.coerce.number().int().min(1).default(1) }),
);

/** Returns a number of tries: `count` in `npm test`, and ATTACK_FACTOR times as many in `npm run attack`. */
export const tries = (count: number): number => count * ATTACK_FACTOR;

/** True in `npm run attack`, for attacks that take long. */
export const isLong = ATTACK_FACTOR > 1;

/** Defines an attack. `run` throws when the attack succeeds, and otherwise returns what was tried, with its figure. */
export const attack = (title: string, run: () => string | Promise<string>): void => {
  // oxlint-disable-next-line vitest/valid-title
  test(title, async ({ task }) => {
    task.meta.figure = await run();
  });
};
