import type { RecordedEvent } from '#contracts/events/event.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { StorefrontEvent } from '#contracts/events/corpus/storefront.ts';
import type { Progress } from '../checkpoint.ts';
import { EVERY_RULE, type RuleRange } from './active-rules.ts';

/** About a kilobyte each. A batch whose brands have more is halved, down to one event. As many stay in memory between batches. */
export const RULES_MAX = 20_000;
/** Rules that a batch changes. Each has up to 500 brands, and is written whole. */
const CHANGED_RULES_MAX = 200;

/** Types on which rules may fire; other events need no rules in memory. */
const MAY_FIRE: Readonly<
  Record<(AdLibraryEvent | BrandEvent | SocialPageEvent | StorefrontEvent)['type'], boolean>
> = {
  AdStarted: true,
  AdConfirmedInactive: true,
  AdDestinationChanged: true,
  AdRevised: false,
  AdDetailsObserved: false,
  AdReturned: false,
  AdsMissed: false,
  AdsSeen: false,
  AdsStillInactive: false,
  AdsReworded: false,
  AdObservationCorrected: false,
  AdAttributed: false,
  ScanCorrected: false,
  ScanRecorded: true,
  BrandRegistered: false,
  BrandProfileChanged: false,
  PageLinked: true,
  PageUnlinked: false,
  PageLinkQuarantined: false,
  PageLinkObserved: false,
  PageProfileObserved: false,
  ProductsListed: false,
  ProductsChanged: false,
  ProductsMissed: false,
  ProductsSeen: false,
  ProductsDelisted: false,
  StorefrontScanRecorded: true,
};

/** Returns whether rules of the event's brand may fire on it. */
export const mayFire = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  (MAY_FIRE as Readonly<Record<string, boolean>>)[type] === true;

type LoadedState = Pick<Progress, 'brands' | 'rules' | 'untracked' | 'pendingDigests' | 'waitingStreams'>;

type Named = { readonly brand_id?: string; readonly alert_id?: string };

const idsOf = (events: readonly RecordedEvent[], name: keyof Named): readonly string[] => {
  const ids = new Set<string>();
  for (const { data } of events) {
    const id = (data as Named)[name];
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
};

const load = async (
  { brands, rules, untracked, pendingDigests, waitingStreams }: LoadedState,
  events: readonly RecordedEvent[],
  range: RuleRange,
  rulesMax: number | null,
): Promise<boolean> => {
  // The data of an unreadable event can have any shape.
  const readable = events.filter(({ unreadable }) => unreadable === undefined);
  const changing = idsOf(readable, 'alert_id');
  if (rulesMax !== null && changing.length > CHANGED_RULES_MAX) return false;
  const scanned = idsOf(
    readable.filter(({ type }) => type === 'ScanRecorded'),
    'brand_id',
  );
  const brandIds = idsOf(readable.filter(mayFire), 'brand_id');
  // Each event waits for these statements, so they run at the same time.
  const [pendingFit, rulesFit] = await Promise.all([
    pendingDigests.load(scanned, range, rulesMax),
    rules.load({ brandIds, range, changing }, rulesMax),
    untracked.load(idsOf(readable, 'brand_id')),
    waitingStreams.load([...new Set(events.map(({ stream }) => stream))]),
    brands.load(readable),
  ]);
  if (!pendingFit || !rulesFit) return false;
  return rules.load({ others: pendingDigests.alertIdsOf(scanned) });
};

/**
 * Returns the number of events, from the first one, whose state is loaded. 0: the first event's brand has more than
 * `rulesMax` rules.
 */
export const loadState = async (
  state: LoadedState,
  events: readonly RecordedEvent[],
  rulesMax: number,
): Promise<number> => {
  for (let count = events.length; count > 0; count = Math.floor(count / 2)) {
    if (await load(state, events.slice(0, count), EVERY_RULE, rulesMax)) return count;
    forgetState(state);
  }
  return 0;
};

export const loadRange = async (
  state: LoadedState,
  event: RecordedEvent,
  range: RuleRange,
): Promise<void> => {
  await load(state, [event], range, null);
};

/** Loads the state of all events, however many rules their brands have. */
export const loadWhole = async (state: LoadedState, events: readonly RecordedEvent[]): Promise<void> => {
  await load(state, events, EVERY_RULE, null);
};

export const forgetState = ({
  brands,
  rules,
  untracked,
  pendingDigests,
  waitingStreams,
}: LoadedState): void => {
  for (const one of [brands, rules, untracked, pendingDigests, waitingStreams]) one.forget();
};

/**
 * Keeps the state for the next batches, so that events of the same brands wait for no statement: this process alone
 * changes it. Forgets all of it where any part has more than `sizeMax`.
 */
export const trimState = (state: LoadedState, sizeMax: number): void => {
  const { brands, rules, untracked, pendingDigests, waitingStreams } = state;
  const sizes = [rules.trim(), brands.size(), untracked.size(), pendingDigests.size(), waitingStreams.size()];
  if (Math.max(...sizes) > sizeMax) forgetState(state);
};
