import { type ScanKey, withCountries } from './scan-key.ts';

/** Rows of one scan lie at most this far apart. */
export const SCAN_MAX_MS = 6 * 60 * 60 * 1_000;

type Span = { from: number; to: number };

/** Groups rows of a brand into scans, each at its newest time. One span per `SCAN_MAX_MS` bounds the memory. */
export class RowTimes {
  readonly #byRow: boolean;
  readonly #spans = new Map<string, Map<number, Span>>();
  /** Empty while each brand has one scan. */
  #scans = new Map<string, readonly Span[]>();

  /** `byRow`: each time is a scan of its own. */
  constructor(byRow: boolean) {
    this.#byRow = byRow;
  }

  /** The key has no time while the brand has one scan. */
  scanOf(row: ScanKey): ScanKey {
    if (this.#byRow) return row;
    const time = Date.parse(row.scannedAt);
    const spans = this.#spans.get(row.brandDomain) ?? new Map<number, Span>();
    this.#spans.set(row.brandDomain, spans);
    const slot = Math.floor(time / SCAN_MAX_MS);
    const { from, to } = spans.get(slot) ?? { from: time, to: time };
    spans.set(slot, { from: Math.min(from, time), to: Math.max(to, time) });
    const scan = this.#scans.get(row.brandDomain)?.find((one) => time <= one.to);
    return withCountries({ ...row, scannedAt: scan === undefined ? '' : isoOf(scan.to) }, row.countries);
  }

  /** True when the pass must be repeated with the separated scans. */
  separate(): boolean {
    if (this.#scans.size > 0) return false;
    const scans = [...this.#spans].map(([brand, spans]) => [brand, joined([...spans.values()])] as const);
    if (scans.every(([, { length }]) => length === 1)) return false;
    this.#scans = new Map(scans);
    return true;
  }

  timed(key: ScanKey): ScanKey {
    if (key.scannedAt !== '') return key;
    const spans = [...(this.#spans.get(key.brandDomain)?.values() ?? [])];
    return { ...key, scannedAt: isoOf(Math.max(...spans.map(({ to }) => to))) };
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

const joined = (spans: readonly Span[]): readonly Span[] => {
  const scans: Span[] = [];
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    const last = scans.at(-1);
    if (last !== undefined && to - last.from <= SCAN_MAX_MS) last.to = to;
    else scans.push({ from, to });
  }
  return scans;
};
