import { domainToUnicode } from 'node:url';
import { deburr } from 'es-toolkit/string/deburr';
import { getDomainWithoutSuffix } from 'tldts';
import type { BrandSlugReserved } from '#contracts/events/corpus/brand-slug.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import type { Decider } from '../decider.ts';
import { brandIdOf } from '../ids.ts';

/** The id of the brand that has the slug. */
export type BrandSlugState = string | null;

export const brandSlug: Decider<BrandSlugState, BrandSlugReserved> = {
  initial: null,
  evolve: (_, { data }) => data.brand_id,
};

/** The first brand keeps the slug, also when it is never registered. */
export const reserveBrandSlug =
  (slug: string, domain: string, observedAt: string) =>
  (state: BrandSlugState): BrandSlugReserved[] =>
    state === null
      ? [
          {
            type: 'BrandSlugReserved',
            data: { slug, brand_id: brandIdOf(domain), domain, observed_at: observedAt },
          },
        ]
      : [];

/** Words that follow `/v1/brands/` in the API, or may later. */
const PATH_WORDS: readonly string[] = ['bulk', 'freshness', 'lookup', 'search', 'sitemap'];

const TYPED = /^[a-z0-9]+(?:-+[a-z0-9]+)*$/;

/** `xn--bcher-kva` becomes `bucher`. Labels in another alphabet stay as they are. */
const typedLabel = (label: string): string => {
  const typed = label.startsWith('xn--') ? deburr(domainToUnicode(label)).toLowerCase() : label;
  return TYPED.test(typed) ? typed : label;
};

/**
 * Slugs for the brand of a domain, best first: `quill-basics`, `quill-basics-co-uk`, and the latter with the brand's id,
 * which ends the list because no other brand asks for it.
 */
export const brandSlugsOf = (domain: string): readonly string[] => {
  const labels = domain.split('.').map(typedLabel);
  const [first = domain] = labels;
  const name = getDomainWithoutSuffix(domain, { allowPrivateDomains: true });
  const whole = labels.join('-');
  return [name ? typedLabel(name) : first, whole, `${whole}-${brandIdOf(domain)}`].filter(
    (slug) => !PATH_WORDS.includes(slug) && !Uuid.safeParse(slug).success,
  );
};

/** Slugs were the whole domain once, with `.` written `-` and `-` written `--`. */
export const domainOfOldSlug = (slug: string): string =>
  slug.replaceAll(/--?/g, (hyphens) => (hyphens === '-' ? '.' : '-'));
