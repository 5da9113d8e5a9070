import { type ObservedAd, SCAN_PAGES_MAX } from '#contracts/observations/ad-library-scan.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import type { JsonValue } from './parsing/json-records.ts';
import type { VerdictRecord } from './record.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/**
 * Members of an envelope that say something about its list. Except for `before`, `status` and `whole`, `false`, 0 and
 * blanks do not.
 */
const SIGNS = {
  more: `truncated istruncated partial ispartial incomplete isincomplete pagetoken continuation continuationtoken
    resumptiontoken lastevaluatedkey`,
  cursor: 'after cursor endcursor forwardcursor scrollid',
  before: `previous prev previouspage previousurl previouscursor prevcursor before backwardcursor haspreviouspage
    hasprevious offset skip`,
  error: 'error errors errormessage errordescription errorcode failed timedout ratelimited throttled',
  warning: 'warning warnings',
  message: 'message messages msg detail details note notes notice reason statustext statusmessage',
  link: 'link links',
  limit: 'limit pagesize perpage resultslimit limitresults maxresults maxitems maxads resultsperpage first',
  total: 'total totalcount totalresults totalads totalitems totalhits totalrecords numberofads numads',
  count: 'count adcount adscount resultcount resultscount searchresultscount itemcount itemscount',
  filter: `q query querytext querystring search searchterms searchterm searchquery searchtext keyword keywords term
    terms mediatype publisherplatform publisherplatforms contentlanguage contentlanguages languages adtype region
    regions deliverybyregion bylines startdatemin startdatemax addeliverydatemin addeliverydatemax datemin datemax
    datefrom dateto since until startdate enddate daterange country countries countrycode adreachedcountries`,
  status: 'status activestatus adactivestatus adstatus state runstatus code statuscode httpstatus',
  whole: 'isresultcomplete iscomplete complete completed finished success ok islast islastpage last isend',
  named: 'searchpageids',
  about: 'pageid pageids viewallpageid pagename inputurl advertiser advertiserid accountid',
  page: 'page currentpage pagenumber pageno',
  pages: 'pages totalpages pagecount numpages lastpage',
} as const;
type Sign = keyof typeof SIGNS;
const SIGN_OF: ReadonlyMap<string, Sign> = new Map(
  (Object.keys(SIGNS) as Sign[]).flatMap((sign) =>
    SIGNS[sign].split(/\s+/).map((name) => [name, sign] as const),
  ),
);
/** Names of a next page, such as `nextPageToken`, `@odata.nextLink`, `has_next` and `hasMore`. */
const MORE =
  /^(?:odata)?next(?:page|url|uri|link|href|token|cursor|offset|start|from|max|min|id|marker|key|results?|records?|batch|set|after|path|query|number)*$|^(?:has|is|are)?(?:next|more)(?:pages?|results?|ads?|items?|records?|data|available)*$/;
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');
const signOf = (plain: string): Sign | null => SIGN_OF.get(plain) ?? (MORE.test(plain) ? 'more' : null);
/** Signs that count in an object of any name, and signs that describe a search. */
const PAGING = new Set<Sign>(['more', 'page', 'pages']);
const OF_SEARCH = new Set<Sign>(['filter', 'status', 'named', 'about']);

/** Passes few names of a row, because the look-up of a sign is slow. */
const ROW_NAME = /err|fail|warn|next|more|part|trunc|compl|limit|thrott|timed/i;

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
const FAILED =
  /(?<!\b(?:no|0|without) )\berr(?:or|_)|fail|partial|incomplete|truncat|abort|cancel|interrupt|tim(?:ed?|ing)[-_ ]?out|rate[-_ ]?limit|too[-_ ]?many|throttl|blocked|denied|forbidden|unauthori|expired|quota|captcha|exceeded|limit (?:was |is )?reached|try again|^[45]\d\d$/i;
const UNFINISHED = /^(running|pending|queued|started|processing|in[-_ ]?progress)/i;
const isFilter = (value: unknown): boolean =>
  !NO_FILTER.has((typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase());

const parametersOf = (text: unknown): readonly (readonly [string, string])[] =>
  typeof text === 'string' && /^https?:.*(ads\/library|ads_archive)/.test(text) && URL.canParse(text)
    ? [...new URL(text).searchParams]
    : [];

/** Country to which an address limits its search. */
export const countryIn = (address: unknown): string | null =>
  parametersOf(address).find(([name, value]) => name === 'country' && /^[A-Z]{2}$/.test(value))?.[1] ?? null;

type Found = { readonly sign: Sign; readonly path: string; readonly value: unknown };

function* signsIn(object: JsonObject, at: string, depth = 0, isDescribing = true): Generator<Found> {
  // The cursor of an edge leads to that edge.
  if ('node' in object || depth > DEPTH_MAX) return;
  for (const [name, value] of Object.entries(object)) {
    const path = `${at}${name}`;
    const plain = plainName(name);
    const sign = signOf(plain);
    const describes = DESCRIBING.has(plain);
    if (isObject(value) && (describes || sign === null))
      yield* signsIn(value, `${path}.`, depth + 1, isDescribing && describes);
    else if (sign === 'link' && leadsOn(value)) yield { sign: 'more', path, value };
    else if (sign !== null && (isDescribing || PAGING.has(sign))) yield { sign, path, value };
    yield* signsInAddress(value, path);
  }
}

/** Reads a link header (RFC 8288), or a list of links with their relations. */
const leadsOn = (link: unknown): boolean => {
  if (typeof link === 'string') return /<[^>]+>[^,]*\brel="?next\b/i.test(link);
  if (Array.isArray(link)) return link.some(leadsOn);
  return (
    isObject(link) && [link['rel'], link['relation'], link['name']].some((rel) => /^next$/i.test(String(rel)))
  );
};

function* signsInAddress(address: unknown, path: string): Generator<Found> {
  for (const [name, value] of parametersOf(address)) {
    const sign = name === 'id' ? 'filter' : signOf(plainName(name));
    if (sign !== null && OF_SEARCH.has(sign)) yield { sign, path: `${path}?${name}`, value };
  }
}

/** `total`: the number of ads that the member `by` gives. */
export type Claim = { readonly by: string; readonly complete: boolean; readonly total?: number };
type Part = { rows: number; page?: string | null; claim?: Claim; total?: number };

/** Page of results. `more` and `cursor`: members that lead on; `search`: parameters by path; `active`: flags of its ads. */
type Page = {
  readonly more: string | null;
  readonly cursor: string | null;
  readonly number: number | null;
  readonly search: ReadonlyMap<string, string>;
  readonly active: string;
};

const isOfOtherSearch = (last: Page, next: Page): boolean =>
  (last.number !== null && next.number !== null && next.number <= last.number) ||
  [...next.search].some(([path, value]) => (last.search.get(path) ?? value) !== value) ||
  ['true,false', 'false,true'].includes(`${last.active},${next.active}`);

/** A source is complete when the last claim of each part says so, and nothing speaks against it. */
export class Completeness {
  readonly #readsCountry: boolean;
  readonly #parts = new Map<string, Part>();
  /** The last page of results at each depth. */
  readonly #ends: Page[] = [];
  /** The last page of results at each place, because a file may have several searches. */
  readonly #pageAt = new Map<string, Page>();
  readonly #active = new Set<boolean | null>();
  #otherSearch: string | null = null;
  /** The largest count of ads and the smallest limit that the source names. */
  #count = { path: '', size: 0 };
  #limit = { path: '', size: Number.POSITIVE_INFINITY };
  /** After a doubt only the caller can declare the source complete. No one can overrule a fault. */
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

  claim(part: string, claim: Claim): void {
    this.#part(part).claim = claim;
    if (claim.total !== undefined) this.#total(part, claim.by, claim.total);
  }

  /** `row`: the ad's record, which may tell of an error. */
  ad(name: string, { page_id, is_active }: Pick<ObservedAd, 'page_id' | 'is_active'>, row: JsonObject): void {
    const part = this.#part(name);
    part.rows += 1;
    part.page = part.page === undefined || part.page === page_id ? page_id : null;
    this.#allEnded &&= is_active === false;
    this.#active.add(is_active);
    for (const path of Object.keys(row)) {
      const sign = ROW_NAME.test(path) ? signOf(plainName(path)) : null;
      const value = row[path];
      if (sign === 'more' && !isBlank(value)) this.#fault ??= `${path} says that ads are missing`;
      else if (sign === 'error' || sign === 'warning') this.#judge({ sign, path, value });
    }
  }

  #total(name: string, path: string, total: number): void {
    const part = this.#part(name);
    if (part.total !== undefined && part.total !== total) this.#doubt ??= `${path} has several values`;
    part.total = Math.max(total, part.total ?? 0);
  }

  address(path: string, address: unknown): void {
    for (const found of signsInAddress(address, path)) this.#judge(found);
  }

  envelope(name: string | null, { value, depth, path: place }: JsonValue): void {
    let more: string | null | undefined;
    let cursor: string | null = null;
    let page: number | null = null;
    let pages: { readonly path: string; readonly size: number } | null = null;
    let isFirst = false;
    const search = new Map<string, string>();
    for (const found of signsIn(value, '')) {
      const { sign, path } = found;
      const isSaid = !isBlank(found.value);
      const [, ofPage, ofPages] = /^(\d+)(?: ?(?:\/|of) ?(\d+))?$/.exec(String(found.value)) ?? [];
      const size = countOf(found.value);
      if (sign === 'more') more = isSaid ? path : (more ?? null);
      if (sign === 'whole' && isDenied(found.value)) more = path;
      if (sign === 'cursor' && isSaid) cursor = path;
      if (sign === 'page' && ofPage !== undefined) page = Number(ofPage);
      if (sign === 'page' && ofPages !== undefined) pages = { path, size: Number(ofPages) };
      if (sign === 'before' && !isSaid) isFirst = true;
      if (((sign === 'before' && isSaid) || (page ?? 1) > 1) && !this.#hasPaging)
        this.#doubt ??= `${path} says that results precede those of the file`;
      if (sign === 'pages' && size !== null) pages = { path, size };
      const isCount = sign === 'count' || (sign === 'total' && name === null);
      if (sign === 'total' && size !== null && name !== null) this.#total(name, path, size);
      if (isCount && size !== null && size > this.#count.size) this.#count = { path, size };
      if (sign === 'limit' && size !== null && size < this.#limit.size) this.#limit = { path, size };
      if (OF_SEARCH.has(sign) && isSaid) search.set(path, JSON.stringify(found.value));
      this.#judge(found);
    }
    if (pages !== null) more ??= (page ?? 1) < pages.size ? pages.path : null;
    this.#hasPaging ||= more !== undefined || cursor !== null || (page ?? 1) > 1;
    const inside = this.#ends[depth + 1];
    this.#ends.length = Math.min(this.#ends.length, depth + 1);
    // The last page may still have the cursor of its last ad.
    const lastCursor = more === undefined ? (cursor ?? inside?.cursor ?? null) : null;
    const active = [...this.#active].join('|');
    const end = { more: more ?? inside?.more ?? null, cursor: lastCursor, number: page, search, active };
    const last = this.#pageAt.get(place);
    if (last !== undefined && last.more !== null && (isFirst || isOfOtherSearch(last, end)))
      this.#otherSearch ??= last.more;
    this.#ends[depth] = end;
    this.#pageAt.set(place, end);
    this.#keepsNext ||= end.more !== null;
    if (more !== undefined) this.#active.clear();
  }

  #judge({ sign, path, value }: Found): void {
    if (isBlank(value) || (this.#readsCountry && /country/i.test(path))) return;
    const text = isObject(value) ? '' : String(value);
    const isStatus = sign === 'status';
    if (sign === 'error' || ((isStatus || sign === 'message') && FAILED.test(text)))
      this.#fault ??= `${path} tells of an error`;
    if (sign === 'warning') this.#doubt ??= `${path} tells of a warning`;
    if (sign === 'named') this.#namesPages = true;
    if (isStatus && UNFINISHED.test(text)) this.#doubt ??= `${path} says that the run goes on`;
    if (isStatus ? /inactive|ended|stopped/i.test(text) : sign === 'filter' && isFilter(value))
      this.#doubt ??= `${path} limits the search`;
  }

  verdict(): VerdictRecord {
    const parts = [...this.#parts.values()];
    const denial = parts.find(({ claim }) => claim?.complete === false)?.claim?.by;
    const missing = parts.find(({ rows, total = 0 }) => rows < total);
    // The outermost envelope counts.
    const more = this.#ends.find((end) => end !== undefined)?.more ?? denial;
    const incomplete =
      more === undefined ? missing && otherTotal(missing) : `${more} says that ads are missing`;
    return {
      kind: 'verdict',
      by: parts.find(({ claim }) => claim !== undefined)?.claim?.by ?? null,
      incomplete: incomplete ?? this.#fault,
      doubt: this.#doubt ?? this.#doubtOf(parts),
      rows: parts.some(({ total }) => total !== undefined) ? rowsOf(parts) : null,
    };
  }

  #doubtOf(parts: readonly Part[]): string | null {
    const ads = rowsOf(parts);
    const cursor = this.#ends.find((end) => end !== undefined)?.cursor ?? null;
    const excess = parts.find(({ rows, total = rows }) => rows > total);
    const other = this.#otherSearch ?? [...this.#pageAt.values()].find(({ more }) => more !== null)?.more;
    if (other) return `${other} says that ads of another search are missing`;
    if (cursor !== null && !this.#keepsNext) return `${cursor} may lead to a next page`;
    if (excess !== undefined) return otherTotal(excess);
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
    if (this.#parts.size < SCAN_PAGES_MAX || this.#parts.has(name)) this.#parts.set(name, part);
    else this.#doubt ??= 'it has too many pages';
    return part;
  }
}

const rowsOf = (parts: readonly Part[]): number => parts.reduce((sum, { rows }) => sum + rows, 0);
const otherTotal = ({ rows, total }: Part): string =>
  `the file says that there are ${total} ads, and has ${rows}`;
