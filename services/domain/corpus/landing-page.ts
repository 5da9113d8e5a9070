import type { LandingPageEvent, ScrapedPage } from '#contracts/events/corpus/landing-page.ts';
import {
  type LandingPageAddress,
  landingPageOf,
  type PageType,
} from '#contracts/values/links/landing-pages.ts';
import type { LandingPageClassify, LandingPageScrape } from '#contracts/observations/landing-page.ts';
import {
  compareFields,
  earlierOf,
  type FieldTimes,
  isNews,
  withoutBlanks,
  withTimes,
} from './dated-fields.ts';
import type { Decider } from '../decider.ts';

type Classification = { readonly page_type: PageType; readonly confidence: number };

/** `null` before the first classification. */
export type LandingPageState = {
  readonly scraped: Partial<ScrapedPage>;
  readonly times: FieldTimes;
  readonly scraped_at: string | null;
  readonly classified: (Classification & { readonly observed_at: string }) | null;
  readonly first_observed_at: string | null;
};

const initial: LandingPageState = {
  scraped: {},
  times: {},
  scraped_at: null,
  classified: null,
  first_observed_at: null,
};

/** The newer classification, else the one that sorts last. */
const holds = (
  one: Classification & { readonly observed_at: string },
  other: LandingPageState['classified'],
): boolean => {
  if (other === null || one.observed_at !== other.observed_at)
    return other === null || one.observed_at > other.observed_at;
  if (one.page_type !== other.page_type) return one.page_type > other.page_type;
  return one.confidence > other.confidence;
};

const evolve = (state: LandingPageState, event: LandingPageEvent): LandingPageState => {
  switch (event.type) {
    case 'LandingPageScraped': {
      const { observed_at, changes, confirmed } = event.data;
      const { scraped_at } = state;
      return {
        ...state,
        scraped: { ...state.scraped, ...changes },
        times: withTimes(state.times, observed_at, Object.keys(changes), confirmed),
        scraped_at: scraped_at === null || observed_at > scraped_at ? observed_at : scraped_at,
        first_observed_at: earlierOf(state.first_observed_at, observed_at),
      };
    }
    case 'LandingPageClassified': {
      const { page_type, confidence, observed_at } = event.data;
      const classified = { page_type, confidence, observed_at };
      return {
        ...state,
        classified: holds(classified, state.classified) ? classified : state.classified,
        first_observed_at: earlierOf(state.first_observed_at, observed_at),
      };
    }
  }
};

export const landingPage: Decider<LandingPageState, LandingPageEvent> = { initial, evolve };

/** Throws when `page_url` is not a landing page, which the observation's schema rules out. */
export const addressOf = (observation: { readonly page_url: string }): LandingPageAddress => {
  const address = landingPageOf(observation.page_url);
  if (!address)
    throw new Error('the page_url of an observation is not a landing page, although its schema accepted it');
  return address;
};

const statedFields = (scrape: LandingPageScrape): Partial<ScrapedPage> => {
  const { type: _type, page_url: _url, observed_at: _at, ...fields } = scrape;
  return withoutBlanks(fields);
};

/** An older observation shows that the page existed earlier. */
const isFirst = ({ first_observed_at }: LandingPageState, observedAt: string): boolean =>
  earlierOf(first_observed_at, observedAt) !== first_observed_at;

/** The newest scrape that states a field counts. Without changes, only the newest or oldest scrape is recorded. */
export const recordPageScrape =
  (observation: LandingPageScrape) =>
  (state: LandingPageState): LandingPageEvent[] => {
    const { observed_at } = observation;
    const { scraped: values, times, scraped_at } = state;
    const compared = compareFields({ values, times }, statedFields(observation), observed_at);
    const isNewest = scraped_at === null || observed_at > scraped_at;
    if (!isNews(compared) && !isNewest && !isFirst(state, observed_at)) return [];
    const { landing_page_id, page_url } = addressOf(observation);
    return [{ type: 'LandingPageScraped', data: { landing_page_id, page_url, observed_at, ...compared } }];
  };

/** Records the newest type, and the oldest classification as a sighting. */
export const recordPageClassification =
  (observation: LandingPageClassify) =>
  (state: LandingPageState): LandingPageEvent[] => {
    const { observed_at, page_type, confidence } = observation;
    const isHeld = holds({ observed_at, page_type, confidence }, state.classified);
    if (!isHeld && !isFirst(state, observed_at)) return [];
    const { landing_page_id, page_url } = addressOf(observation);
    return [
      {
        type: 'LandingPageClassified',
        data: { landing_page_id, page_url, observed_at, page_type, confidence },
      },
    ];
  };
