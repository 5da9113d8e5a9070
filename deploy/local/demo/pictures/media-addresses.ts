import { DAY_MS, SECOND_MS } from '#contracts/values/time.ts';
import type { World } from '../world/world.ts';

/** Host and origin of media in the played library. */
export const MEDIA_HOST = 'media.library.example';
export const MEDIA_ORIGIN = `https://${MEDIA_HOST}`;
/** Addresses last this long, so that a weekly scanned brand has pictures too. */
const VALID_DAYS = 8;

export type Concept = { readonly page: number; readonly concept: number; readonly brand: number };

export const undatedAddress = (
  world: World,
  { page, concept, brand }: Concept,
  extension: 'jpg' | 'mp4',
): string => `${MEDIA_ORIGIN}/${world.seed}/${page}-${concept}-${brand}.${extension}`;

/** Adds the end as the library does: seconds since 1970 in hex. */
export const datedAddress = (address: string | null, dayMs: number): string | null =>
  address === null
    ? null
    : `${address}?oh=demo&oe=${((dayMs + VALID_DAYS * DAY_MS) / SECOND_MS).toString(16)}`;
