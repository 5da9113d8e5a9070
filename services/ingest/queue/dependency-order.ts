/**
 * In which order observations of different brands are taken when several are worked on at once. Those of one brand
 * keep theirs. Beyond that, what a scan is decided on besides its brand is looked up as if one observation had been
 * taken after the other: which scans looked at its pages before, and whose the names and pages are that its ads show.
 */

/** What an observation is decided on, and what it changes for those behind it. */
export type Touched = { readonly reads: readonly string[]; readonly changes: readonly string[] };

/** Domains of brands, and the pages linked to them: what tells whose an ad is. */
const OWNERS = 'owners';
/** The page of scans that name none: they may show the same ads. */
const UNNAMED = 'page';
const SCAN = Buffer.from('"ad_library.scan"');
const SCAN_END = Buffer.from('"ad_library.scan_end"');
const LINK = Buffer.from('"social_page.link"');
/** Register a brand that nobody named before. */
const REGISTERING = ['"brand.profile"', '"ad_library.scan_end"', '"storefront.scan_end"'].map((type) =>
  Buffer.from(type),
);

type Read = {
  readonly domain?: unknown;
  readonly brand_domain?: unknown;
  readonly coverage?: { readonly pages?: readonly { readonly page_id?: unknown }[] };
};

const read = (message: Buffer): Read => {
  try {
    return (JSON.parse(message.toString()) ?? {}) as Read;
  } catch {
    // It will be refused when its turn comes.
    return {};
  }
};

const pagesOf = ({ coverage }: Read): readonly string[] => {
  const pages = Array.isArray(coverage?.pages) ? coverage.pages : [];
  return pages.length === 0 ? [UNNAMED] : pages.map((page) => `page ${String(page?.page_id)}`);
};

/**
 * Told by the bytes of the type: a chunk of a scan is large, and is parsed when its turn comes. `isKnown`: whether a
 * brand is registered already, so that nothing will register it.
 */
export const touchedBy = async (
  subject: string,
  data: Uint8Array,
  isKnown: (domain: string) => Promise<boolean>,
): Promise<Touched> => {
  const message = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (message.includes(SCAN)) return { reads: [OWNERS], changes: [subject] };
  if (message.includes(LINK)) return { reads: [], changes: [subject, OWNERS] };
  if (!REGISTERING.some((type) => message.includes(type))) return { reads: [], changes: [subject] };
  const said = read(message);
  const domain = said.brand_domain ?? said.domain;
  const registers = typeof domain === 'string' && !(await isKnown(domain));
  const pages = message.includes(SCAN_END) ? pagesOf(said) : [];
  return { reads: [], changes: [subject, ...pages, ...(registers ? [OWNERS] : [])] };
};

type Touching = { change: Promise<void>; reads: Promise<void>[] };

/** Work waits for what was handed in before it and changes what it reads, or reads what it changes. */
export class QueueOrder {
  readonly #touching = new Map<string, Touching>();

  /** Runs work in its turn; it must not reject. Work is handed in in the order of the queue. */
  run({ reads, changes }: Touched, work: () => Promise<void>): Promise<void> {
    const before = new Set<Promise<void>>();
    for (const name of reads) {
      const touching = this.#touching.get(name);
      if (touching) before.add(touching.change);
    }
    for (const name of changes) {
      const touching = this.#touching.get(name);
      if (touching) for (const one of [touching.change, ...touching.reads]) before.add(one);
    }
    const done = Promise.all(before).then(work);
    for (const name of changes) this.#touching.set(name, { change: done, reads: [] });
    for (const name of reads) this.#reading(name).reads.push(done);
    return done.finally(() => this.#forget(done, reads, changes));
  }

  #reading(name: string): Touching {
    const touching = this.#touching.get(name) ?? { change: Promise.resolve(), reads: [] };
    this.#touching.set(name, touching);
    return touching;
  }

  /** Nobody waits for what is done. */
  #forget(done: Promise<void>, reads: readonly string[], changes: readonly string[]): void {
    for (const name of changes) {
      const touching = this.#touching.get(name);
      if (touching?.change !== done) continue;
      if (touching.reads.length === 0) this.#touching.delete(name);
      else touching.change = Promise.resolve();
    }
    for (const name of reads) {
      const touching = this.#touching.get(name);
      if (touching) touching.reads = touching.reads.filter((one) => one !== done);
    }
  }
}
