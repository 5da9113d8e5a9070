import type { BrandSince } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryScanEnd } from '#contracts/observations/ad-library-scan.ts';
import {
  type KnownBrands,
  type KnownLink,
  NO_SCAN,
  domainsOf,
} from '#domain/corpus/ad-library/attribution.ts';
import { compareScans } from '#domain/corpus/ad-library/timeline.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Knowledge is compared with and without this observation. */
export type Deciding = {
  readonly scan_id: string;
  readonly observed_at: string;
  /** The brand whose domain a scan registers; `null` for other observations. */
  readonly scannedFor: string | null;
  /** A link that is being decided. */
  readonly link?: { readonly page_id: string; readonly brand_id: string };
  /** `before`: when a profile or link had already registered the brand. */
  readonly registration?: { readonly brand_id: string; readonly before: string | null };
};

/** Without the observation, and with it. */
export type KnownBoth = { readonly before: KnownBrands; readonly after: KnownBrands };

type Row =
  | { readonly page_id: string; readonly link: KnownLink; readonly registration: null }
  | {
      readonly page_id: null;
      readonly link: null;
      readonly registration: {
        readonly domain: string;
        readonly brand_id: string;
        /** From something else than a scan, or by the scan that registered it. */
        readonly registered_at: string | null;
        /** The first scan for the brand, without the one being decided. */
        readonly scan_id: string | null;
        readonly scanned_at: string | null;
      };
    };

type Registration = NonNullable<Row['registration']>;

const earliest = (moments: readonly BrandSince[]): BrandSince | undefined =>
  moments.toSorted(compareScans)[0];

/** The event does not say whether a scan caused it; a scan of the same time did. */
const momentOfRegistration = (
  { brand_id, registered_at, scan_id, scanned_at }: Registration,
  { deciding, isWith }: { readonly deciding: Deciding; readonly isWith: boolean },
): BrandSince | undefined => {
  const own =
    deciding.scannedFor === brand_id
      ? [{ scan_id: deciding.scan_id, observed_at: deciding.observed_at, brand_id }]
      : [];
  const scans =
    scan_id === null || scanned_at === null ? own : [...own, { scan_id, observed_at: scanned_at, brand_id }];
  const { registration } = deciding;
  const named = !isWith && registration?.brand_id === brand_id ? registration.before : registered_at;
  const byOther = scans.some(({ observed_at }) => observed_at === named) ? null : named;
  return earliest([
    ...(isWith ? scans : scans.filter((scan) => !own.includes(scan))),
    ...(byOther === null ? [] : [{ scan_id: NO_SCAN, observed_at: byOther, brand_id }]),
  ]);
};

const withoutLink = (
  links: ReadonlyMap<string, readonly KnownLink[]>,
  { link: own, observed_at }: Deciding,
): ReadonlyMap<string, readonly KnownLink[]> =>
  own === undefined
    ? links
    : new Map(links).set(
        own.page_id,
        (links.get(own.page_id) ?? []).filter(
          (link) => link.brand_id !== own.brand_id || link.observed_at !== observed_at,
        ),
      );

export const placesOf = (
  ads: readonly { readonly page_id: string | null; readonly link_url: string | null }[],
): readonly [pageIds: readonly string[], domains: readonly string[]] => [
  [...new Set(ads.flatMap(({ page_id }) => page_id ?? []))],
  [...new Set(ads.flatMap(({ link_url }) => domainsOf(link_url)))],
];

export const knownBrands = async (
  database: Database,
  pageIds: readonly string[],
  domains: readonly string[],
  deciding: Deciding,
): Promise<KnownBoth> => {
  if (pageIds.length === 0 && domains.length === 0) {
    const nothing = { links: new Map(), registrations: new Map() };
    return { before: nothing, after: nothing };
  }
  const { rows } = await database.query<Row>({
    name: 'ingest_known_brands',
    text: `
      select social_page_id as page_id, json_build_object('brand_id', brand_id, 'observed_at', observed_at,
        'linked', linked, 'confidence', coalesce(confidence, 0)) as link, null as registration
      from (select * from ingest.page_link where social_page_id = any($1::text[]) order by observed_at) links
      union all
      select null, null, json_build_object('domain', b.domain, 'brand_id', b.brand_id,
        'registered_at', b.registered_at, 'scan_id', s.scan_id, 'scanned_at', s.observed_at)
      from ingest.brand b left join lateral (
        select scan_id, observed_at from ingest.scan
        where scanned_for = b.brand_id and scan_id <> $3 order by observed_at, scan_id limit 1) s on true
      where b.domain = any($2::text[])`,
    values: [pageIds, domains, deciding.scan_id],
  });
  const links = new Map<string, KnownLink[]>();
  for (const { page_id, link } of rows) {
    if (page_id === null) continue;
    const ofPage = links.get(page_id);
    if (ofPage) ofPage.push(link);
    else links.set(page_id, [link]);
  }
  const registrations = (isWith: boolean): ReadonlyMap<string, BrandSince> =>
    new Map(
      rows.flatMap(({ registration }) => {
        const since = registration && momentOfRegistration(registration, { deciding, isWith });
        return registration && since ? [[registration.domain, since] as const] : [];
      }),
    );
  return {
    before: { links: withoutLink(links, deciding), registrations: registrations(false) },
    after: { links, registrations: registrations(true) },
  };
};

/** Links or registrations that were observed after the scan, and arrived before it. */
export const isMoreKnownAfter = ({ links, registrations }: KnownBrands, scan: Deciding): boolean =>
  [...links.values()].flat().some(({ observed_at }) => observed_at > scan.observed_at) ||
  [...registrations.values()].some((since) => compareScans(since, scan) > 0);

/** A domain that a scan registered. */
export type RegisteredByScan = {
  readonly domain: string;
  readonly observedAt: string;
  /** The scan's ads are attributed with it. */
  readonly exceptScanId: string;
};

/** `null` if another observation was the first to name the brand. `known`: with the scan. */
export const registeredBy = (
  { registrations }: KnownBrands,
  { scan_id, scanned_at, brand_domain }: AdLibraryScanEnd,
): RegisteredByScan | null =>
  registrations.get(brand_domain)?.scan_id === scan_id
    ? { domain: brand_domain, observedAt: scanned_at, exceptScanId: scan_id }
    : null;
