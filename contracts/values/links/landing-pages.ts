import { destinationDomains, destinationKey } from './ad-destination.ts';
import { derivedId } from '../derived-id.ts';
import { textKey } from '../comparison/text-key.ts';

export const PAGE_URL_MAX_CHARACTERS = 2_048;
export const LINK_MAX_CHARACTERS = 8_192;

/** Closed list. An automated classifier chooses one and can be wrong. */
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
  readonly domains: readonly string[];
};

/** The ad network fills these in per ad, so they do not distinguish pages. */
const MACRO = /\{\{|\{[a-z_.]+\}/i;
const HOST = /^([a-z0-9.-]+\.(?:[a-z]{2,}|xn--[a-z0-9-]+))(?::\d+)?(?=\/|$)/;
const WEB = /^(https?:|[a-z0-9.-]+\.[a-z]{2,}(:|\/|\?|#|$))/i;

/** Returns a link, or the fragment of one, without the parameters that the ad network fills in. */
const withoutMacros = (part: string): string => {
  const [address, query] = splitAt(part, '?');
  const parameters = query.split('&').filter((pair) => pair !== '' && !MACRO.test(pair));
  return parameters.length === 0 ? address : `${address}?${parameters.join('&')}`;
};

/** `null` for a link into an app, a text that is not a web link, or a link that is too long. */
export const landingPageOf = (link: string): LandingPageAddress | null => {
  if (link.length > LINK_MAX_CHARACTERS || !WEB.test(textKey(link))) return null;
  const [page, route] = splitAt(destinationKey(link), '#');
  const host = HOST.exec(page.split('?', 1)[0] ?? '')?.[1];
  if (host === undefined) return null;
  const key = `${withoutMacros(page)}${route === '' ? '' : `#${withoutMacros(route)}`}`;
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
