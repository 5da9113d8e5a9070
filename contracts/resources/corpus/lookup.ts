import { z } from 'zod';
import { BrandReference } from './brand.ts';

export const LOOKUP_MATCHES_MAX = 20;

export const LookupMatch = z
  .strictObject({
    kind: z.enum(['brand', 'social_page', 'landing_page', 'ad']).meta({ description: 'What was found.' }),
    id: z.string().meta({
      description: 'Uuid of a brand or landing page; id of a social page or an ad in the library, digits.',
    }),
    name: z.string().nullable().meta({ description: 'Name or title; null when none was observed.' }),
    brand: BrandReference.nullable().meta({
      description:
        'The brand itself, the brand of the ad, or the brand that a page belongs to; null when that is not known.',
    }),
    url: z.string().nullable().meta({
      description: 'Address of the record in this API; null for a social page whose brand is not known.',
    }),
    certainty: z.enum(['exact', 'likely']).meta({
      description: '`exact`: the text names it. `likely`: it fits, and others may too.',
    }),
    reason: z.string().meta({ description: 'Why it was found, in a sentence.' }),
  })
  .meta({ id: 'LookupMatch', description: 'Something of the corpus that a text names.' });
export type LookupMatch = z.infer<typeof LookupMatch>;

export const Lookup = z
  .strictObject({
    matches: z.array(LookupMatch).max(LOOKUP_MATCHES_MAX).meta({
      description: 'Exact ones first; otherwise in the order brand, social page, landing page, ad.',
    }),
    advice: z.string().nullable().meta({
      description: 'What would make it known; null when something was found.',
    }),
  })
  .meta({ id: 'Lookup', description: 'What a text from outside means in the corpus.' });
export type Lookup = z.infer<typeof Lookup>;
