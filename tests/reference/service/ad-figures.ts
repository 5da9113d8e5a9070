import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { findAd } from '#projections/ads/read.ts';
import type { AdFigures } from '../world.ts';
import type { Standings } from './ad-standings.ts';
import type { Placement } from './placement.ts';
import { instant, parsed, text } from './reply-values.ts';

/** The log holds figures of ads that no read model shows. */
export type FigureSources = { readonly db: ReadDatabase; readonly standings: Standings };

type AdDocument = {
  readonly brand_id: string;
  readonly status: AdFigures['status'];
  readonly page: { readonly page_id: string } | null;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  readonly started_on: string | null;
  readonly stopped_on: string | null;
  readonly days_active: number | null;
  readonly countries: readonly string[];
  readonly body: string | null;
  readonly title: string | null;
  readonly caption: string | null;
  readonly destination_url: string | null;
};

export const readAd = async (
  { db, standings }: FigureSources,
  ad: string,
  placement: Placement,
): Promise<AdFigures | null> => {
  const found = await findAd(db, placement.adIdOf(ad));
  if (!found) return null;
  const document = parsed(found.json) as AdDocument;
  const standing = standings.of(placement.adIdOf(ad));
  const { status, started_on, stopped_on, days_active, body, title, caption, destination_url } = document;
  return {
    brand: placement.domainOf(document.brand_id),
    status,
    page: document.page && placement.pageOf(document.page.page_id),
    first_seen: instant(document.first_seen_at),
    last_seen: instant(document.last_seen_at),
    novelty: standing?.novelty ?? null,
    inactive_since: standing?.inactive_since ? instant(standing.inactive_since) : null,
    started_on,
    stopped_on,
    days_active,
    countries: document.countries.toSorted(),
    body: text(body),
    title: text(title),
    caption: text(caption),
    link: destination_url === null ? null : placement.linkOf(destination_url),
  };
};
