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

/** Lost digits, over all long ids, that prove rounding. By chance, one unrounded file of 100,000 has 5. */
const LOST_DIGITS_MIN = 5;

/**
 * Decimal digits that a program loses of an id; `null` if it cannot make the id. Spreadsheets keep 15, doubles 53 bits.
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

/** Kinds of damage of an ad. The index is the bit in its damage flags. */
const DAMAGE = (['ad_id', 'page_id'] as const).flatMap((field) =>
  ROUNDINGS.map((lostOf) => ({ field, lostOf })),
);
const REPLACED_CHARACTER = 2 ** DAMAGE.length;
const SUSPICIONS = 2 * REPLACED_CHARACTER;

const checkOf = (rows: readonly AdRecord[], field: keyof CheckedIds) =>
  rows.find(({ checked }) => checked?.[field])?.checked?.[field];

export const suspicionOf = (rows: readonly AdRecord[]): number => {
  const { ad } = rows[0] as AdRecord;
  const suspicion = rows.some(({ raw }) => raw.includes('\uFFFD')) ? REPLACED_CHARACTER : 0;
  return DAMAGE.reduce((flags, { field, lostOf }, bit) => {
    const isSuspect = (lostOf(ad[field] ?? '') ?? 0) > 0 && checkOf(rows, field) === undefined;
    return isSuspect ? flags | (1 << bit) : flags;
  }, suspicion);
};

class LongIds {
  readonly #distinct = new Set<string>();
  #lost = 0;
  damaged = false;

  /** `lost`: digits that rounding would have taken; `null` proves that the ids were not rounded. */
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

/** Copies the string: a V8 substring would keep its large parent text in memory. */
const detached = (text: string): string => Buffer.from(text).toString();

type AdSums = {
  ads: number;
  bytes: number;
  /** Hashes of the ads, added up: independent of their order. */
  content: bigint;
  /** Hashes multiplied by a number for the ad's position: dependent on the order. */
  order: bigint;
};

const noAds = (): AdSums => ({ ads: 0, bytes: 0, content: 0n, order: 0n });
const addSums = (to: AdSums, more: AdSums): void => {
  to.ads += more.ads;
  to.bytes += more.bytes;
  to.content = BigInt.asUintN(64, to.content + more.content);
  to.order = BigInt.asUintN(64, to.order + more.order);
};

type ScanAccount = {
  readonly key: ScanKey;
  readonly sums: AdSums[];
  readonly pages: Map<string, CoveredPage>;
  /** True when the source itself lists covered pages, even without ads. */
  namesPages: boolean;
};

export class FirstPass {
  readonly scans = new Map<string, ScanAccount>();
  /** Maps scans without countries to the scan that they were merged into. */
  readonly #merged = new Map<string, ScanAccount>();
  readonly #longIds = DAMAGE.map(() => new LongIds());
  readonly #confirmedPages = new Set<string>();
  /** Counted by brand and time, because scans without countries join a scan of the same brand and time. */
  readonly #positions = new Map<string, number>();
  refused = 0;
  leftOut = 0;
  untimed = 0;
  /** The file's own claim of completeness. `null` when its format has none. */
  verdict: VerdictRecord | null = null;
  damage: string | null = null;
  isUtf8 = true;

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

  addListedPage(key: ScanKey, page: CoveredPage): void {
    this.addPage(key, page);
    this.#account(key).namesPages = true;
  }

  addRefusal({ what }: RefusedRecord): void {
    this.refused += 1;
    if (what === NO_TIME.what) this.untimed += 1;
  }

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

  /** Odd factors are invertible modulo a power of two, so no hash is lost. */
  #nextOdd({ brandDomain, scannedAt }: ScanKey): bigint {
    const key = `${brandDomain}|${scannedAt}`;
    const position = this.#positions.get(key) ?? 0;
    this.#positions.set(key, position + 1);
    return BigInt(2 * position + 1);
  }

  /** `null` when the ad is intact. Final after the first pass. */
  damageOf(suspicion: number): 'ad_id' | 'page_id' | 'encoding' | null {
    const place = DAMAGE.findIndex(
      (_, bit) => (suspicion & (1 << bit)) !== 0 && this.#longIds[bit]?.isDamaged() === true,
    );
    const isEncoding = (suspicion & REPLACED_CHARACTER) !== 0 && !this.isUtf8;
    return DAMAGE[place]?.field ?? (isEncoding ? 'encoding' : null);
  }

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

  chunkBytesMax(): number {
    return chunkBytesMax(this.scans.size);
  }

  /** The same ads, coverage and collector give the same id. So only the same chunks continue an interrupted scan. */
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

  ads(account: ScanAccount): number {
    return this.#intact(account).ads;
  }

  #intact(account: ScanAccount): AdSums {
    const all = noAds();
    account.sums.forEach((sums, suspicion) => {
      if (this.damageOf(suspicion) === null) addSums(all, sums);
    });
    return all;
  }

  /**
   * `declaredBy`: option or mapping that declares the file complete. A record not read denies it: its ad would count as
   * absent.
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

  /** Merges scans without countries into a scan of the same brand and time that has some; else they cover `ALL`. */
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
