import { SCAN_PAGES_MAX } from '#contracts/observations/ad-library-scan.ts';
import type { VerdictRecord } from './record.ts';

/**
 * Collects a source's own claims that it is complete, one per part (a social page or a search). The last claim of a
 * part counts. The source is complete only when all parts are.
 */
export class Completeness {
  readonly #parts = new Map<string, boolean>();
  #unreliable = false;

  /** Records the claim of a part. */
  claim(part: string, complete: boolean): void {
    if (!this.#parts.has(part) && this.#parts.size >= SCAN_PAGES_MAX) this.#unreliable = true;
    else this.#parts.set(part, complete);
  }

  /**
   * Marks claims of completeness as unreliable for the pages shown. Then only the caller can declare the file
   * complete.
   */
  distrust(): void {
    this.#unreliable = true;
  }

  /** Yields the verdict. Yields nothing when the source made no claim, or its claim to be complete is unreliable. */
  *verdict(): Generator<VerdictRecord> {
    if (this.#parts.size === 0) return;
    const complete = [...this.#parts.values()].every(Boolean);
    if (!complete || !this.#unreliable) yield { kind: 'verdict', complete };
  }
}
