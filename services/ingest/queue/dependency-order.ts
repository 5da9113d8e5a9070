/**
 * Observations of one ordering key (a brand) keep their order. A scan also depends on earlier scans of its pages and on
 * the owners of domains and pages; its end follows earlier links and registrations, its chunks are only stored. Links
 * and registrations of several brands do not wait for each other or for scans, or a slow one would hold up all; times
 * decide them (rules 10, 11), and `intake/brand-locks.ts` orders those of the same ads.
 */
import type { JsMsg } from 'nats';
import type { Observation } from '#contracts/observations/index.ts';
import { type ObservationMessage, routingOfHeaders } from './observation-message.ts';

export type AccessSets = {
  /** Waits for earlier writers and their joiners; later writers do not wait for it. */
  readonly follows: readonly string[];
  /** Waits for earlier writers, not joiners; later followers and writers wait for it. */
  readonly joins?: readonly string[];
  /** Waits for earlier writers and joiners; later ones wait for it. */
  readonly writes: readonly string[];
  /** A large observation, which may wait long after its turn. */
  readonly isSlow?: boolean;
};

/** Domains of brands and pages linked to them, which decide the brand of an ad. */
const OWNERS = 'owners';
/** Shared by scans that name no social page, because they may show the same ads. */
const UNNAMED = 'page';
/** They register their brand if it is new. A link does too, and always writes the owners. */
const REGISTERING_TYPES: ReadonlySet<string> = new Set<Observation['type']>([
  'brand.profile',
  'ad_library.scan_end',
  'storefront.scan_end',
]);

const hasSetsByHeaders = (type: Observation['type']): boolean => !REGISTERING_TYPES.has(type);

type KeyFields = {
  readonly domain?: unknown;
  readonly brand_domain?: unknown;
  readonly coverage?: { readonly pages?: readonly { readonly page_id?: unknown }[] };
};

const keyFieldsOf = (message: ObservationMessage): KeyFields => {
  try {
    return message.observation() ?? {};
  } catch {
    return {};
  }
};

const pageResources = ({ coverage }: KeyFields): readonly string[] => {
  const pages = Array.isArray(coverage?.pages) ? coverage.pages : [];
  const ids = pages.map((page) => page?.page_id).filter((id) => typeof id === 'string');
  return ids.length === 0 ? [UNNAMED] : ids.map((id) => `page ${id}`);
};

const setsByHeaders = (type: Observation['type'], own: readonly string[]): AccessSets => {
  return { follows: [], joins: type === 'social_page.link' ? [OWNERS] : [], writes: own };
};

const ownOf = (subject: string, orderingKey: string): readonly string[] => [subject, `key ${orderingKey}`];

/** `null` when the sets depend on the body, which is not read when large: one collector could delay all others. */
export const unreadAccessSetsOf = (
  { subject, headers }: Pick<JsMsg, 'subject' | 'headers'>,
  isLarge: boolean,
): AccessSets | null => {
  const routing = routingOfHeaders(headers);
  const own = routing ? ownOf(subject, routing.orderingKey) : [subject];
  if (isLarge) return { follows: [OWNERS], writes: own, isSlow: true };
  const type = routing?.type as Observation['type'] | undefined;
  return type && hasSetsByHeaders(type) ? setsByHeaders(type, own) : null;
};

/**
 * Subjects also keep their order, for publishers without headers. `isRegistered`: no observation can register the
 * brand.
 */
export const accessSetsOf = async (
  message: ObservationMessage,
  isRegistered: (domain: string) => Promise<boolean>,
): Promise<AccessSets> => {
  const routing = message.routing();
  if (routing === null) return { follows: [], writes: [message.subject] };
  const own = ownOf(message.subject, routing.orderingKey);
  const type = routing.type as Observation['type'];
  if (hasSetsByHeaders(type)) return setsByHeaders(type, own);
  const fields = keyFieldsOf(message);
  const domain = fields.brand_domain ?? fields.domain;
  const registers = typeof domain === 'string' && !(await isRegistered(domain));
  if (type !== 'ad_library.scan_end') return { follows: [], joins: registers ? [OWNERS] : [], writes: own };
  const writes = [...own, ...pageResources(fields)];
  return registers ? { follows: [], writes: [...writes, OWNERS] } : { follows: [OWNERS], writes };
};

type PendingWrite = {
  readonly writer: Promise<void>;
  /** Resolves when the writer may run. */
  readonly begins: Promise<unknown>;
  /** Slow itself, or waiting for slow work. */
  readonly isSlow: boolean;
};

/** A link behind a large observation of its brand would else hold up the scans of all brands. */
const withoutOwners = ({ follows, writes }: AccessSets): AccessSets => ({
  follows: [...follows, OWNERS],
  writes: writes.filter((name) => name !== OWNERS),
});

export class DependencyOrder {
  readonly #pending = new Map<string, PendingWrite>();
  readonly #joined = new Map<string, Set<Promise<void>>>();

  /** `prepare` runs as soon as the observations before it run; it may neither read nor write what they do. */
  run(sets: AccessSets, work: () => Promise<void>, prepare?: () => void): Promise<void> {
    const isSlow =
      sets.isSlow === true || sets.writes.some((name) => this.#pending.get(name)?.isSlow === true);
    const { follows, joins = [], writes } = isSlow ? withoutOwners(sets) : sets;
    const dependencies = new Set([
      ...[...follows, ...joins, ...writes].flatMap((name) => this.#pending.get(name)?.writer ?? []),
      ...[...follows, ...writes].flatMap((name) => [...(this.#joined.get(name) ?? [])]),
    ]);
    const begins = Promise.all(dependencies);
    const done = begins.then(work);
    if (prepare) void Promise.all(writes.map(async (name) => this.#pending.get(name)?.begins)).then(prepare);
    for (const name of writes) this.#pending.set(name, { writer: done, begins, isSlow });
    for (const name of joins) this.#joined.set(name, (this.#joined.get(name) ?? new Set()).add(done));
    return done.finally(() => this.#release(done, { joins, writes }));
  }

  /** The maps hold pending work only. */
  #release(done: Promise<void>, { joins = [], writes }: Pick<AccessSets, 'joins' | 'writes'>): void {
    for (const name of writes) if (this.#pending.get(name)?.writer === done) this.#pending.delete(name);
    for (const name of joins) this.#joined.get(name)?.delete(done);
  }
}
