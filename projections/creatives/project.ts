import type { AdLibraryFact } from '#contracts/events/corpus/ad-library.ts';
import type { BrandFact } from '#contracts/events/corpus/brand.ts';
import { creativeIdOf } from '#contracts/values/creatives.ts';
import type { CreativeFact, CreativeReading } from '#contracts/events/corpus/creative.ts';
import type { RecordedFact } from '#contracts/events/event.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection, type Row } from '../define-projection.ts';
import { move, refreshFile, refreshFilesOfAd, refreshFilesOfBrand } from './statements.ts';

type AdMove = {
  readonly ad_id: string;
  readonly active?: boolean;
  readonly listed_on?: string | null;
  readonly format?: string | null | undefined;
  readonly cta_type?: string | null | undefined;
};

/** `null` and what is left out stay as they were. Files care for the ads alone that run, end or get a date. */
const moved = (fact: RecordedFact<AdLibraryFact>, ad: AdMove): readonly Change[] => {
  const { ad_id, active = null, listed_on = null, format = null, cta_type = null } = ad;
  if (active === null && listed_on === null && format === null && cta_type === null) return [];
  const { brand_id } = fact.data;
  const row: Row = { ad_id, brand_id, position: fact.position, active, listed_on, format, cta_type };
  return [
    { kind: 'run', statement: 'move', row },
    ...(active === null && listed_on === null
      ? []
      : [{ kind: 'refresh', statement: 'refresh_of_ad', row: { ad_id } } as const]),
  ];
};

const ofAd = (fact: RecordedFact<AdLibraryFact>): readonly Change[] => {
  switch (fact.type) {
    case 'AdStarted': {
      const { ad_id, started_on, observed_at, format, content } = fact.data;
      const listed_on = started_on ?? observed_at.slice(0, 10);
      return moved(fact, { ad_id, active: true, listed_on, format, cta_type: content.cta_type });
    }
    case 'AdRevised': {
      const { ad_id, changes } = fact.data;
      return moved(fact, { ad_id, format: changes.format?.to, cta_type: changes.cta_type?.to });
    }
    case 'AdDetailsObserved': {
      const { ad_id, started_on, details } = fact.data;
      return moved(fact, {
        ad_id,
        listed_on: started_on,
        format: details.format,
        cta_type: details.cta_type,
      });
    }
    case 'AdsReworded':
      return fact.data.ads.flatMap(({ ad_id, format, wording }) =>
        moved(fact, { ad_id, format, cta_type: wording.cta_type }),
      );
    case 'AdConfirmedInactive':
      return moved(fact, { ad_id: fact.data.ad_id, active: false });
    case 'AdReturned':
      return moved(fact, { ad_id: fact.data.ad_id, active: true });
    default:
      return [];
  }
};

const carriages = (
  creative_key: string,
  ad_ids: readonly string[],
  first_seen_at: string,
): readonly Change[] =>
  ad_ids.map((ad_id) => ({
    kind: 'insert',
    table: 'carriage',
    row: { creative_key, ad_id, creative_id: creativeIdOf(ad_id, creative_key), first_seen_at },
  }));

const readingColumns = ({ fields, ...reading }: Partial<CreativeReading>): Row => ({ ...reading, ...fields });

const ofFile = (fact: CreativeFact): readonly Change[] => {
  const { creative_key, observed_at } = fact.data;
  const upsert = (set: Row): Change => ({ kind: 'upsert', table: 'file', key: { creative_key }, set });
  const refreshed: Change = { kind: 'refresh', statement: 'refresh_file', row: { creative_key } };
  switch (fact.type) {
    case 'CreativeStored': {
      const { media, ad_ids } = fact.data;
      return [
        upsert({ ...media, stored_at: observed_at, measured_at: observed_at }),
        ...carriages(creative_key, ad_ids, observed_at),
        refreshed,
      ];
    }
    case 'CreativeMeasured':
      return [upsert({ ...fact.data.changes, measured_at: observed_at }), refreshed];
    case 'CreativeCarried':
      return [...carriages(creative_key, fact.data.ad_ids, observed_at), refreshed];
    case 'CreativeAnalysed':
      return [upsert({ ...readingColumns(fact.data.changes), read_at: observed_at }), refreshed];
  }
};

const ofBrand = (fact: BrandFact): readonly Change[] => {
  const { brand_id } = fact.data;
  const { is_public } = fact.type === 'BrandRegistered' ? fact.data : fact.data.changes;
  if (is_public === undefined) return brandReference(fact);
  return [
    ...brandReference(fact),
    { kind: 'upsert', table: 'brand', key: { brand_id }, set: { is_public } },
    { kind: 'refresh', statement: 'refresh_of_brand', row: { brand_id } },
  ];
};

/** Creative files, which ads carry them, and what was read of them. */
export const creatives = projection<CreativeFact | AdLibraryFact | BrandFact>({
  name: 'creatives',
  version: 3,
  prefixes: ['creative-', 'adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    move,
    refresh_file: refreshFile,
    refresh_of_ad: refreshFilesOfAd,
    refresh_of_brand: refreshFilesOfBrand,
  },
  project: (fact): readonly Change[] => {
    switch (fact.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return ofBrand(fact);
      case 'CreativeStored':
      case 'CreativeMeasured':
      case 'CreativeCarried':
      case 'CreativeAnalysed':
        return ofFile(fact);
      default:
        return ofAd(fact);
    }
  },
});
