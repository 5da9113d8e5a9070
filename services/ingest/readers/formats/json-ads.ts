import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { LibraryId } from '#contracts/values/primitives.ts';
import { isObject, type JsonObject, objectAt } from '#domain/shapes/json-object.ts';
import { type Claim, Completeness, countryIn } from '../completeness.ts';
import { countriesOf, textOf } from '../fields/ad-fields.ts';
import { idOf, idText } from '../fields/ad-ids.ts';
import { brokenJson, notAnAd } from '../parsing/json-faults.ts';
import { ANY_MEMBER, type JsonEntry, jsonRecords, type RecordPlaces } from '../parsing/json-records.ts';
import {
  type AdRecord,
  type CoveredPage,
  NO_HINTS,
  type PageRecord,
  type Reader,
  RecordFault,
  recordOrRefusal,
} from '../record.ts';
import { ownScanTime } from '../scan-key.ts';
import { isWebAd, placesOf, withKey } from '../shapes/record-format.ts';
import { archiveAd, archiveId } from './ads-archive-ad.ts';
import { webAd, webAdId, websiteNames } from './web-ad.ts';

/** A record, or an envelope that may be an ad. */
export type JsonAd = JsonEntry & { readonly kind: 'record' | 'envelope' };

/** Claim of a row or an envelope about a part of the file. `part`: `null` when it is unknown. */
type Said = {
  readonly part: string | null;
  readonly claim?: Claim | false;
  /** Covered page, which may have no ads. */
  readonly page?: () => CoveredPage;
};

export type AdFormat = {
  readonly isAd: (item: JsonAd) => boolean;
  readonly adId: (value: JsonObject) => string | null;
  readonly read: (item: JsonAd, format: string, country: unknown) => AdRecord;
  /** Country of the search. Absent when the format does not name it. */
  readonly countryOf?: (row: JsonObject) => unknown;
  /** `row`: the ad with the members around it. */
  readonly row: (row: JsonObject, ad: ObservedAd) => Said & { readonly part: string };
  /** `null` when it is a record of another shape. */
  readonly envelope: (item: JsonAd) => Said | null;
};

const WEB = { isAd: ({ value }: JsonAd) => isWebAd(value), adId: webAdId, read: webAd };

const AD_FORMATS = {
  /** Pages, parts of them or flat lists of ads. */
  'web-graphql': {
    ...WEB,
    row: () => ({ part: '' }),
    envelope: ({ kind, value }) => {
      const info = value['page_info'];
      if (kind === 'record') return isObject(info) ? { part: '' } : null;
      const isClaim = isObject(info) && typeof info['has_next_page'] === 'boolean';
      return { part: '', claim: isClaim && { by: 'has_next_page', complete: true } };
    },
  },
  /** Groups of ads. Only a response about one page can be complete: a word search is not read to its end. */
  'web-2024': {
    ...WEB,
    countryOf: (row) => row['country_code'] ?? row['countryCode'],
    row: (_, { page_id }) => ({ part: page_id ?? '' }),
    envelope: ({ kind, value }) => {
      if (kind === 'record') return null;
      const isComplete = value['is_result_complete'] ?? value['isResultComplete'];
      const part = searchedPage(value);
      const claim = { by: 'is_result_complete', complete: isComplete === true && part !== null };
      return {
        part,
        claim: typeof isComplete === 'boolean' && claim,
        ...(claim.complete && part !== null && { page: () => ({ page_id: part, page_name: null }) }),
      };
    },
  },
  /** Rows of scraping actors. */
  'actor-camel-case': {
    ...WEB,
    countryOf: ({ inputUrl }) => countryIn(inputUrl),
    row: (row) => {
      const { totalCount: total } = row;
      const claim = typeof total === 'number' && { by: 'totalCount', complete: true, total };
      return { part: partOfActor(row), claim };
    },
    envelope: ({ kind, value }) => {
      if (!('isResultComplete' in value)) return kind === 'envelope' ? { part: null } : null;
      const claim = { by: 'isResultComplete', complete: value['isResultComplete'] === true };
      return { part: partOfActor(value), claim, page: () => listedPage(websiteNames(value)) };
    },
  },
  /** Result pages or lists of the official API. */
  'ads-archive-json': {
    isAd: ({ kind, value }) => kind === 'record' && archiveId(value) !== null,
    adId: archiveId,
    read: ({ line, raw, number, value }, format) => archiveAd(value, format, { line, raw }, number),
    row: () => ({ part: '' }),
    envelope: ({ kind, value }) =>
      kind === 'record'
        ? null
        : { part: '', claim: isObject(value['paging']) && { by: 'paging', complete: true } },
  },
} as const satisfies { readonly [format: string]: AdFormat };

export const readJsonAds = (name: keyof typeof AD_FORMATS): Reader =>
  jsonAdReader(name, AD_FORMATS[name], placesOf(name));

export const jsonAdReader = (name: string, format: AdFormat, places: RecordPlaces): Reader =>
  async function* (source) {
    const completeness = new Completeness({ readsCountry: format.countryOf !== undefined });
    for await (const found of jsonRecords(source, places)) {
      if (found.kind === 'broken') {
        yield brokenJson(found);
        continue;
      }
      const key = found.path.endsWith(ANY_MEMBER) ? found.context[ANY_MEMBER] : null;
      const item = { ...found, value: withKey(found.value, key) };
      const { line, raw, value } = item;
      const row = item.kind === 'record' ? { ...item.context, ...value } : value;
      const country = format.countryOf?.(row);
      if (format.isAd(item)) {
        const at = { line, raw, adId: format.adId(value) };
        const record = recordOrRefusal(at, () => format.read(item, name, country));
        if (record.kind === 'ad') {
          const { part, claim } = format.row(row, record.ad);
          completeness.ad(part, record.ad, value);
          completeness.address('inputUrl', row['inputUrl']);
          if (claim) completeness.claim(part, claim);
        }
        yield record;
        continue;
      }
      const said = format.envelope(item);
      if (said === null) {
        yield notAnAd(item, name);
        continue;
      }
      completeness.envelope(said.part, item);
      if (said.claim) completeness.claim(said.part ?? '', said.claim);
      const { page } = said;
      if (page === undefined) continue;
      yield recordOrRefusal({ line, raw, adId: null }, (): PageRecord => {
        const scannedAt = ownScanTime(websiteNames(value));
        const hints = { ...NO_HINTS, scannedAt, countries: countriesOf(country) };
        return { kind: 'page', line, page: page(), hints };
      });
    }
    yield completeness.verdict();
  };

const searchedPage = (envelope: JsonObject): string | null =>
  LibraryId.safeParse(idText(envelope['page_id'] ?? envelope['pageID'])).data ?? null;

const partOfActor = (value: JsonObject): string =>
  idText(value['inputUrl']) ?? idText(value['pageID']) ?? idText(value['pageId']) ?? '';

const listedPage = (value: JsonObject): CoveredPage => {
  const info = objectAt(value, 'page_info');
  const page = objectAt(objectAt(info, 'ad_library_page_info'), 'page_info');
  const id = idOf('the page id', page['page_id'] ?? objectAt(info, 'page')['id']);
  if (id === null) throw new RecordFault('is a row without ads and without a page id', 'remove the record');
  return { page_id: id, page_name: textOf(page['page_name']) };
};
