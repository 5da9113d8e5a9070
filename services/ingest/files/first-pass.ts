import { createHash } from 'node:crypto';
import { SCAN_PAGES_MAX, type ScanCoverage } from '#contracts/observations/ad-library-scan.ts';
import { scanIdOf } from '#domain/ids.ts';
import type { WholeAd } from './merge-ad-rows.ts';
import { bytesInChunk, chunkBytesMax, fitInOneChunk } from './scan-chunks.ts';
import { type CheckedIds, isOfDouble, SPREADSHEET_DIGITS } from '../readers/fields/ad-ids.ts';
import type { AdRecord, CoveredPage, RefusedRecord, VerdictRecord } from '../readers/record.ts';
import { NO_TIME, type ScanKey, withCountries } from '../readers/scan-key.ts';

const NO_VERDICT = { by: null, incomplete: null, doubt: null, rows: null };
type Coverage = ReturnType<typeof ScanCoverage.parse>;

/**
 * Minimum number of digits lost, over all long ids of a file, that proves that a program rounded them. If every long id of
 * a file is as rounding leaves it, 5 lost digits occur by chance in one file of 100,000.
 */
const LOST_DIGITS_MIN = 5;

/**
 * Ways to round ids, each with the number of decimal digits that it would have lost of an id: 0 for an id that it keeps
 * whole, `null` for one that it cannot have made. Spreadsheets keep 15 digits and write 0 for the rest. JavaScript, and
 * other programs with doubles, keep 53 bits.
 */
const ROUNDINGS: readonly ((id: string) => number | null)[] = [
  (id) => {
    const tail = id.slice(SPREADSHEET_DIGITS);
    return /^0*$/.test(tail) ? tail.length : null;
  },
  (id) => {
    if (Number.isSafeInteger(Number(id))) return 0;
    return isOfDouble(id) ? (Math.floor(Math.log2(Number(id))) - 52) * Math.log10(2) : null;
  },
];

/** Ways in which an id of an ad may be damaged. Their places in the list are the bits of the damage flags of an ad. */
const DAMAGE = (['ad_id', 'page_id'] as const).flatMap((field) =>
  ROUNDINGS.map((lostOf) => ({ field, lostOf })),
);
const REPLACED_CHARACTER = 2 ** DAMAGE.length;
const SUSPICIONS = 2 * REPLACED_CHARACTER;

/** Returns whether an address in the rows of an ad confirms an id, or shows that rounding took digits of it. */
const checkOf = (rows: readonly AdRecord[], field: keyof CheckedIds) =>
  rows.find(({ checked }) => checked?.[field])?.checked?.[field];

/** Returns the damage flags of an ad. Only the end of the first pass shows whether it is damaged. */
export const suspicionOf = (rows: readonly AdRecord[]): number => {
  const { ad } = rows[0] as AdRecord;
  const suspicion = rows.some(({ raw }) => raw.includes('\uFFFD')) ? REPLACED_CHARACTER : 0;
  return DAMAGE.reduce((flags, { field, lostOf }, bit) => {
    const isSuspect = (lostOf(ad[field] ?? '') ?? 0) > 0 && checkOf(rows, field) === undefined;
    return isSuspect ? flags | (1 << bit) : flags;
  }, suspicion);
};

/** Detects whether all long ids of a file are rounded in one way, or an address showed that one of them is. */
class LongIds {
  readonly #distinct = new Set<string>();
  #lost = 0;
  damaged = false;

  /** `lost`: digits that rounding would have taken of the id; `null` proves that the ids of the file were not rounded. */
  add(id: string, lost: number | null, isNumber: boolean): void {
    this.#lost = lost === null ? Number.NEGATIVE_INFINITY : this.#lost;
    if (lost === null || lost === 0 || !(this.#lost >= 0) || this.#lost >= LOST_DIGITS_MIN) return;
    if (this.#distinct.has(id)) return;
    this.#distinct.add(detached(id));
    // Few programs write a number of more than 53 bits to JSON without a double.
    this.#lost += isNumber ? LOST_DIGITS_MIN : lost;
  }

  isDamaged(): boolean {
    return this.damaged || this.#lost >= LOST_DIGITS_MIN;
  }
}

const isJsonNumber = (id: string, rows: readonly AdRecord[]): boolean =>
  !Number.isSafeInteger(Number(id)) &&
  rows.some(({ raw }) => raw.startsWith('{') && !raw.includes(`"${id}"`));

/** Copies a string. V8 substrings reference their parent string, which would keep a large text in memory. */
const detached = (text: string): string => Buffer.from(text).toString();

/** Sums over ads. They identify the ads of a scan without keeping them in memory. */
type AdSums = {
  ads: number;
  /** Bytes of the ads in chunks. */
  bytes: number;
  /** Sum of the ads' hashes. It does not depend on the order of the ads. */
  content: bigint;
  /** Sum of the ads' hashes, each multiplied by a number for its position. It depends on the order. */
  order: bigint;
};

const noAds = (): AdSums => ({ ads: 0, bytes: 0, content: 0n, order: 0n });
const addSums = (to: AdSums, more: AdSums): void => {
  to.ads += more.ads;
  to.bytes += more.bytes;
  to.content = BigInt.asUintN(64, to.content + more.content);
  to.order = BigInt.asUintN(64, to.order + more.order);
};

/** Totals of one scan of the file. */
type ScanAccount = {
  readonly key: ScanKey;
  /** Sums of ads, indexed by damage flags. */
  readonly sums: AdSums[];
  readonly pages: Map<string, CoveredPage>;
  /** True when the source itself lists covered pages, with or without ads. */
  namesPages: boolean;
};

/** Result of the first pass over a file; the second pass uses it to submit observations. */
export class FirstPass {
  readonly scans = new Map<string, ScanAccount>();
  /** Maps scans without countries to the scan that they were merged into. */
  readonly #merged = new Map<string, ScanAccount>();
  /** Detectors of damage, by its place in the list. */
  readonly #longIds = DAMAGE.map(() => new LongIds());
  readonly #confirmedPages = new Set<string>();
  /** Numbers of ads by brand and time. Scans without countries are merged into a scan of the same brand and time. */
  readonly #positions = new Map<string, number>();
  refused = 0;
  /** Number of records that were deliberately not read. */
  leftOut = 0;
  /** Number of records that were refused because they have no scan time. */
  untimed = 0;
  /** Words of the file about its own completeness. `null` when its format has none. */
  verdict: VerdictRecord | null = null;
  /** Damage of the file. `null` when it is whole. */
  damage: string | null = null;
  isUtf8 = true;

  /** Adds a page to the scan's coverage. Returns false when the scan already covers `SCAN_PAGES_MAX` other pages. */
  addPage(key: ScanKey, page: CoveredPage): boolean {
    const { pages } = this.#account(key);
    if (pages.has(page.page_id)) return true;
    if (pages.size >= SCAN_PAGES_MAX) return false;
    pages.set(detached(page.page_id), {
      page_id: detached(page.page_id),
      page_name: page.page_name === null ? null : detached(page.page_name),
    });
    return true;
  }

  /** Adds a page that the source itself lists as covered. */
  addListedPage(key: ScanKey, page: CoveredPage): void {
    this.addPage(key, page);
    this.#account(key).namesPages = true;
  }

  addRefusal({ what }: RefusedRecord): void {
    this.refused += 1;
    if (what === NO_TIME.what) this.untimed += 1;
  }

  /** Adds an ad to the totals of its scan. */
  addAd({ scan, ad, rows }: WholeAd): void {
    DAMAGE.forEach(({ field, lostOf }, place) => {
      const id = ad[field];
      const longIds = this.#longIds[place];
      if (id === null || longIds === undefined) return;
      const check = checkOf(rows, field);
      if (check === undefined) longIds.add(id, lostOf(id), isJsonNumber(id, rows));
      else longIds.damaged ||= check === 'rounded';
      if (check !== undefined && field === 'page_id' && !this.#confirmedPages.has(id))
        this.#confirmedPages.add(detached(id));
    });
    const account = this.#account(scan);
    const sums = account.sums[suspicionOf(rows)];
    if (sums === undefined) return;
    const json = JSON.stringify(ad);
    const content = hashOf(json);
    const order = content * this.#nextOdd(scan);
    addSums(sums, { ads: 1, bytes: bytesInChunk(json), content, order });
  }

  /** Returns the next odd number for an ad of this brand and time. A product with it can be undone, so no hash is lost. */
  #nextOdd({ brandDomain, scannedAt }: ScanKey): bigint {
    const key = `${brandDomain}|${scannedAt}`;
    const position = this.#positions.get(key) ?? 0;
    this.#positions.set(key, position + 1);
    return BigInt(2 * position + 1);
  }

  /** Returns the damaged part of an ad with these flags. `null` when the ad is intact. Final after the first pass. */
  damageOf(suspicion: number): 'ad_id' | 'page_id' | 'encoding' | null {
    const place = DAMAGE.findIndex(
      (_, bit) => (suspicion & (1 << bit)) !== 0 && this.#longIds[bit]?.isDamaged() === true,
    );
    const isEncoding = (suspicion & REPLACED_CHARACTER) !== 0 && !this.isUtf8;
    return DAMAGE[place]?.field ?? (isEncoding ? 'encoding' : null);
  }

  /** Returns true when an id of a page is rounded. Final after the first pass. */
  #isDamagedPage(id: string): boolean {
    return DAMAGE.some(
      ({ field, lostOf }, place) =>
        field === 'page_id' && (lostOf(id) ?? 0) > 0 && this.#longIds[place]?.isDamaged() === true,
    );
  }

  coverage(account: ScanAccount, collector: string, complete: boolean): Coverage {
    const pages = [...account.pages.values()].filter(
      ({ page_id }) => this.#confirmedPages.has(page_id) || !this.#isDamagedPage(page_id),
    );
    return { pages, countries: [...account.key.countries], complete, collector };
  }

  /** Maximum bytes of one chunk of this file's scans. Final after the first pass. */
  chunkBytesMax(): number {
    return chunkBytesMax(this.scans.size);
  }

  /**
   * Derives the scan id from the content: the same ads, coverage and collector give the same id. The order of the ads
   * matters only when they need several chunks, because it then decides which ads each chunk has. A scan id therefore
   * always has the same chunks, and a scan that was interrupted is continued only by the same chunks.
   */
  scanId(account: ScanAccount, coverage: Coverage): string {
    const { ads, bytes, content, order } = this.#intact(account);
    const bytesMax = this.chunkBytesMax();
    const fingerprint = JSON.stringify([
      String(content),
      fitInOneChunk(ads, bytes, bytesMax) ? 'one chunk' : [String(order), bytesMax],
      ads,
      coverage.pages.map(({ page_id }) => page_id).toSorted(),
      coverage.countries,
      coverage.complete,
      coverage.collector,
    ]);
    const hash = createHash('sha256').update(fingerprint).digest('hex');
    return scanIdOf(account.key.brandDomain, account.key.scannedAt, hash);
  }

  /** Returns the number of the scan's ads to submit: all except damaged ones. */
  ads(account: ScanAccount): number {
    return this.#intact(account).ads;
  }

  /** Returns the sums of the scan's ads to submit. */
  #intact(account: ScanAccount): AdSums {
    const all = noAds();
    account.sums.forEach((sums, suspicion) => {
      if (this.damageOf(suspicion) === null) addSums(all, sums);
    });
    return all;
  }

  /**
   * Decides whether the scan of the file is complete, and says why. `declaredBy`: what the caller or the mapping declares
   * it by, if anything. Without a record that was not read its ad would count as absent, and so would the ads of the
   * other scans of a file.
   */
  verdictOn(declaredBy: string | null): { readonly complete: boolean; readonly reason: string } {
    const accounts = [...this.scans.values()];
    const ads = accounts.reduce((sum, account) => sum + this.ads(account), 0);
    const read = accounts.reduce((sum, { sums }) => sum + sums.reduce((all, one) => all + one.ads, 0), 0);
    const { by, incomplete, doubt, rows } = this.verdict ?? NO_VERDICT;
    const missing =
      this.damage ??
      (this.refused > 0 || ads < read ? 'records were refused' : null) ??
      (this.leftOut > 0 ? 'records were left out' : null) ??
      (accounts.length > 1 ? `it is one of ${accounts.length} scans of the file` : null) ??
      incomplete;
    if (missing !== null) return { complete: false, reason: missing };
    const against = doubt ?? (rows !== null && rows !== ads ? 'the file repeats ads' : null);
    if (by !== null && against === null) return { complete: true, reason: `by ${by} of the file` };
    if (declaredBy !== null) return { complete: true, reason: `by ${declaredBy}` };
    const reason = by === null ? 'nothing says so' : `${by} of the file is not believed: ${against}`;
    return { complete: false, reason };
  }

  /**
   * Assigns countries to scans without any, at the end of the first pass. Such a scan is merged into the scan of the
   * same brand and timestamp that has countries. If there is none, it becomes a scan of all countries (`ALL`).
   */
  assignCountries(): void {
    for (const [id, account] of this.scans) {
      const { key } = account;
      if (key.countries.length > 0) continue;
      const others = [...this.scans.values()]
        .map((other) => other.key)
        .filter((other) => other.countries.length > 0);
      const same = others.find(
        ({ brandDomain, scannedAt }) => brandDomain === key.brandDomain && scannedAt === key.scannedAt,
      );
      const target = this.#account(same ?? withCountries(key, ['ALL']));
      account.sums.forEach((sums, suspicion) => {
        addSums(target.sums[suspicion] ?? noAds(), sums);
      });
      for (const [pageId, page] of account.pages) {
        if (target.pages.has(pageId)) continue;
        if (target.pages.size < SCAN_PAGES_MAX) target.pages.set(pageId, page);
        else this.refused += 1;
      }
      target.namesPages ||= account.namesPages;
      this.scans.delete(id);
      this.#merged.set(id, target);
    }
  }

  /** Returns the scan that a record's ad is submitted with. `undefined` when the first pass has no such scan. */
  scanOf(key: ScanKey): ScanAccount | undefined {
    return this.#merged.get(key.id) ?? this.scans.get(key.id);
  }

  #account(key: ScanKey): ScanAccount {
    const existing = this.scanOf(key);
    if (existing !== undefined) return existing;
    const created = {
      key,
      sums: Array.from({ length: SUSPICIONS }, noAds),
      pages: new Map(),
      namesPages: false,
    };
    this.scans.set(key.id, created);
    return created;
  }
}

const hashOf = (text: string): bigint => createHash('sha256').update(text).digest().readBigUInt64BE();
