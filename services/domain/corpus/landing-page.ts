import type { LandingPageEvent, ScrapedPage } from '#contracts/events/corpus/landing-page.ts';
import { type LandingPageAddress, landingPageOf, type PageType } from '#contracts/values/landing-pages.ts';
import type { LandingPageClassify, LandingPageScrape } from '#contracts/observations/landing-page.ts';

/** What is known of one page, and when each part was last said. */
export type LandingPageState = {
  readonly scraped: Partial<ScrapedPage>;
  readonly scraped_at: string | null;
  readonly classified: { readonly page_type: PageType; readonly confidence: number } | null;
  readonly classified_at: string | null;
};

const initial: LandingPageState = { scraped: {}, scraped_at: null, classified: null, classified_at: null };

export const landingPage = {
  initial,
  evolve: (state: LandingPageState, event: LandingPageEvent): LandingPageState => {
    switch (event.type) {
      case 'LandingPageScraped':
        return {
          ...state,
          scraped: { ...state.scraped, ...event.data.changes },
          scraped_at: event.data.observed_at,
        };
      case 'LandingPageClassified': {
        const { page_type, confidence, observed_at } = event.data;
        return { ...state, classified: { page_type, confidence }, classified_at: observed_at };
      }
    }
  },
};

/** The address that an observation names; its schema has made sure that there is one. */
export const addressOf = (observation: { readonly page_url: string }): LandingPageAddress => {
  const address = landingPageOf(observation.page_url);
  if (!address) throw new Error('an observation without a page has passed its schema');
  return address;
};

const saidBy = ({ type: _type, page_url: _url, observed_at: _at, ...said }: LandingPageScrape) =>
  Object.entries(said).filter(([, value]) => value !== null);

/**
 * Records what a visit found that was not known. A visit that finds nothing new is recorded only when it is the
 * first one; one older than the last recorded changes nothing.
 */
export const recordPageScrape =
  (observation: LandingPageScrape) =>
  (state: LandingPageState): LandingPageEvent[] => {
    const { observed_at } = observation;
    if (state.scraped_at !== null && observed_at < state.scraped_at) return [];
    const known = state.scraped as Readonly<Record<string, unknown>>;
    const changes = Object.fromEntries(
      saidBy(observation).filter(([field, value]) => JSON.stringify(known[field]) !== JSON.stringify(value)),
    );
    if (state.scraped_at !== null && Object.keys(changes).length === 0) return [];
    const { landing_page_id, page_url } = addressOf(observation);
    return [{ type: 'LandingPageScraped', data: { landing_page_id, page_url, observed_at, changes } }];
  };

/** A classification older than the last one changes nothing. */
export const recordPageClassification =
  (observation: LandingPageClassify) =>
  (state: LandingPageState): LandingPageEvent[] => {
    const { observed_at, page_type, confidence } = observation;
    if (state.classified_at !== null && observed_at < state.classified_at) return [];
    const { classified } = state;
    if (classified?.page_type === page_type && classified.confidence === confidence) return [];
    const { landing_page_id, page_url } = addressOf(observation);
    return [
      {
        type: 'LandingPageClassified',
        data: { landing_page_id, page_url, observed_at, page_type, confidence },
      },
    ];
  };
