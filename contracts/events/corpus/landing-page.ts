import type { PageType } from '#contracts/values/links/landing-pages.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/**
 * Stream `landingPage-<landingPageId>`: results of visiting and classifying one landing page. Links from ads to the
 * page are in the events of the ad library.
 */
export const LANDING_PAGE = 'landingPage';
export const landingPageStream = (landingPageId: string): string => `${LANDING_PAGE}-${landingPageId}`;

/** All scraped properties of a page. `null`: never observed. */
export type ScrapedPage = {
  readonly http_status: number | null;
  readonly canonical_url: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly headings: readonly string[] | null;
  readonly cta_texts: readonly string[] | null;
};

type PageSighting = {
  readonly landing_page_id: string;
  /** Normalised; the id is derived from it. */
  readonly page_url: string;
  readonly observed_at: string;
};

/** The page was scraped for the first time, with new results, later than before, or earlier than ever. */
export type LandingPageScraped = Event<
  'LandingPageScraped',
  PageSighting & {
    /** Only the changed fields. */
    readonly changes: Partial<ScrapedPage>;
    /** Fields that are stated as they were, later than before. Absent in events of earlier releases. */
    readonly confirmed?: readonly (keyof ScrapedPage)[];
  }
>;

/** The page was classified for the first time, later than before, or earlier than ever. The newest one holds. */
export type LandingPageClassified = Event<
  'LandingPageClassified',
  PageSighting & { readonly page_type: PageType; readonly confidence: number }
>;

export type LandingPageEvent = LandingPageScraped | LandingPageClassified;

/** Schema versions: each type's upcasters, from version 1 on. */
export const landingPageVersions: EventVersions<LandingPageEvent> = {
  LandingPageScraped: [],
  LandingPageClassified: [],
};
