import { z } from 'zod';
import { HOUR_MS } from '#contracts/values/time.ts';
import { readJsonFile, writeJsonFile } from '../os/json-file.ts';
import type { CorpusSize } from './world/world.ts';

/**
 * Time before the end of the corpus from which a living demo goes on, in milliseconds. It includes one more scan of the
 * last evening, because that day's scan of a brand may have been incomplete.
 */
const OVERLAP_MS = 5 * HOUR_MS;

/** Progress of publishing the demo, stored in the data folder. Size and first day keep the values of the first load. */
export const DemoState = z.object({
  seed: z.int(),
  brands: z.int(),
  ads: z.int(),
  days: z.int(),
  until: z.iso.date(),
  /** The day after the last one of the corpus; `null` while the corpus is loaded for the first time. */
  fed_until: z.iso.date().nullable(),
  /** Number of observations of the corpus recorded so far, counted from its start. */
  taken: z.int(),
  /** Time up to which the world after the corpus is published. Missing until the first of it is. */
  fed_to: z.iso.datetime().optional(),
  /** Time of the first scan with a pulse. Missing while the demo stood still. */
  pulse_from: z.iso.datetime().optional(),
  /** Times of the additional launches whose ads may still be listed. */
  openings: z.array(z.iso.datetime()).optional(),
  /** Whether a media server plays the files of ads. Missing in demos that were loaded before it existed. */
  pictures: z.boolean().optional(),
});
export type DemoState = z.infer<typeof DemoState>;

export const readDemoState = (file: string): Promise<DemoState | null> => readJsonFile(file, DemoState);

export const writeDemoState = (file: string, state: DemoState): Promise<void> => writeJsonFile(file, state);

export const sizeOf = ({ seed, brands, ads, days }: CorpusSize): CorpusSize => ({ seed, brands, ads, days });

/** Returns the time up to which the world is published, in milliseconds. `isLiving`: whether a pulse goes on from it. */
export const fedToMs = ({ fed_to, fed_until, until }: DemoState, isLiving: boolean): number =>
  fed_to === undefined ? Date.parse(fed_until ?? until) - (isLiving ? OVERLAP_MS : 0) : Date.parse(fed_to);
