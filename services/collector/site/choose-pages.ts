import { leadsToImprint } from '#domain/shapes/imprint.ts';
import type { PageSigns } from '#domain/shapes/page-signs.ts';

/** Pages of one site that are read, its home page included. */
export const SITE_PAGES_MAX = 5;

export type PageKind = 'home' | 'imprint' | 'product' | 'collection' | 'about';
export type SitePage = { readonly kind: PageKind; readonly url: string };

type Link = PageSigns['links'][number];

const KINDS: readonly (readonly [PageKind, (path: string, link: Link) => boolean])[] = [
  ['imprint', (_path, link) => leadsToImprint(link)],
  ['product', (path) => /\/(products?|produkte?|produits?|productos?|artikel|item|p)\/[^/]+/i.test(path)],
  [
    'collection',
    (path) => /\/(collections?|product-category|categor(y|ies)|kategorien?|c|shop)\/[^/]+/i.test(path),
  ],
  [
    'about',
    (path) =>
      /\/(about(-us)?|ueber-uns|uber-uns|our-story|a-propos|sobre-nosotros|contact(-us)?|kontakt)\/?$/i.test(
        path,
      ),
  ],
];

/** True for the domain, hosts below it, and its parent host. */
export const isHostOf = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`) || (host.includes('.') && domain.endsWith(`.${host}`));

export const choosePages = (home: URL, links: readonly Link[]): readonly SitePage[] => {
  const own = links.flatMap((link) => {
    const url = URL.parse(link.href, home.href);
    if (url === null || url.protocol !== 'https:' || url.host !== home.host) return [];
    url.hash = '';
    return url.pathname === home.pathname ? [] : [{ link, url }];
  });
  const chosen: SitePage[] = [];
  for (const [kind, fits] of KINDS) {
    const found = own.find(
      ({ link, url }) => fits(url.pathname, link) && chosen.every((page) => page.url !== url.href),
    );
    if (found !== undefined) chosen.push({ kind, url: found.url.href });
  }
  return chosen.slice(0, SITE_PAGES_MAX - 1);
};
