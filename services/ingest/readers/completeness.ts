import { SCAN_PAGES_MAX } from '#contracts/observations/ad-library-scan.ts';
import type { VerdictRecord } from './record.ts';

/**
 * Gathers what a source says about having been read to its end: by parts (a page, a search), of which
 * the last word counts. Complete only when every part says so.
 */
export class Completeness {
  readonly #parts = new Map<string, boolean>();
  #doubted = false;

  says(part: string, complete: boolean): void {
    if (!this.#parts.has(part) && this.#parts.size >= SCAN_PAGES_MAX) this.#doubted = true;
    else this.#parts.set(part, complete);
  }

  /** What the source says proves nothing for the pages it shows; only whoever hands it in can say more. */
  doubt(): void {
    this.#doubted = true;
  }

  /** Nothing when the source never said, or said what cannot be relied on. */
  *verdict(): Generator<VerdictRecord> {
    if (this.#parts.size === 0) return;
    const complete = [...this.#parts.values()].every(Boolean);
    if (!complete || !this.#doubted) yield { kind: 'verdict', complete };
  }
}
