/**
 * Dependency order of observations that are processed concurrently. Observations on one subject (a brand) keep their
 * order. A scan also depends on data that other brands share: earlier scans of its social pages, and the brands that
 * own the domains and pages of its ads. For these, the result equals that of processing one observation at a time.
 */

/** The read and write sets of an observation, used to order concurrent work. Elements are resource names. */
export type AccessSets = { readonly reads: readonly string[]; readonly writes: readonly string[] };

/** Resource: the domains of brands and the social pages linked to them. They decide which brand an ad belongs to. */
const OWNERS = 'owners';
/** Resource: shared by all scans that name no social page, because they may show the same ads. */
const UNNAMED = 'page';
const SCAN = Buffer.from('"ad_library.scan"');
const SCAN_END = Buffer.from('"ad_library.scan_end"');
const LINK = Buffer.from('"social_page.link"');
/** Types of observations that register their brand if it is new. */
const REGISTERING_TYPES = ['"brand.profile"', '"ad_library.scan_end"', '"storefront.scan_end"'].map((type) =>
  Buffer.from(type),
);

/** The parsed fields that the write set depends on. Not validated yet. */
type KeyFields = {
  readonly domain?: unknown;
  readonly brand_domain?: unknown;
  readonly coverage?: { readonly pages?: readonly { readonly page_id?: unknown }[] };
};

const parseKeyFields = (message: Buffer): KeyFields => {
  try {
    return (JSON.parse(message.toString()) ?? {}) as KeyFields;
  } catch {
    // Invalid JSON is refused later, when the message is processed.
    return {};
  }
};

const pageResources = ({ coverage }: KeyFields): readonly string[] => {
  const pages = Array.isArray(coverage?.pages) ? coverage.pages : [];
  return pages.length === 0 ? [UNNAMED] : pages.map((page) => `page ${String(page?.page_id)}`);
};

/**
 * Returns the access sets of a message. The type is found by searching the bytes, because a chunk of a scan is large
 * and is parsed only when it is processed. `isRegistered` returns true for a brand that no observation can register any
 * more.
 */
export const accessSetsOf = async (
  subject: string,
  data: Uint8Array,
  isRegistered: (domain: string) => Promise<boolean>,
): Promise<AccessSets> => {
  const message = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (message.includes(SCAN)) return { reads: [OWNERS], writes: [subject] };
  if (message.includes(LINK)) return { reads: [], writes: [subject, OWNERS] };
  if (!REGISTERING_TYPES.some((type) => message.includes(type))) return { reads: [], writes: [subject] };
  const fields = parseKeyFields(message);
  const domain = fields.brand_domain ?? fields.domain;
  const registers = typeof domain === 'string' && !(await isRegistered(domain));
  const pages = message.includes(SCAN_END) ? pageResources(fields) : [];
  return { reads: [], writes: [subject, ...pages, ...(registers ? [OWNERS] : [])] };
};

/** Pending work on one resource: the last writer, and the readers after it. */
type PendingAccess = { writer: Promise<void>; readers: Promise<void>[] };

/**
 * Scheduler with a read-write lock per resource name. Work waits for all earlier work that writes what it reads or
 * writes, or reads what it writes.
 */
export class DependencyOrder {
  readonly #pending = new Map<string, PendingAccess>();

  /** Runs `work` after the earlier work it depends on. Call in the order of the queue. `work` must not reject. */
  run({ reads, writes }: AccessSets, work: () => Promise<void>): Promise<void> {
    const dependencies = new Set<Promise<void>>();
    for (const name of reads) {
      const pending = this.#pending.get(name);
      if (pending) dependencies.add(pending.writer);
    }
    for (const name of writes) {
      const pending = this.#pending.get(name);
      if (pending) for (const one of [pending.writer, ...pending.readers]) dependencies.add(one);
    }
    const done = Promise.all(dependencies).then(work);
    for (const name of writes) this.#pending.set(name, { writer: done, readers: [] });
    for (const name of reads) this.#pendingOf(name).readers.push(done);
    return done.finally(() => this.#release(done, reads, writes));
  }

  #pendingOf(name: string): PendingAccess {
    const pending = this.#pending.get(name) ?? { writer: Promise.resolve(), readers: [] };
    this.#pending.set(name, pending);
    return pending;
  }

  /** Removes finished work, so that the map holds pending work only. */
  #release(done: Promise<void>, reads: readonly string[], writes: readonly string[]): void {
    for (const name of writes) {
      const pending = this.#pending.get(name);
      if (pending?.writer !== done) continue;
      if (pending.readers.length === 0) this.#pending.delete(name);
      else pending.writer = Promise.resolve();
    }
    for (const name of reads) {
      const pending = this.#pending.get(name);
      if (pending) pending.readers = pending.readers.filter((one) => one !== done);
    }
  }
}
