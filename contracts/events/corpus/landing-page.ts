import type { PageType } from '#contracts/values/links/landing-pages.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `landingPage-<landingPageId>`: visits and classifications of one page. */
export const LANDING_PAGE = 'landingPage';
export const landingPageStream = (landingPageId: string): string => `${LANDING_PAGE}-${landingPageId}`;

/** `null`: never observed. */
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

export type LandingPageScraped = Event<
  'LandingPageScraped',
  PageSighting & {
    readonly changes: Partial<ScrapedPage>;
    /** Fields that are stated unchanged at a later time. Absent: none. */
    readonly confirmed?: readonly (keyof ScrapedPage)[];
  }
>;

/** The newest classification holds. */
export type LandingPageClassified = Event<
  'LandingPageClassified',
  PageSighting & { readonly page_type: PageType; readonly confidence: number }
>;

export type LandingPageEvent = LandingPageScraped | LandingPageClassified;

export const landingPageVersions: EventVersions<LandingPageEvent> = {
  LandingPageScraped: [],
  LandingPageClassified: [],
};
