import { test } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/** `npm run attack` prints the figure of each attack. */

const { ATTACK_FACTOR } = readSettings(
  z.object({ ATTACK_FACTOR: z.coerce.number().int().min(1).default(1) }),
);

/** Number of tries: ATTACK_FACTOR times as many in `npm run attack`. */
export const tries = (count: number): number => count * ATTACK_FACTOR;

export const isLong = ATTACK_FACTOR > 1;

/** `run` throws when the attack succeeds, and otherwise returns its figure. */
export const attack = (title: string, run: () => string | Promise<string>): void => {
  // oxlint-disable-next-line vitest/valid-title
  test(title, async ({ task }) => {
    task.meta.figure = await run();
  });
};
