import type { RecordedEvent } from '#contracts/events/event.ts';
import type { Progress } from '../checkpoint.ts';

/**
 * Maximum rules of a batch's brands in memory, about a kilobyte each. A batch whose brands have more is halved, down to
 * one brand.
 */
const RULES_MAX = 20_000;

type LoadedState = Pick<Progress, 'rules' | 'untracked' | 'pendingDigests'>;

type Named = { readonly brand_id?: string; readonly alert_id?: string };

const idsOf = (events: readonly RecordedEvent[], name: keyof Named, type?: string): readonly string[] => {
  const ids = new Set<string>();
  for (const event of events) {
    // The data of an unreadable event can have any shape.
    if (event.unreadable !== undefined || (type !== undefined && event.type !== type)) continue;
    const id = (event.data as Named)[name];
    if (id !== undefined) ids.add(id);
  }
  return [...ids];
};

/**
 * Loads the rules, untracked brands and instant alerts that these events refer to, so that matching needs no I/O. Returns
 * the number of events, from the first one, for which it did.
 */
export const loadState = async (
  { rules, untracked, pendingDigests }: LoadedState,
  events: readonly RecordedEvent[],
  rulesMax: number | null = RULES_MAX,
): Promise<number> => {
  for (let count = events.length; ; count = Math.ceil(count / 2)) {
    const some = events.slice(0, count);
    const brandIds = idsOf(some, 'brand_id');
    const scanned = idsOf(some, 'brand_id', 'ScanRecorded');
    await pendingDigests.load(scanned);
    const wanted = {
      brandIds,
      changing: idsOf(some, 'alert_id'),
      others: pendingDigests.alertIdsOf(scanned),
    };
    // Half the events of one brand need as many rules.
    if (!(await rules.load(wanted, brandIds.length > 1 ? rulesMax : null))) continue;
    await untracked.load(brandIds);
    return count;
  }
};

/** Removes from memory what `loadState` loaded. */
export const forgetState = ({ rules, untracked, pendingDigests }: LoadedState): void => {
  rules.forget();
  untracked.forget();
  pendingDigests.forget();
};
