import type { PageType } from '#contracts/values/landing-pages.ts';
import type { Event } from '../event.ts';

/**
 * Stream `landingPage-<landingPageId>`: what visits and classifiers said of one page. That ads lead to it is in
 * the events of the ad library.
 */
export const LANDING_PAGE = 'landingPage';
export const landingPageStream = (landingPageId: string): string => `${LANDING_PAGE}-${landingPageId}`;

/** Everything scraped of a page. `null`: never said. */
export type ScrapedPage = {
  readonly http_status: number | null;
  readonly canonical_url: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly headings: readonly string[] | null;
  readonly cta_texts: readonly string[] | null;
};

type OfPage = {
  readonly landing_page_id: string;
  /** Normalised; the id is derived from it. */
  readonly page_url: string;
  readonly observed_at: string;
};

/** First scraped, or scraped with something new: only the fields that changed. */
export type LandingPageScraped = Event<
  'LandingPageScraped',
  OfPage & { readonly changes: Partial<ScrapedPage> }
>;

/** First classified, or classified otherwise. */
export type LandingPageClassified = Event<
  'LandingPageClassified',
  OfPage & { readonly page_type: PageType; readonly confidence: number }
>;

export type LandingPageEvent = LandingPageScraped | LandingPageClassified;
