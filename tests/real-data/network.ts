import { brandProfile } from '#tests/dsl/site-events.ts';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { brandIdOf } from '#domain/ids.ts';
import { slugOfBrand } from '#tests/dsl/site-events.ts';
import { folder } from './page-scans.ts';

/** Counts cover ads that run after the last scan, and use no readers or rules of this service. */
const HOUR_MS = 3_600_000;
/** Has no files; a page of the other brands leads to its domain. */
const SECOND_BRAND = 'codeway.co';
const SEARCH = { file: 'web-html-shoyebop/search_results_connection.json.gz', domain: 'perfumes.example' };

type Row = Record<
  | 'ad_library_id'
  | 'facebook_page_id'
  | 'ad_destination_url'
  | 'ad_primary_text'
  | 'ad_end_date'
  | 'target_country',
  string
>;
type Ad = {
  readonly brand: string;
  readonly page: string;
  readonly words: string;
  readonly countries: ReadonlySet<string>;
  state: 'seen' | 'missing' | 'stopped';
  since: number;
};

const gunzipped = (file: string): string => gunzipSync(readFileSync(join(folder, file))).toString('utf8');

/** The older export program wrote these into the copy. */
const NOISE = /^(\d+:\d{2} \/ \d+:\d{2}|Low impression count|Sorry, we're having trouble.*)$/gm;
const wordsOf = (text: string): string =>
  text.includes('{{')
    ? ''
    : (text
        .replaceAll(NOISE, ' ')
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{M}\p{N}]+/gu)
        ?.join(' ') ?? '');

const countFromFiles = (): readonly Ad[] => {
  const { brands } = JSON.parse(readFileSync(join(folder, 'supernova/brands.json'), 'utf8')) as {
    brands: { group: string; domain: string }[];
  };
  const all: Ad[] = [];
  for (const { group, domain } of brands) {
    const ads = new Map<string, Ad>();
    const files = globSync(`supernova/fb-ads-${group}-2*.csv.gz`, { cwd: folder });
    const scans = files.map((file) => {
      const [, date, hours, minutes] = /-(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)/.exec(file) ?? [];
      return { file, at: Date.parse(`${date}T${hours}:${minutes}:00+05:30`) };
    });
    for (const { file, at } of scans.toSorted((a, b) => a.at - b.at)) {
      const rows = parse(gunzipped(file), { columns: true, bom: true }) as Row[];
      const pages = new Set(rows.map((row) => row.facebook_page_id));
      const countries = new Set(rows.map((row) => row.target_country));
      const shown = Map.groupBy(rows, (row) => row.ad_library_id);
      for (const [id, of] of shown) {
        const firstValue = (field: keyof Row): string =>
          of.find((row) => row[field].trim() !== '')?.[field] ?? '';
        const leadsElsewhere = /^https?:\/\/([\w-]+\.)*codeway\.co\//.test(firstValue('ad_destination_url'));
        const existing = ads.get(id);
        ads.set(id, {
          brand: existing?.brand ?? (leadsElsewhere ? SECOND_BRAND : domain),
          page: existing?.page ?? firstValue('facebook_page_id'),
          words: wordsOf(firstValue('ad_primary_text')) || (existing?.words ?? ''),
          countries: countries.union(existing?.countries ?? new Set()),
          state: firstValue('ad_end_date') === '' ? 'seen' : 'stopped',
          since: 0,
        });
      }
      for (const [id, ad] of ads) {
        if (shown.has(id) || ad.state === 'stopped' || ad.page === '' || !pages.has(ad.page)) continue;
        // One country does not prove an ad of others absent.
        if (!countries.has('ALL') && !ad.countries.isSubsetOf(countries)) continue;
        if (ad.state === 'seen') Object.assign(ad, { state: 'missing', since: at });
        else if (at - ad.since >= 20 * HOUR_MS) ad.state = 'stopped';
      }
    }
    all.push(...ads.values());
  }
  return all.filter(({ state }) => state !== 'stopped');
};

/** Descending; equal numbers by key. */
const ranked = <T>(items: readonly T[], key: (item: T) => string): readonly (readonly [string, number])[] =>
  [...Map.groupBy(items, key)]
    .map(([name, of]) => [name, of.length] as const)
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));

/** Imported page scans and search, as the tests of networks use them. */
export type ImportedExports = {
  readonly scratch: string;
  read(path: string): Promise<never>;
  /** Imports more files, projects them, and refuses no record. */
  importMore(files: readonly string[]): Promise<void>;
};

/** Tests of networks on the exports that were imported. They import links of pages late, of a time before the scans. */
export const describeNetworks = (imported: () => ImportedExports): void => {
  describe('networks', () => {
    let live: readonly Ad[];
    let official: ReadonlyMap<string, string>;
    const get = (path: string): Promise<never> => imported().read(path);

    beforeAll(async () => {
      live = countFromFiles();
      const domains = new Set(live.map(({ brand }) => brand));
      domains.delete(SECOND_BRAND);
      official = new Map(
        [...domains].flatMap((domain) => {
          const named = live.filter(({ brand, page }) => brand === domain && page !== '');
          const [largest] = ranked(named, ({ page }) => page);
          return largest ? [[domain, largest[0]]] : [];
        }),
      );
      const observed_at = '2026-05-01T00:00:00Z';
      const observations = [
        brandProfile({ domain: SECOND_BRAND, observed_at, name: SECOND_BRAND }),
        ...[...official].map(([brand_domain, page_id]) => ({
          type: 'social_page.link',
          brand_domain,
          page_id,
          page_name: null,
          observed_at,
          role: 'OFFICIAL',
          confidence: 0.9,
          linked: true,
        })),
      ];
      const known = join(imported().scratch, 'known.jsonl');
      writeFileSync(known, observations.map((one) => JSON.stringify(one)).join('\n'));
      await imported().importMore([known]);
    });

    it('leakage equals the counts from the files, and ads without a page id are counted apart', async () => {
      const unnamed = new Map<string, number>();
      const linked = new Set(official.values());
      for (const domain of new Set(live.map(({ brand }) => brand))) {
        const own = live.filter(({ brand }) => brand === domain);
        const third = own.filter(({ page }) => linked.has(page) && page !== official.get(domain));
        const unlinked = own.filter(({ page }) => page !== '' && !linked.has(page));
        const shown = (await get(`/v1/brands/${slugOfBrand(domain)}/leakage`)) as {
          largest_third_party_pages: { page: { page_id: string }; active_ads: number }[];
        } & Record<string, number>;
        expect([domain, shown]).toMatchObject([
          domain,
          {
            active_ads: own.length,
            third_party_ads: third.length,
            third_party_pages: new Set(third.map(({ page }) => page)).size,
            unlinked_page_ads: unlinked.length,
            unlinked_pages: new Set(unlinked.map(({ page }) => page)).size,
            unnamed_page_ads: own.filter(({ page }) => page === '').length,
          },
        ]);
        expect(
          shown.largest_third_party_pages.map(({ page, active_ads }) => [page.page_id, active_ads]),
        ).toEqual(ranked(third, ({ page }) => page).slice(0, 10));
        unnamed.set(domain, shown['unnamed_page_ads'] ?? 0);
      }
      expect(unnamed.get('wisprflow.ai')).toBeGreaterThan(100);
    });

    it('leakage of a search for words counts all pages in the result as unlinked', async () => {
      type Found = { ad_archive_id: string; page_id: string; is_active: boolean };
      const found = JSON.parse(gunzipped(SEARCH.file)) as {
        edges: { node: { collated_results: Found[] } }[];
      };
      const shown = found.edges.flatMap(({ node }) => node.collated_results).filter((ad) => ad.is_active);
      const pageOf = new Map(shown.map((ad) => [ad.ad_archive_id, ad.page_id]));
      const pages = ranked([...pageOf.values()], (page) => page);
      expect(await get(`/v1/brands/${slugOfBrand(SEARCH.domain)}/leakage`)).toMatchObject({
        active_ads: pageOf.size,
        own_page_ads: 0,
        third_party_ads: 0,
        third_party_pages: 0,
        unlinked_page_ads: pageOf.size,
        unlinked_pages: pages.length,
        largest_third_party_pages: [],
      });
    });

    it('copy reuse equals the counts from the texts in the files', async () => {
      let reused = 0;
      for (const domain of new Set(live.map(({ brand }) => brand))) {
        const outside = ({ page }: Ad): boolean => page !== '' && page !== official.get(domain);
        const texts = [...Map.groupBy(live, ({ words }) => words)]
          .filter(([words]) => words !== '')
          .map(([, of]) => ({
            brand_ads: of.filter((ad) => ad.brand === domain && !outside(ad)).length,
            foreign_ads: of.filter(outside).length,
            foreign_pages: new Set(of.filter(outside).map(({ page }) => page)).size,
          }))
          .filter(({ brand_ads, foreign_ads }) => brand_ads > 0 && foreign_ads > 0)
          .toSorted((a, b) => b.foreign_ads - a.foreign_ads || b.brand_ads - a.brand_ads);
        const shown = (await get(`/v1/brands/${slugOfBrand(domain)}/copy-reuse`)) as {
          brand_ads: number;
          foreign_ads: number;
          foreign_pages: number;
        }[];
        expect([domain, shown.map(({ brand_ads, foreign_ads }) => [foreign_ads, brand_ads])]).toEqual([
          domain,
          texts.slice(0, 12).map(({ brand_ads, foreign_ads }) => [foreign_ads, brand_ads]),
        ]);
        reused += shown.length;
      }
      expect(reused).toBeGreaterThan(0);
    });

    it('hubs are the pages that run ads for two brands', async () => {
      const named = live.filter(({ page }) => page !== '');
      const hubs = [...Map.groupBy(named, ({ page }) => page)]
        .map(([page, of]) => ({ page, roster: ranked(of, ({ brand }) => slugOfBrand(brand)) }))
        .filter(({ roster }) => roster.length > 1);
      expect(hubs).toHaveLength(1);
      const shown = (await get('/v1/hubs?limit=100')) as {
        page: { page_id: string };
        roster: { brand: { slug: string }; active_ads: number }[];
      }[];
      expect(
        shown.map(({ page, roster }) => ({
          page: page.page_id,
          roster: roster.map(({ brand, active_ads }) => [brand.slug, active_ads]),
        })),
      ).toEqual(hubs);
    });

    it('the network links only brands that share a page', async () => {
      const [one = '', other = ''] = ['ailearna.com', SECOND_BRAND].map(brandIdOf).toSorted();
      expect(await get(`/v1/brand-network?brand_id=${slugOfBrand(SECOND_BRAND)}`)).toMatchObject({
        links: [{ brand_ids: [one, other], shared_pages: 1, confidence: 0.5 }],
        brands_with_link: 2,
      });
      expect(await get(`/v1/brand-network?brand_id=${slugOfBrand('duolingo.com')}`)).toMatchObject({
        brands: [{ brand: { slug: 'duolingo' }, linked_brands: 0 }],
        links: [],
      });
    });
  });
};
