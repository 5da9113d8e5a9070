import {
  adLibraryStream,
  type AdContent,
  type AdDetailsObserved,
  type AdLibraryFact,
  excerptOfBody,
} from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { type OperatorFact, operatorStream } from '#contracts/events/corpus/operator.ts';
import { type SocialPageFact, socialPageStream } from '#contracts/events/corpus/social-page.ts';
import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import type { PageRole } from '#contracts/observations/social-page-link.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { registered } from '#tests/api/corpus.ts';
import type { GivenFact } from '#tests/dsl/projections.ts';

/** Facts about ads on pages, told ad by ad: brands are named by a word, `a` for `a.example`. */

export const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 10)).toISOString();
export const idOf = (brand: string): string => brandIdOf(`${brand}.example`);

export const brand = (name: string, details: Parameters<typeof registered>[2] = {}): GivenFact => ({
  stream: brandStream(idOf(name)),
  fact: registered(`${name}.example`, at(1), { category_path: [], ...details }),
});

export const publish = (name: string, is_public: boolean): GivenFact => ({
  stream: brandStream(idOf(name)),
  fact: {
    type: 'BrandProfileChanged',
    data: { brand_id: idOf(name), observed_at: at(2), changes: { is_public } },
  },
});

export type Said = {
  readonly page?: string | null;
  readonly body?: string | null;
  readonly day?: number;
  readonly partner?: BrandedContent;
};

const ofLibrary = (name: string, fact: AdLibraryFact): GivenFact => ({
  stream: adLibraryStream(idOf(name)),
  fact,
});

const about = (name: string, ad: string, day: number) => ({
  brand_id: idOf(name),
  scan_id: derivedId('scan', `${name} ${day}`),
  observed_at: at(day),
  ad_id: ad,
  format: 'image' as const,
  countries: ['US'],
  started_on: null,
});

const content = (body: string | null): AdContent => ({
  body,
  title: null,
  link_description: null,
  caption: null,
  cta_type: null,
  cta_text: null,
  link_url: null,
  format: 'image',
  platforms: null,
  languages: null,
  media: [],
  cards: [],
  versions: [],
});

export const start = (name: string, ad: string, { page, body, day = 3, partner }: Said = {}): GivenFact =>
  ofLibrary(name, {
    type: 'AdStarted',
    data: {
      ...about(name, ad, day),
      page_id: page ?? null,
      page_name: page ? `Page ${page}` : null,
      novelty: 'news',
      missing_since: null,
      collector: 'tests',
      content: content(body ?? null),
      ...(partner ? { branded_content: partner } : {}),
    },
  });

const excerpt = ({ page, body }: Said) => ({
  page_id: page ?? null,
  page_name: null,
  title: null,
  body: excerptOfBody(body ?? null),
});

export const stop = (name: string, ad: string, said: Said = {}): GivenFact =>
  ofLibrary(name, {
    type: 'AdConfirmedInactive',
    data: {
      ...about(name, ad, said.day ?? 5),
      excerpt: excerpt(said),
      basis: 'absence',
      stopped_on: null,
      last_seen_at: at((said.day ?? 5) - 1),
      news: true,
    },
  });

export const comeBack = (name: string, ad: string, said: Said = {}): GivenFact =>
  ofLibrary(name, {
    type: 'AdReturned',
    data: { ...about(name, ad, said.day ?? 7), excerpt: excerpt(said), inactive_since: at(5) },
  });

export const detail = (name: string, ad: string, { page, body, day = 6, partner }: Said): GivenFact => {
  const data: AdDetailsObserved['data'] = {
    ...about(name, ad, day),
    details: body === undefined ? {} : { body },
    page_id: page ?? null,
    page_name: page ? `Page ${page}` : null,
    was_format: 'image',
    added_countries: [],
    ...(partner ? { branded_content: partner } : {}),
  };
  return ofLibrary(name, { type: 'AdDetailsObserved', data });
};

export const revise = (name: string, ad: string, from: string | null, to: string, day = 6): GivenFact =>
  ofLibrary(name, {
    type: 'AdRevised',
    data: { ...about(name, ad, day), excerpt: excerpt({ body: from }), changes: { body: { from, to } } },
  });

export const reword = (name: string, ad: string, body: string, day = 6): GivenFact =>
  ofLibrary(name, {
    type: 'AdsReworded',
    data: {
      brand_id: idOf(name),
      scan_id: derivedId('scan', `${name} ${day}`),
      observed_at: at(day),
      collector: 'other',
      aspects: ['copy'],
      ads: [{ ad_id: ad, format: 'image', was_format: 'image', countries: ['US'], wording: { body } }],
    },
  });

export const scanned = (name: string, day: number): GivenFact =>
  ofLibrary(name, {
    type: 'ScanRecorded',
    data: {
      brand_id: idOf(name),
      scan_id: derivedId('scan', `${name} ${day}`),
      observed_at: at(day),
      scanned_for: idOf(name),
      collector: 'tests',
      complete: true,
      countries: ['US'],
      pages: [],
      reliable: true,
      late_arrival: false,
      totals: {
        seen: 0,
        active: 0,
        missing: 0,
        total: 0,
        baseline: 0,
        news: 0,
        late: 0,
        stopped: 0,
        returned: 0,
        revised: 0,
        destination_changed: 0,
        reworded: 0,
      },
    },
  });

const ofPage = (page: string, fact: SocialPageFact): GivenFact => ({ stream: socialPageStream(page), fact });

export const link = (name: string, page: string, role: PageRole = 'OFFICIAL', confidence = 1): GivenFact =>
  ofPage(page, {
    type: 'PageLinked',
    data: {
      page_id: page,
      page_name: `Page ${page}`,
      brand_id: idOf(name),
      role,
      confidence,
      observed_at: at(2),
    },
  });

export const unlink = (name: string, page: string): GivenFact =>
  ofPage(page, {
    type: 'PageUnlinked',
    data: { page_id: page, brand_id: idOf(name), observed_at: at(9) },
  });

export const quarantine = (name: string, page: string): GivenFact =>
  ofPage(page, {
    type: 'PageLinkQuarantined',
    data: {
      page_id: page,
      page_name: null,
      brand_id: idOf(name),
      claim: 'OWNER',
      confidence: 0.9,
      observed_at: at(9),
    },
  });

export const describePage = (
  page: string,
  source: string,
  day: number,
  changes: Extract<SocialPageFact, { type: 'PageProfileObserved' }>['data']['changes'],
): GivenFact =>
  ofPage(page, {
    type: 'PageProfileObserved',
    data: { page_id: page, source, observed_at: at(day), changes },
  });

export const ofOperator = (operatorId: string, fact: OperatorFact): GivenFact => ({
  stream: operatorStream(operatorId),
  fact,
});

export const nameOperator = (operatorId: string, name = 'Harbor Holdings', day = 3): GivenFact =>
  ofOperator(operatorId, {
    type: 'OperatorNamed',
    data: { operator_id: operatorId, name, country: 'US', observed_at: at(day) },
  });

type Associated = Extract<OperatorFact, { type: 'OperatorAssociationsChanged' }>['data'];

export const associate = (
  operatorId: string,
  {
    brands = [],
    lost = [],
    ...said
  }: Partial<Associated> & { readonly brands?: readonly string[]; readonly lost?: readonly string[] },
): GivenFact => {
  const domains = (names: readonly string[]) =>
    names.map((name) => ({ domain: `${name}.example`, brand_id: idOf(name) }));
  return ofOperator(operatorId, {
    type: 'OperatorAssociationsChanged',
    data: {
      operator_id: operatorId,
      basis: 'site_imprint',
      observed_at: at(4),
      domains_added: domains(brands),
      domains_removed: domains(lost),
      pages_added: [],
      pages_removed: [],
      ...said,
    },
  });
};

/** The same facts as the log may hold them: each stream in its own order, the streams in any. */
export const orders = (facts: readonly GivenFact[]): readonly (readonly GivenFact[])[] => {
  const streams = Map.groupBy(facts, ({ stream }) => stream);
  const apart = [...streams.values()];
  return [facts, apart.flat(), apart.toReversed().flat()];
};

/** Plain values of the items that reads answer as JSON texts. */
export const parsed = (items: readonly string[]): readonly never[] =>
  items.map((item) => JSON.parse(item.replaceAll('\u0001', '')) as never);
