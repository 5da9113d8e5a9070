import type { AdLibraryScanEnd } from '#contracts/observations/ad-library-scan.ts';
import { type Observation, observedAtOf } from '#contracts/observations/index.ts';

const LISTED_MAX = 20;
const PAGES_LISTED_MAX = 3;

type Others = {
  count: number;
  products: number;
  firstAt: string;
  lastAt: string;
  /** `null` for types that do not say whether they are complete. */
  complete: number | null;
  readonly subjects: Set<string>;
};

/** Contents of a file for a dry run. Memory does not grow with the file. */
export class FileContents {
  readonly #ads = new Map<string, number>();
  readonly #scans: string[] = [];
  #isEmpty = true;
  #completeScans = 0;
  #scanCount = 0;
  /** `null` for files of observations, which say themselves whether they are complete. */
  verdict: { readonly reason: string } | null = null;
  readonly #others = new Map<string, Others>();

  isEmpty(): boolean {
    return this.#isEmpty;
  }

  add(observation: Observation): void {
    this.#isEmpty &&= saysNothing(observation);
    switch (observation.type) {
      case 'ad_library.scan':
        this.#ads.set(
          observation.scan_id,
          (this.#ads.get(observation.scan_id) ?? 0) + observation.ads.length,
        );
        return;
      case 'ad_library.scan_end':
        this.#scanCount += 1;
        if (observation.coverage.complete) this.#completeScans += 1;
        if (this.#scans.length < LISTED_MAX)
          this.#scans.push(scanLine(observation, this.#ads.get(observation.scan_id) ?? 0));
        this.#ads.delete(observation.scan_id);
        return;
      default:
        this.#addOther(observation);
    }
  }

  #addOther(observation: Observation): void {
    const at = observedAtOf(observation);
    const others = this.#others.get(observation.type) ?? {
      count: 0,
      products: 0,
      firstAt: at,
      lastAt: at,
      complete: null,
      subjects: new Set<string>(),
    };
    others.count += 1;
    // Compared as times: texts of one time may differ in precision.
    if (Date.parse(at) < Date.parse(others.firstAt)) others.firstAt = at;
    if (Date.parse(at) > Date.parse(others.lastAt)) others.lastAt = at;
    if ('products' in observation) others.products += observation.products.length;
    if ('complete' in observation) others.complete = (others.complete ?? 0) + (observation.complete ? 1 : 0);
    if ('domain' in observation && others.subjects.size <= PAGES_LISTED_MAX)
      others.subjects.add(observation.domain);
    this.#others.set(observation.type, others);
  }

  lines(): readonly string[] {
    const [scans, complete] = [this.#scanCount, this.#completeScans];
    const reason = this.verdict === null ? '' : `: ${this.verdict.reason}`;
    return [
      ...this.#scans,
      ...(scans > LISTED_MAX ? [`… and ${scans - LISTED_MAX} more scans`] : []),
      ...(scans > 0 ? [`${counted(scans, 'scan')}, ${complete} complete${reason}`] : []),
      ...[...this.#others].map(([type, others]) => otherLine(type, others)),
    ];
  }
}

const saysNothing = (observation: Observation): boolean =>
  observation.type === 'ad_library.scan_end' && observation.chunks === 0 && !observation.coverage.complete;

export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

const listed = (names: readonly string[], max: number): string =>
  [...names.slice(0, max), ...(names.length > max ? ['…'] : [])].join(', ');

const scanLine = ({ brand_domain, scanned_at, coverage }: AdLibraryScanEnd, ads: number): string => {
  const { pages, countries, complete, collector } = coverage;
  const pageNames = pages
    .slice(0, PAGES_LISTED_MAX + 1)
    .map(({ page_id, page_name }) => (page_name === null ? page_id : `${page_id} ${page_name}`));
  return (
    `scan of ${brand_domain} at ${scanned_at}: ${counted(ads, 'ad')}; ` +
    `${counted(pages.length, 'page')}${pages.length === 0 ? '' : ` (${listed(pageNames, PAGES_LISTED_MAX)})`}; ` +
    `countries ${listed(countries, LISTED_MAX)}; ${complete ? 'complete' : 'not complete'}; collector ${collector}`
  );
};

const otherLine = (
  type: string,
  { count, products, firstAt, lastAt, complete, subjects }: Others,
): string => {
  const parts = [
    `${counted(count, 'observation')} ${type}${firstAt === lastAt ? ` at ${firstAt}` : ` from ${firstAt} to ${lastAt}`}`,
    ...(subjects.size === 0 ? [] : [listed([...subjects], PAGES_LISTED_MAX)]),
    ...(products === 0 ? [] : [counted(products, 'product')]),
    ...(complete === null ? [] : [`${complete} of ${count} complete`]),
  ];
  return parts.join('; ');
};
