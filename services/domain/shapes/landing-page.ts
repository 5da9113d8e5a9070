import { LandingPageClassify, LandingPageScrape } from '#contracts/observations/landing-page.ts';
import type { PageType } from '#contracts/values/links/landing-pages.ts';
import { addressOn, metaAt, type PageSigns } from './page-signs.ts';

/** Certainty by the address alone, headings alone, and both. */
const BY_ADDRESS = 0.5;
const BY_HEADING = 0.4;
const BY_BOTH = 0.6;
/** Headings further down belong to parts of the page. */
const HEADINGS_READ = 3;

type Rule = { readonly type: PageType; readonly path: RegExp; readonly text: RegExp | null };

/** The more specific first. */
const RULES: readonly Rule[] = [
  {
    type: 'checkout',
    path: /\/(checkouts?|cart|basket|warenkorb|kasse)(\/|$)/,
    text: /\b(checkout|your cart|warenkorb)\b/,
  },
  {
    type: 'quiz',
    path: /quiz|\/find-(your|my)-|questionnaire/,
    text: /\b(quiz|find your (perfect )?match)\b/,
  },
  {
    type: 'store_locator',
    path: /store-?(locator|finder)|\/(stockists?|find-a-store|where-to-buy|filialen|haendlersuche)/,
    text: /\b(store (locator|finder)|find a store|stockists|where to buy)\b/,
  },
  { type: 'advertorial', path: /advertorial|\/adv\//, text: /\b(advertorial|sponsored|anzeige)\b/ },
  {
    type: 'listicle',
    path: /\/(top-)?\d{1,2}-(reasons|ways|things|tips|gruende)|listicle/,
    text: /\b\d{1,2} (reasons|ways|things|tips|gründe|signs|mistakes)\b/,
  },
  {
    type: 'subscription',
    path: /\/(subscriptions?|subscribe|abo)(\/|$|-)/,
    text: /\b(subscribe (and|&) save|subscription)\b/,
  },
  { type: 'bundle', path: /bundle|\/(starter-)?(kit|set)s?(\/|$)/, text: /\b(bundles?|starter kit)\b/ },
  {
    type: 'offer',
    path: /\/(offers?|deals?|sale|promo(tions?)?|special|black-friday|cyber-monday|angebote?)(\/|$|-)|-(offer|deal|sale)(\/|$)/,
    text: /\b(\d{1,2} ?% off|save up to|limited time|black friday|buy one get one|rabatt)\b/,
  },
  {
    type: 'lead_form',
    path: /\/(contact|kontakt|demo|book-a-|waitlist|sign-?up|register|free-(guide|sample|trial)|consultation|quote)/,
    text: /\b(contact us|request a (demo|quote)|book a|join the waitlist|get your free)\b/,
  },
  { type: 'article', path: /\/(blogs?|news|articles?|magazin(e)?|journal|guides?|stories)\/./, text: null },
  {
    type: 'product',
    path: /\/(products?|produkte?|produits?|productos?|item|dp|p)\/[^/]+/,
    text: /\b(add to (cart|bag|basket)|in den warenkorb|buy now)\b/,
  },
  {
    type: 'collection',
    path: /\/(collections?|categor(y|ies)|kategorien?|shop|c)(\/|$)/,
    text: /\b(shop all|all products)\b/,
  },
];

const languageOf = ({ language }: PageSigns): string | null =>
  LandingPageScrape.shape.language.safeParse(language).success ? language : null;

export type VisitedPage = {
  readonly pageUrl: string;
  readonly observedAt: string;
  readonly status: number;
  /** After redirects. */
  readonly finalUrl: string;
  /** `null` when the answer was not an HTML page, or an error. */
  readonly signs: PageSigns | null;
};

/** `null` when the address does not name a landing page. The text of an error page is not the page's. */
export const landingPageScrape = ({
  pageUrl,
  observedAt,
  status,
  finalUrl,
  signs,
}: VisitedPage): LandingPageScrape | null => {
  const parsed = LandingPageScrape.safeParse({
    type: 'landing_page.scrape',
    page_url: pageUrl,
    observed_at: observedAt,
    http_status: status,
    canonical_url: (signs === null ? null : addressOn(finalUrl, signs.canonical)) ?? finalUrl,
    title: signs?.title ?? null,
    description: signs === null ? null : metaAt(signs, 'description', 'og:description'),
    language: signs === null ? null : languageOf(signs),
    headings: signs?.headings ?? null,
    cta_texts: signs?.ctaTexts ?? null,
  });
  return parsed.success ? parsed.data : null;
};

/** `null` when no sign shows the type. */
export const landingPageClassify = (visited: VisitedPage): LandingPageClassify | null => {
  const { pageUrl, observedAt, status, finalUrl, signs } = visited;
  if (signs === null || status !== 200) return null;
  const path = new URL(finalUrl).pathname.toLowerCase();
  const heads = [signs.title ?? '', ...signs.headings.slice(0, HEADINGS_READ)];
  const text = [...heads, ...signs.ctaTexts].join('\n').toLowerCase();
  const found = (type: PageType, confidence: number): LandingPageClassify => ({
    type: 'landing_page.classify',
    page_url: pageUrl,
    observed_at: observedAt,
    page_type: type,
    confidence,
  });
  if (path === '/') return found('home', BY_BOTH);
  const byPath = RULES.find((rule) => rule.path.test(path));
  if (byPath !== undefined) {
    return found(byPath.type, byPath.text?.test(text) === true ? BY_BOTH : BY_ADDRESS);
  }
  const byText = RULES.find((rule) => rule.text?.test(text) === true);
  return byText === undefined ? null : found(byText.type, BY_HEADING);
};
