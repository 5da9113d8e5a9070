import { z } from 'zod';
import { AdLibraryScanChunk, AdLibraryScanEnd } from './ad-library-scan.ts';
import { BrandProfile } from './brand-profile.ts';
import { SocialPageLink } from './social-page-link.ts';

/** Everything that may be handed in, told apart by `type`. A list that is meant to be read. */
export const Observation = z.discriminatedUnion('type', [
  BrandProfile,
  SocialPageLink,
  AdLibraryScanChunk,
  AdLibraryScanEnd,
]);
export type Observation = z.infer<typeof Observation>;

/** NATS's own default limit of a message; an observation that is longer is split into chunks. */
export const OBSERVATION_MAX_BYTES = 1_000_000;
