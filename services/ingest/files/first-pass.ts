import { createHash } from 'node:crypto';
import { SCAN_PAGES_MAX, type ScanCoverage } from '#contracts/observations/ad-library-scan.ts';
import { scanIdOf } from '#domain/ids.ts';
import type { WholeAd } from './merge-ad-rows.ts';
import { isLongId, SPREADSHEET_DIGITS } from '../readers/ad-fields.ts';
import type { AdRecord, CoveredPage } from '../readers/record.ts';
import { type ScanKey, withCountries } from '../readers/scan-key.ts';

type Coverage = ReturnType<typeof ScanCoverage.parse>;

/**
 * A spreadsheet keeps 15 digits and writes 0 for the rest. So many such zeros, where no long id of the file ends in
 * anything else, are its work: by chance they are those of one file in 100,000.
 */
const LOST_DIGITS_MIN = 5;

/** What makes an ad suspect while the file is still being read; whether it is damaged shows at the end. */
const LONG_AD_ID = 1;
const LONG_PAGE_ID = 2;
const REPLACED_CHARACTER = 4;
const SUSPICIONS = 8;

export const suspicionOf = (rows: readonly AdRecord[]): number => {
  const { ad } = rows[0] as AdRecord;
  return (
    (isLongId(ad.ad_id) ? LONG_AD_ID : 0) |
    (ad.page_id !== null && isLongId(ad.page_id) ? LONG_PAGE_ID : 0) |
    (rows.some(({ raw }) => raw.includes('\uFFFD')) ? REPLACED_CHARACTER : 0)
  );
};

/** Whether all of a file's long ids end in zeros after the digits that a spreadsheet keeps. */
class LongIds {
  readonly #distinct = new Set<string>();
  #allRounded = true;
  #lostDigits = 0;

  add(id: string): void {
    if (!isLongId(id) || !this.#allRounded) return;
    const behind = id.slice(SPREADSHEET_DIGITS);
    this.#allRounded = /^0+$/.test(behind);
    if (this.#lostDigits >= LOST_DIGITS_MIN || this.#distinct.has(id)) return;
    this.#distinct.add(detached(id));
    this.#lostDigits += behind.length;
  }

  damaged(): boolean {
    return this.#allRounded && this.#lostDigits >= LOST_DIGITS_MIN;
  }
}

/** A text of its own: a part of a larger text would keep all of that in memory. */
const detached = (text: string): string => Buffer.from(text).toString();

type ScanAccount = {
  readonly key: ScanKey;
  /** By suspicion: sums of hashes of ad ids, in which the order of the ads does not show. */
  readonly sums: bigint[];
  readonly counts: number[];
  readonly pages: Map<string, CoveredPage>;
  /** The source names pages itself, with or without ads. */
  namesPages: boolean;
};

/** What the first reading of a file found, from which follows what the second one hands in. */
export class Survey {
  readonly scans = new Map<string, ScanAccount>();
  /** Of scans that did not say their countries, the one they turned out to belong to. */
  readonly #settled = new Map<string, ScanAccount>();
  readonly #adIds = new LongIds();
  readonly #pageIds = new LongIds();
  refused = 0;
  verdict: boolean | null = null;
  damaged = false;
  isUtf8 = true;

  /** False when the scan already names as many pages as a scan may. */
  covers(key: ScanKey, page: CoveredPage): boolean {
    const { pages } = this.#account(key);
    if (pages.has(page.page_id)) return true;
    if (pages.size >= SCAN_PAGES_MAX) return false;
    pages.set(detached(page.page_id), {
      page_id: detached(page.page_id),
      page_name: page.page_name === null ? null : detached(page.page_name),
    });
    return true;
  }

  /** A page that the source says it covered. */
  names(key: ScanKey, page: CoveredPage): void {
    this.covers(key, page);
    this.#account(key).namesPages = true;
  }

  counts({ scan, ad, rows }: WholeAd): void {
    this.#adIds.add(ad.ad_id);
    if (ad.page_id !== null) this.#pageIds.add(ad.page_id);
    const account = this.#account(scan);
    const suspicion = suspicionOf(rows);
    account.sums[suspicion] = BigInt.asUintN(64, (account.sums[suspicion] ?? 0n) + hashOf(ad.ad_id));
    account.counts[suspicion] = (account.counts[suspicion] ?? 0) + 1;
  }

  /** Whether an ad of this suspicion is damaged, and by what. */
  condemns(suspicion: number): 'ad_id' | 'page_id' | 'encoding' | null {
    if ((suspicion & LONG_AD_ID) !== 0 && this.#adIds.damaged()) return 'ad_id';
    if ((suspicion & LONG_PAGE_ID) !== 0 && this.#pageIds.damaged()) return 'page_id';
    return (suspicion & REPLACED_CHARACTER) !== 0 && !this.isUtf8 ? 'encoding' : null;
  }

  coverage(account: ScanAccount, collector: string, claimed: boolean): Coverage {
    const pages = [...account.pages.values()].filter(
      ({ page_id }) => !(isLongId(page_id) && this.#pageIds.damaged()),
    );
    return { pages, countries: [...account.key.countries], complete: this.#complete(claimed), collector };
  }

  /** One id for one content: the same ads, coverage and collector in any order. */
  scanId(account: ScanAccount, coverage: Coverage): string {
    const sums = account.sums.filter((_, suspicion) => this.condemns(suspicion) === null);
    const sum = BigInt.asUintN(
      64,
      sums.reduce((all, one) => all + one, 0n),
    );
    const pages = coverage.pages.map(({ page_id }) => page_id).toSorted();
    const content = JSON.stringify([
      String(sum),
      this.ads(account),
      pages,
      coverage.countries,
      coverage.complete,
      coverage.collector,
    ]);
    const fingerprint = createHash('sha256').update(content).digest('hex');
    return scanIdOf(account.key.brandDomain, account.key.scannedAt, fingerprint);
  }

  /** How many ads of the scan will be handed in. */
  ads(account: ScanAccount): number {
    return account.counts.reduce(
      (all, one, suspicion) => all + (this.condemns(suspicion) === null ? one : 0),
      0,
    );
  }

  /** What is missing must not be taken for gone: a file with anything refused is no complete scan. */
  #complete(claimed: boolean): boolean {
    if (this.refused > 0 || this.damaged || this.verdict === false) return false;
    for (const account of this.scans.values()) {
      if (account.counts.some((count, suspicion) => count > 0 && this.condemns(suspicion) !== null))
        return false;
    }
    return this.verdict === true || claimed;
  }

  /**
   * At the end of the first reading: records that did not say for which countries the library was asked
   * belong to the scan of the same brand and moment that did, or to one for all countries.
   */
  settle(): void {
    for (const [id, account] of this.scans) {
      const { key } = account;
      if (key.countries.length > 0) continue;
      const others = [...this.scans.values()]
        .map((other) => other.key)
        .filter((other) => other.countries.length > 0);
      const same = others.find(
        ({ brandDomain, scannedAt }) => brandDomain === key.brandDomain && scannedAt === key.scannedAt,
      );
      const into = this.#account(same ?? withCountries(key, ['ALL']));
      account.sums.forEach((sum, at) => {
        into.sums[at] = BigInt.asUintN(64, (into.sums[at] ?? 0n) + sum);
        into.counts[at] = (into.counts[at] ?? 0) + (account.counts[at] ?? 0);
      });
      for (const [pageId, page] of account.pages) {
        if (into.pages.has(pageId)) continue;
        if (into.pages.size < SCAN_PAGES_MAX) into.pages.set(pageId, page);
        else this.refused += 1;
      }
      into.namesPages ||= account.namesPages;
      this.scans.delete(id);
      this.#settled.set(id, into);
    }
  }

  /** The scan that a record's ad is handed in with; `undefined` when nothing of it is. */
  scanOf(key: ScanKey): ScanAccount | undefined {
    return this.#settled.get(key.id) ?? this.scans.get(key.id);
  }

  #account(key: ScanKey): ScanAccount {
    const known = this.scanOf(key);
    if (known !== undefined) return known;
    const fresh = {
      key,
      sums: Array.from({ length: SUSPICIONS }, () => 0n),
      counts: Array.from({ length: SUSPICIONS }, () => 0),
      pages: new Map(),
      namesPages: false,
    };
    this.scans.set(key.id, fresh);
    return fresh;
  }
}

const hashOf = (id: string): bigint => createHash('sha256').update(id).digest().readBigUInt64BE();
