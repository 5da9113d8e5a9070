/**
 * Dependency order of observations that are processed concurrently. Observations with the same ordering key (a
 * brand) keep their order. A scan also depends on data that other brands share: earlier scans of its social pages, and the brands that
 * own the domains and pages of its ads. Its end comes after the links and registrations in front of it; its chunks are only
 * stored until then.
 *
 * Links and registrations of different brands wait neither for each other nor for scans, except for one that registers its
 * brand: a slow one would hold up those of all brands. Each is decided at its own time, whichever is recorded first (rules 10
 * and 11). Where two concern the same ads or brand, locks let one wait for the other (`intake/brand-locks.ts`).
 */
import type { JsMsg } from 'nats';
import type { Observation } from '#contracts/observations/index.ts';
import { type ObservationMessage, routingOfHeaders } from './observation-message.ts';

/** The resources that an observation follows and writes, by name. They order concurrent work. */
export type AccessSets = {
  /** It waits for earlier writers of these and those that joined them, and later ones do not wait for it. */
  readonly follows: readonly string[];
  /** It waits for earlier writers of these, and for none that joined them. Later ones that follow or write them wait for it. */
  readonly joins?: readonly string[];
  /** It waits for earlier writers of these and those that joined them, and later ones wait for it. */
  readonly writes: readonly string[];
  /** True for a large observation, which may wait for long after its turn has come. */
  readonly isSlow?: boolean;
};

/** Resource: the domains of brands and the social pages linked to them. They decide which brand an ad belongs to. */
const OWNERS = 'owners';
/** Resource: shared by all scans that name no social page, because they may show the same ads. */
const UNNAMED = 'page';
/** Types of observations that register their brand if it is new. A link does so too, and always writes the owners. */
const REGISTERING_TYPES: ReadonlySet<string> = new Set<Observation['type']>([
  'brand.profile',
  'ad_library.scan_end',
  'storefront.scan_end',
]);

/** Types whose access sets follow from their headers alone. */
const hasSetsByHeaders = (type: Observation['type']): boolean => !REGISTERING_TYPES.has(type);

/** The fields that the write set depends on. Not validated yet. */
type KeyFields = {
  readonly domain?: unknown;
  readonly brand_domain?: unknown;
  readonly coverage?: { readonly pages?: readonly { readonly page_id?: unknown }[] };
};

/** Returns the fields of a message, without fields when it is refused at processing. */
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

/** Returns the access sets of a type of observation that needs no content for them. */
const setsByHeaders = (type: Observation['type'], own: readonly string[]): AccessSets => {
  return { follows: [], joins: type === 'social_page.link' ? [OWNERS] : [], writes: own };
};

const ownOf = (subject: string, orderingKey: string): readonly string[] => [subject, `key ${orderingKey}`];

/**
 * Returns the access sets of a message whose body was not read; `null` when they depend on it. A large body is never read
 * for them, because a collector could hold up everybody by large bodies. A large message without headers is ordered by its
 * subject.
 */
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
 * Returns the access sets of a message. Only messages that may register a brand are parsed here: the sets depend on
 * their fields. Observations with the same subject keep their order too, so that messages of publishers without
 * headers, and of publishers that choose their own subjects, stay in order. `isRegistered` returns true for a brand that
 * no observation can register any more.
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

/** The last pending writer of a resource. */
type PendingWrite = {
  readonly writer: Promise<void>;
  /** True when it is slow, or waits for slow work. */
  readonly isSlow: boolean;
};

/**
 * Returns the sets of work that is slow, or waits for slow work: later work does not wait for it because of the owners.
 * Otherwise a link behind a large observation of its brand would hold up the scans of all brands.
 */
const withoutOwners = ({ follows, writes }: AccessSets): AccessSets => ({
  follows: [...follows, OWNERS],
  writes: writes.filter((name) => name !== OWNERS),
});

/** Scheduler with a queue per resource name. Work waits for the earlier work that its sets name. */
export class DependencyOrder {
  readonly #pending = new Map<string, PendingWrite>();
  readonly #joined = new Map<string, Set<Promise<void>>>();

  /** Runs `work` after the earlier work it depends on. Call in the order of the queue. `work` must not reject. */
  run(sets: AccessSets, work: () => Promise<void>): Promise<void> {
    const isSlow =
      sets.isSlow === true || sets.writes.some((name) => this.#pending.get(name)?.isSlow === true);
    const { follows, joins = [], writes } = isSlow ? withoutOwners(sets) : sets;
    const dependencies = new Set([
      ...[...follows, ...joins, ...writes].flatMap((name) => this.#pending.get(name)?.writer ?? []),
      ...[...follows, ...writes].flatMap((name) => [...(this.#joined.get(name) ?? [])]),
    ]);
    const done = Promise.all(dependencies).then(work);
    for (const name of writes) this.#pending.set(name, { writer: done, isSlow });
    for (const name of joins) this.#joined.set(name, (this.#joined.get(name) ?? new Set()).add(done));
    return done.finally(() => this.#release(done, { joins, writes }));
  }

  /** Removes finished work, so that the maps hold pending work only. */
  #release(done: Promise<void>, { joins = [], writes }: Pick<AccessSets, 'joins' | 'writes'>): void {
    for (const name of writes) if (this.#pending.get(name)?.writer === done) this.#pending.delete(name);
    for (const name of joins) this.#joined.get(name)?.delete(done);
  }
}
