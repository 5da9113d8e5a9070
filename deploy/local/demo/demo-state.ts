import { z } from 'zod';
import { HOUR_MS } from '#contracts/values/time.ts';
import { readJsonFile, writeJsonFile } from '../os/json-file.ts';
import type { CorpusSize } from './world/world.ts';

/** Includes one more scan of the last evening, because that day's scan of a brand may have been incomplete. */
const OVERLAP_MS = 5 * HOUR_MS;

/** Stored in the data folder. Size and first day keep the values of the first load. */
export const DemoState = z.object({
  seed: z.int(),
  brands: z.int(),
  ads: z.int(),
  days: z.int(),
  until: z.iso.date(),
  /** Day after the last one of the corpus; `null` during the first load. */
  fed_until: z.iso.date().nullable(),
  /** Observations of the corpus recorded so far. */
  taken: z.int(),
  /** Missing until a part of the world after the corpus is published. */
  fed_to: z.iso.datetime().optional(),
  /** First scan with a pulse. Missing while the demo stood still. */
  pulse_from: z.iso.datetime().optional(),
  /** Additional launches whose ads may still be listed. */
  openings: z.array(z.iso.datetime()).optional(),
  /** True when a media server plays the files. Missing in demos loaded before it existed. */
  pictures: z.boolean().optional(),
});
export type DemoState = z.infer<typeof DemoState>;

export const readDemoState = (file: string): Promise<DemoState | null> => readJsonFile(file, DemoState);

export const writeDemoState = (file: string, state: DemoState): Promise<void> => writeJsonFile(file, state);

export const sizeOf = ({ seed, brands, ads, days }: CorpusSize): CorpusSize => ({ seed, brands, ads, days });

/** With `isLiving`, a pulse goes on from the returned time. */
export const fedToMs = ({ fed_to, fed_until, until }: DemoState, isLiving: boolean): number =>
  fed_to === undefined ? Date.parse(fed_until ?? until) - (isLiving ? OVERLAP_MS : 0) : Date.parse(fed_to);
