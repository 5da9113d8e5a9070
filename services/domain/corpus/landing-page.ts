import type { LandingPageEvent, ScrapedPage } from '#contracts/events/corpus/landing-page.ts';
import { type LandingPageAddress, landingPageOf, type PageType } from '#contracts/values/landing-pages.ts';
import type { LandingPageClassify, LandingPageScrape } from '#contracts/observations/landing-page.ts';
import type { Decider } from '../decider.ts';

/**
 * Aggregate landing page, stream `landingPage-<landingPageId>`: the content and type of one page that ads link to.
 * Parts, in order: state, evolve, decisions (`recordPageScrape`, `recordPageClassification`).
 */

/** The last scrape and the last classification of a page, each with its time. */
export type LandingPageState = {
  readonly scraped: Partial<ScrapedPage>;
  readonly scraped_at: string | null;
  readonly classified: { readonly page_type: PageType; readonly confidence: number } | null;
  readonly classified_at: string | null;
};

const initial: LandingPageState = { scraped: {}, scraped_at: null, classified: null, classified_at: null };

const evolve = (state: LandingPageState, event: LandingPageEvent): LandingPageState => {
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
};

export const landingPage: Decider<LandingPageState, LandingPageEvent> = { initial, evolve };

/**
 * Returns the address of the observed page. Throws when `page_url` is not a landing page, which the observation's
 * schema rules out.
 */
export const addressOf = (observation: { readonly page_url: string }): LandingPageAddress => {
  const address = landingPageOf(observation.page_url);
  if (!address)
    throw new Error('the page_url of an observation is not a landing page, although its schema accepted it');
  return address;
};

/** Returns the fields that a scrape states; blanks are left out. */
const statedEntries = ({ type: _type, page_url: _url, observed_at: _at, ...stated }: LandingPageScrape) =>
  Object.entries(stated).filter(([, value]) => value !== null);

/**
 * Records the fields that differ from earlier scrapes. A scrape without differences is recorded only when it is the
 * first. A scrape older than the last recorded one changes nothing.
 */
export const recordPageScrape =
  (observation: LandingPageScrape) =>
  (state: LandingPageState): LandingPageEvent[] => {
    const { observed_at } = observation;
    if (state.scraped_at !== null && observed_at < state.scraped_at) return [];
    const existing = state.scraped as Readonly<Record<string, unknown>>;
    const changes = Object.fromEntries(
      statedEntries(observation).filter(
        ([field, value]) => JSON.stringify(existing[field]) !== JSON.stringify(value),
      ),
    );
    if (state.scraped_at !== null && Object.keys(changes).length === 0) return [];
    const { landing_page_id, page_url } = addressOf(observation);
    return [{ type: 'LandingPageScraped', data: { landing_page_id, page_url, observed_at, changes } }];
  };

/** Records the type of a page. A classification older than the last one changes nothing. */
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
