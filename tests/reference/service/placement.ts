import { brandProfile } from '#tests/dsl/site-events.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { ad } from '#tests/dsl/scans.ts';
import type { Scan, ShownAd, World, WorldObservation } from '../world.ts';

/** Own ids let many worlds share a stack. They keep the order of brands and scans, because it breaks ties. */
export type Placement = {
  readonly brandIdOf: (domain: string) => string;
  readonly domainOf: (brandId: string) => string;
  /** Takes the names of a category from the top level down. Each world has a top level of its own. */
  readonly categoryIdOf: (names: readonly string[]) => string;
  readonly adIdOf: (ad: string) => string;
  readonly adOf: (adId: string) => string;
  readonly pageOf: (pageId: string) => string;
  /** Shortens a destination to host and path, as worlds write it. */
  readonly linkOf: (url: string) => string;
  /** Messages are in the order in which a collector submits them. */
  readonly messagesOf: (observation: WorldObservation) => readonly Observation[];
};

const numberIn = (name: string): number => Number(name.replace(/^\D+/, ''));

/** `number`: unique in the stack, below a thousand million. */
export const place = (world: World, number: number): Placement => {
  const domains = world.brands.map((_, index) => `w${number}-${index}.example`);
  const ordered = domains.toSorted((a, b) => (brandIdOf(a) < brandIdOf(b) ? -1 : 1));
  const placed = new Map(world.brands.map((brand, index) => [brand, ordered[index] ?? '']));
  const domainIn = (brand: string): string => placed.get(brand) ?? brand;
  const idOf = (kind: number, name: string): string =>
    `${kind}${String(number).padStart(9, '0')}${String(numberIn(name)).padStart(2, '0')}`;
  const pageIdOf = (page: string): string => idOf(1, page);
  const adIdOf = (name: string): string => idOf(2, name);
  const categoryIn = ([top = '', ...below]: readonly string[]): string[] => [`${top} ${number}`, ...below];
  const replaceHost = (link: string, pairs: Iterable<readonly [string, string]>): string =>
    [...pairs].reduce((text, [from, to]) => text.replace(from, to), link);
  const urlOf = (link: string): string => `https://${replaceHost(link, placed)}`;

  const observedAd = (shown: ShownAd) => ({
    ...ad(adIdOf(shown.ad), {
      page_id: shown.page === null ? null : pageIdOf(shown.page),
      page_name: null,
      is_active: shown.isActive,
      started_on: shown.startedOn,
      stopped_on: shown.stoppedOn,
      body: shown.body,
      title: shown.title,
      caption: shown.caption,
      link_url: shown.link === null ? null : urlOf(shown.link),
    }),
    ...(shown.countries ? { countries: [...shown.countries] } : {}),
  });
  const messagesOfScan = (scan: Scan): Observation[] => {
    const key = {
      scan_id: `${String(numberIn(scan.id)).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`,
      brand_domain: domainIn(scan.brand),
      scanned_at: scan.at,
    };
    const ads = scan.ads.map(observedAd);
    const chunk = { type: 'ad_library.scan' as const, ...key, chunk: 0, ads };
    const end = {
      type: 'ad_library.scan_end' as const,
      ...key,
      chunks: ads.length > 0 ? 1 : 0,
      coverage: {
        pages: scan.pages.map((page) => ({ page_id: pageIdOf(page), page_name: null })),
        countries: [...scan.countries],
        complete: scan.complete,
        collector: scan.collector,
      },
    };
    return ads.length > 0 ? [chunk, end] : [end];
  };
  const messagesOf = (observation: WorldObservation): readonly Observation[] => {
    switch (observation.kind) {
      case 'scan':
        return messagesOfScan(observation);
      case 'link':
        return [
          {
            type: 'social_page.link',
            brand_domain: domainIn(observation.brand),
            page_id: pageIdOf(observation.page),
            page_name: null,
            observed_at: observation.at,
            role: 'OFFICIAL',
            confidence: observation.confidence,
            linked: observation.linked,
          },
        ];
      case 'profile':
        return [
          brandProfile({
            domain: domainIn(observation.brand),
            observed_at: observation.at,
            name: observation.brand,
            category_path: categoryIn(observation.category),
          }),
        ];
    }
  };

  const brandById = new Map(world.brands.map((brand) => [brandIdOf(domainIn(brand)), brand]));
  return {
    brandIdOf: (domain) => brandIdOf(domainIn(domain)),
    domainOf: (brandId) => brandById.get(brandId) ?? brandId,
    categoryIdOf: (names) => categoryIdOf(categoryIn(names)),
    adIdOf,
    adOf: (adId) => `a${Number(adId.slice(-2))}`,
    pageOf: (pageId) => `P${Number(pageId.slice(-2))}`,
    linkOf: (url) =>
      replaceHost(
        url.replace('https://', ''),
        [...placed].map(([from, to]) => [to, from]),
      ),
    messagesOf,
  };
};
