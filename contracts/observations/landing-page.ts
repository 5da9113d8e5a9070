import { z } from 'zod';
import { landingPageOf, PAGE_TYPES, PAGE_URL_MAX_CHARACTERS } from '../values/links/landing-pages.ts';
import { Timestamp } from '../values/primitives.ts';
import { boundedWebAddress, CUT_MARK, cutList, cutTrimmedText, uncutText } from '../values/text.ts';

/** Longer texts and lists are cut, and end with `CUT_MARK`. */
export const PAGE_TITLE_MAX_CHARACTERS = 1_000;
export const PAGE_DESCRIPTION_MAX_CHARACTERS = 5_000;
export const PAGE_HEADINGS_MAX = 50;
export const PAGE_HEADING_MAX_CHARACTERS = 500;
export const PAGE_CTAS_MAX = 50;
export const PAGE_CTA_MAX_CHARACTERS = 200;

/** Texts within the limits above never reach it. */
const PAGE_LIST_MAX_BYTES = 200_000;

const cutTexts = (maxItems: number, maxLength: number) =>
  z
    .array(cutTrimmedText(maxLength))
    .overwrite((texts) => cutList(texts, { maxItems, maxBytes: PAGE_LIST_MAX_BYTES, mark: CUT_MARK }));

/** Refused when no page can be derived from it, by the same rule as the link of an ad. */
const PageUrl = uncutText()
  .min(1)
  .refine(
    (url) => landingPageOf(url) !== null,
    `the URL of a web page, not a link into an app; at most ${PAGE_URL_MAX_CHARACTERS} characters without tracking parameters`,
  );

/** `null` means "not observed by this visit" and overwrites nothing. An empty list means that there was none. */
export const LandingPageScrape = z.strictObject({
  type: z.literal('landing_page.scrape'),
  /** As requested. Parts that do not distinguish pages are dropped. */
  page_url: PageUrl,
  observed_at: Timestamp,
  http_status: z.int().min(100).max(599).nullable(),
  canonical_url: boundedWebAddress(PAGE_URL_MAX_CHARACTERS).nullable(),
  title: cutTrimmedText(PAGE_TITLE_MAX_CHARACTERS).nullable(),
  description: cutTrimmedText(PAGE_DESCRIPTION_MAX_CHARACTERS).nullable(),
  /** BCP 47, as the page declares it: `en-US`. */
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'a language tag such as en-US')
    .nullable(),
  headings: cutTexts(PAGE_HEADINGS_MAX, PAGE_HEADING_MAX_CHARACTERS).nullable(),
  cta_texts: cutTexts(PAGE_CTAS_MAX, PAGE_CTA_MAX_CHARACTERS).nullable(),
});
export type LandingPageScrape = z.infer<typeof LandingPageScrape>;

export const LandingPageClassify = z.strictObject({
  type: z.literal('landing_page.classify'),
  page_url: PageUrl,
  observed_at: Timestamp,
  page_type: z.enum(PAGE_TYPES),
  confidence: z.number().min(0).max(1),
});
export type LandingPageClassify = z.infer<typeof LandingPageClassify>;
