import { destinationDomains, destinationKey } from './ad-destination.ts';
import { derivedId } from './derived-id.ts';

/**
 * What a landing page is called. Observations name it by its address, ads lead to it by their links; both come to
 * the same page by the address without what does not tell pages apart.
 */

/** Longer addresses are of no page that a person could be sent to. */
export const PAGE_URL_MAX_CHARACTERS = 2_048;
/** As long as the link of an ad may be, tracking parameters included. */
const LINK_MAX_CHARACTERS = 8_192;

/** Closed list. What a classifier took the page for; it can be wrong. */
export const PAGE_TYPES = [
  'home',
  'product',
  'collection',
  'bundle',
  'offer',
  'quiz',
  'listicle',
  'advertorial',
  'article',
  'lead_form',
  'subscription',
  'store_locator',
  'checkout',
  'other',
] as const;
export type PageType = (typeof PAGE_TYPES)[number];

export type LandingPageAddress = {
  readonly landing_page_id: string;
  /** Normalised, with `https://`. */
  readonly page_url: string;
  readonly host: string;
  /** Domains that the page may belong to, most specific first; empty where many brands share the host. */
  readonly domains: readonly string[];
};

/** A parameter that the network fills in for each ad tells no pages apart. */
const MACRO = /\{\{|\{[a-z_.]+\}/i;
const HOST = /^[a-z0-9.-]+\.[a-z]{2,}(?=[/?]|$)/;
const WEB = /^(https?:|[a-z0-9.-]+\.[a-z]{2,}(:|\/|\?|#|$))/i;

/** The page behind a link; `null` where it leads into an app, or is no link into the web at all. */
export const landingPageOf = (link: string): LandingPageAddress | null => {
  const text = link.trim();
  if (text.length > LINK_MAX_CHARACTERS || !WEB.test(text)) return null;
  const [place, query] = splitAt(destinationKey(text), '?');
  const host = HOST.exec(place)?.[0];
  if (host === undefined) return null;
  const kept = query.split('&').filter((pair) => pair !== '' && !MACRO.test(pair));
  const key = kept.length === 0 ? place : `${place}?${kept.join('&')}`;
  const page_url = `https://${key}`;
  if (page_url.length > PAGE_URL_MAX_CHARACTERS || !URL.canParse(page_url)) return null;
  return {
    landing_page_id: derivedId('landingPage', key),
    page_url,
    host,
    domains: destinationDomains(page_url),
  };
};

const splitAt = (text: string, mark: string): readonly [string, string] => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};
