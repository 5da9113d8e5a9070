import { type ObservedAd, SCAN_PAGES_MAX } from '#contracts/observations/ad-library-scan.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import type { JsonValue } from './parsing/json-records.ts';
import type { VerdictRecord } from './record.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/**
 * Members of an envelope that say something about its list. Except for `status` and `whole`, `false`, 0 and blanks do
 * not.
 */
const SIGNS = {
  more: words(`hasnextpage hasmore hasnext hasmoreresults morepages moreresults moreavailable truncated partial ispartial
    incomplete next nextpage nexturl nextlink nextpageurl nextpagetoken pagetoken nexttoken nextcursor continuation
    continuationtoken`),
  cursor: words('after cursor endcursor forwardcursor scrollid'),
  before:
    words(`previous prev previouspage previousurl previouscursor prevcursor before backwardcursor haspreviouspage
    hasprevious offset skip`),
  error: words('error errors errormessage errordescription errorcode failed timedout'),
  limit: words(
    'limit pagesize perpage resultslimit limitresults maxresults maxitems maxads resultsperpage first',
  ),
  total: words('total totalcount totalresults totalads totalitems totalhits totalrecords numberofads numads'),
  count: words('count adcount adscount resultcount resultscount searchresultscount itemcount itemscount'),
  filter:
    words(`q query querytext querystring search searchterms searchterm searchquery searchtext keyword keywords term
    terms mediatype publisherplatform publisherplatforms contentlanguage contentlanguages languages adtype region
    regions deliverybyregion bylines startdatemin startdatemax addeliverydatemin addeliverydatemax datemin datemax
    datefrom dateto since until startdate enddate daterange country countries countrycode adreachedcountries`),
  status: words('status activestatus adactivestatus adstatus'),
  whole: words('isresultcomplete iscomplete complete completed finished success ok'),
  named: words('searchpageids'),
  page: words('page currentpage pagenumber pageno'),
  pages: words('pages totalpages pagecount numpages'),
} as const;
type Sign = keyof typeof SIGNS;
const SIGN_OF = new Map(
  (Object.keys(SIGNS) as Sign[]).flatMap((sign) => [...SIGNS[sign]].map((name) => [name, sign] as const)),
);

const DESCRIBING =
  words(`paging pagination pageinfo cursors links meta metadata searchmetadata searchparameters searchparams
  searchinformation searchinfo request response query params parameters filter filters variables input summary info`);
const DEPTH_MAX = 4;
const NO_FILTER = words('all any ["all"]');
/** The library's total for "over 50,000". */
const TOTAL_UNKNOWN = 50_001;

const isBlank = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).every(isBlank) : !value || value === '0';
const countOf = (value: unknown): number | null => {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const digits = String(value).replaceAll(/(?<=^\d[\d,.]*)[,.](?=\d{3}(\D|$))/g, '');
  return /^\d{1,9}$/.test(digits) && Number(digits) !== TOTAL_UNKNOWN ? Number(digits) : null;
};
const isDenied = (value: unknown): boolean => value === 0 || /^(false|no)$/i.test(String(value));
const FAILED = /^(error|fail|partial|incomplete|abort|cancel|interrupt|tim(ed?|ing)[-_ ]?out|[45]\d\d$)/i;
const UNFINISHED = /^(running|pending|queued)/i;
const isFilter = (value: unknown): boolean =>
  !isBlank(value) &&
  !NO_FILTER.has((typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase());

const parametersOf = (text: unknown): readonly (readonly [string, string])[] =>
  typeof text === 'string' && /^https?:.*(ads\/library|ads_archive)/.test(text) && URL.canParse(text)
    ? [...new URL(text).searchParams]
    : [];

/** Country to which an address limits its search. */
export const countryIn = (address: unknown): string | null =>
  parametersOf(address).find(([name, value]) => name === 'country' && /^[A-Z]{2}$/.test(value))?.[1] ?? null;

type Found = { readonly sign: Sign; readonly path: string; readonly value: unknown };

function* signsIn(object: JsonObject, at: string, depth: number): Generator<Found> {
  // The cursor of an edge leads to that edge.
  if ('node' in object || depth > DEPTH_MAX) return;
  for (const [name, value] of Object.entries(object)) {
    const path = `${at}${name}`;
    const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '');
    const sign = SIGN_OF.get(plain);
    if (isObject(value) && DESCRIBING.has(plain)) yield* signsIn(value, `${path}.`, depth + 1);
    else if (sign !== undefined) yield { sign, path, value };
    yield* signsInAddress(value, path);
  }
}

function* signsInAddress(address: unknown, path: string): Generator<Found> {
  for (const [name, value] of parametersOf(address)) {
    const sign = name === 'id' ? 'filter' : SIGN_OF.get(name.toLowerCase().replaceAll(/[^a-z]/g, ''));
    if (sign === 'filter' || sign === 'status' || sign === 'named')
      yield { sign, path: `${path}?${name}`, value };
  }
}

type Part = {
  rows: number;
  page?: string | null;
  claim?: { readonly by: string; readonly complete: boolean };
  total?: number;
};

/** Members of a reply that lead to further results. */
type PageEnd = { readonly more: string | null; readonly cursor: string | null };

/** A source is complete when the last claim of each part says so, and nothing speaks against it. */
export class Completeness {
  readonly #readsCountry: boolean;
  readonly #parts = new Map<string, Part>();
  readonly #ends: PageEnd[] = [];
  /** The member that leads on in the last page of results at each place, because a file may have several searches. */
  readonly #moreAt = new Map<string, string | null>();
  /** The largest count of ads and the smallest limit that the source names. */
  #count = { path: '', size: 0 };
  #limit = { path: '', size: Number.POSITIVE_INFINITY };
  #doubt: string | null = null;
  #fault: string | null = null;
  #allEnded = true;
  #hasPaging = false;
  #namesPages = false;
  /** A page of results linked to the next, so that the last one would have a link too. */
  #keepsNext = false;

  /** `readsCountry`: the reader restricts the scan to the source's country, which is then no doubt. */
  constructor({ readsCountry = false } = {}) {
    this.#readsCountry = readsCountry;
  }

  claim(part: string, by: string, complete: boolean): void {
    this.#part(part).claim = { by, complete };
  }

  /** After a doubt only the caller can declare the source complete. */
  doubt(reason: string): void {
    this.#doubt ??= reason;
  }

  ad(name: string, { page_id, is_active }: Pick<ObservedAd, 'page_id' | 'is_active'>): void {
    const part = this.#part(name);
    part.rows += 1;
    part.page = part.page === undefined || part.page === page_id ? page_id : null;
    this.#allEnded &&= is_active === false;
  }

  total(name: string, path: string, total: number): void {
    const part = this.#part(name);
    if (part.total !== undefined && part.total !== total) this.doubt(`${path} has several values`);
    part.total = Math.max(total, part.total ?? 0);
  }

  address(path: string, address: unknown): void {
    for (const found of signsInAddress(address, path)) this.#filter(found);
  }

  envelope(name: string | null, { value, depth, path: place }: JsonValue): void {
    let more: string | null | undefined;
    let cursor: string | null = null;
    let page = 1;
    let pages: { readonly path: string; readonly size: number } | null = null;
    for (const found of signsIn(value, '', 0)) {
      const { sign, path } = found;
      const isSaid = !isBlank(found.value);
      const size = countOf(found.value);
      if (sign === 'more') more = isSaid ? path : (more ?? null);
      if (sign === 'whole' && isDenied(found.value)) more = path;
      if (sign === 'cursor' && isSaid) cursor = path;
      if (sign === 'page') page = size ?? page;
      if (((sign === 'before' && isSaid) || page > 1) && !this.#hasPaging)
        this.doubt(`${path} says that results precede those of the file`);
      if (sign === 'error' && isSaid) this.#fault ??= `${path} tells of an error`;
      if (sign === 'pages' && size !== null) pages = { path, size };
      const isCount = sign === 'count' || (sign === 'total' && name === null);
      if (sign === 'total' && size !== null && name !== null) this.total(name, path, size);
      if (isCount && size !== null && size > this.#count.size) this.#count = { path, size };
      if (sign === 'limit' && size !== null && size < this.#limit.size) this.#limit = { path, size };
      this.#filter(found);
    }
    if (pages !== null) more ??= page < pages.size ? pages.path : null;
    this.#hasPaging ||= more !== undefined || cursor !== null || page > 1;
    const inside = this.#ends[depth + 1];
    this.#ends.length = Math.min(this.#ends.length, depth + 1);
    // The last page may still have the cursor of its last ad.
    const lastCursor = more === undefined ? (cursor ?? inside?.cursor ?? null) : null;
    this.#ends[depth] = { more: more ?? inside?.more ?? null, cursor: lastCursor };
    this.#moreAt.set(place, this.#ends[depth].more);
    this.#keepsNext ||= this.#ends[depth].more !== null;
  }

  #filter({ sign, path, value }: Found): void {
    const status = String(value);
    if (this.#readsCountry && /country/i.test(path)) return;
    if (sign === 'status' && UNFINISHED.test(status)) this.doubt(`${path} says that the run goes on`);
    if (sign === 'named') this.#namesPages ||= !isBlank(value);
    if (sign === 'status' && FAILED.test(status)) this.#fault ??= `${path} tells of an error`;
    if (
      (sign === 'status' && /inactive|ended|stopped/i.test(status)) ||
      (sign === 'filter' && isFilter(value))
    )
      this.doubt(`${path} limits the search`);
  }

  verdict(): VerdictRecord {
    const parts = [...this.#parts.values()];
    return {
      kind: 'verdict',
      by: parts.find(({ claim }) => claim !== undefined)?.claim?.by ?? null,
      incomplete: this.#incomplete(parts),
      doubt: this.#doubt ?? this.#doubtOf(parts),
      rows: parts.some(({ total }) => total !== undefined) ? rowsOf(parts) : null,
    };
  }

  #incomplete(parts: readonly Part[]): string | null {
    const more = this.#ends.find((end) => end !== undefined)?.more ?? null;
    const missing = parts.find(({ rows, total = 0 }) => rows < total);
    const denial = parts.find(({ claim }) => claim?.complete === false)?.claim;
    if (more ?? denial) return `${more ?? denial?.by} says that ads are missing`;
    return missing === undefined
      ? this.#fault
      : `the file says that there are ${missing.total} ads, and has ${missing.rows}`;
  }

  #doubtOf(parts: readonly Part[]): string | null {
    const ads = rowsOf(parts);
    const cursor = this.#ends.find((end) => end !== undefined)?.cursor ?? null;
    const excess = parts.find(({ rows, total = rows }) => rows > total);
    const other = [...this.#moreAt.values()].find((more) => more !== null);
    if (other !== undefined) return `${other} says that ads of another search are missing`;
    if (cursor !== null && !this.#keepsNext) return `${cursor} may lead to a next page`;
    if (excess !== undefined)
      return `the file says that there are ${excess.total} ads, and has ${excess.rows}`;
    if (ads < this.#count.size)
      return `${this.#count.path} is ${this.#count.size}, and the file has ${ads} ads`;
    if (ads >= this.#limit.size && !this.#keepsNext) return `${this.#limit.path} may have cut the list`;
    if (parts.some(({ rows, claim }) => rows > 0 && claim === undefined))
      return 'it is not about all ads of the file';
    if (parts.some(({ page }) => page === null) && !this.#namesPages)
      return 'its ads are of several pages or of unknown ones, as those of a search for words';
    return ads > 0 && this.#allEnded ? 'all its ads have ended, as those of a search for ended ads' : null;
  }

  #part(name: string): Part {
    const part = this.#parts.get(name) ?? { rows: 0 };
    if (this.#parts.size >= SCAN_PAGES_MAX && !this.#parts.has(name)) this.doubt('it has too many pages');
    else this.#parts.set(name, part);
    return part;
  }
}

const rowsOf = (parts: readonly Part[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);
