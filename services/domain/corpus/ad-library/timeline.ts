import { omit, pick } from 'es-toolkit';
import type { AdLook, ShownFields } from '#contracts/events/corpus/ad-library-corrections.ts';

/**
 * The timeline of an ad: what the scans of its brand showed of it. Only looks that do not follow from the one before are
 * stored. A complete scan that fully covered the ad's page without a look of its own shows the same as the look before.
 */

/** Orders scans by time. Scans of the same time are ordered by id (rule 11). */
export const compareScans = (
  a: { readonly observed_at: string; readonly scan_id: string },
  b: { readonly observed_at: string; readonly scan_id: string },
): number => {
  if (a.observed_at !== b.observed_at) return a.observed_at < b.observed_at ? -1 : 1;
  if (a.scan_id === b.scan_id) return 0;
  return a.scan_id < b.scan_id ? -1 : 1;
};

/**
 * Fields that say something about one scan only. All others stay as they were until another value is shown. Countries
 * stay too: they are only ever added to an ad, so a repetition adds none.
 */
const OF_ONE_SCAN = ['stopped_on'] as const;

/** Maximum looks of an ad. Of more, the two oldest become one. */
const LOOKS_MAX = 200;
/** Maximum JSON characters of the looks in one event, which also holds the content of the ad. */
const LOOKS_CHARACTERS_MAX = 100_000;

const bounded = (looks: readonly AdLook[]): readonly AdLook[] => {
  const [first, second, ...others] = looks;
  if (looks.length <= LOOKS_MAX || !first || !second) return looks;
  return [{ ...second, shown: { ...first.shown, ...second.shown } }, ...others];
};

/**
 * Returns the looks as an event holds them. Very long texts are left out: a replay then takes the text as unchanged.
 */
export const looksForEvent = (looks: readonly AdLook[]): readonly AdLook[] => {
  if (JSON.stringify(looks).length <= LOOKS_CHARACTERS_MAX) return looks;
  return looks.map(({ shown, ...look }) => ({
    ...look,
    shown: pick(shown ?? {}, ['page_id', 'page_name', 'started_on', 'countries', ...OF_ONE_SCAN]),
  }));
};

/** Adds a look at its place. A second look of the same scan completes the first. */
export const withLook = (looks: readonly AdLook[], look: AdLook): readonly AdLook[] =>
  bounded(insertLook(looks, look));

const insertLook = (looks: readonly AdLook[], look: AdLook): readonly AdLook[] => {
  const last = looks.at(-1);
  if (last?.scan_id === look.scan_id) {
    return [...looks.slice(0, -1), { ...last, kind: look.kind, shown: { ...last.shown, ...look.shown } }];
  }
  if (last === undefined || compareScans(last, look) < 0) return [...looks, look];
  const others = looks.filter(({ scan_id }) => scan_id !== look.scan_id);
  const same = looks.find(({ scan_id }) => scan_id === look.scan_id);
  const merged = same ? { ...same, kind: look.kind, shown: { ...same.shown, ...look.shown } } : look;
  return [...others, merged].toSorted(compareScans);
};

/** A recorded scan, as the timelines of a brand's ads depend on it. */
export type LoggedScan = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly complete: boolean;
  readonly pageIds: ReadonlySet<string>;
  /** Pages that the scan covered in part only, for this brand. */
  readonly partialPages: ReadonlySet<string>;
  /** False when the scan is not recorded in the brand's stream. It then shows nothing of the ad by itself. */
  readonly recorded: boolean;
};

const carriesOn = (scan: LoggedScan, pageId: string | null): boolean =>
  scan.recorded &&
  scan.complete &&
  pageId !== null &&
  scan.pageIds.has(pageId) &&
  !scan.partialPages.has(pageId);

/**
 * Returns what each scan showed of an ad, by scan id. Expects the scans in the order of observation. `shown` holds all
 * fields shown so far, because a repeated field is not stored.
 */
export const expandLooks = (
  looks: readonly AdLook[],
  scans: readonly LoggedScan[],
): ReadonlyMap<string, AdLook> => {
  const stored = new Map(looks.map((look) => [look.scan_id, look]));
  const expanded = new Map<string, AdLook>();
  let shown: ShownFields = {};
  let kind: AdLook['kind'] | null = null;
  for (const scan of scans) {
    const { scan_id, observed_at } = scan;
    const look = stored.get(scan_id);
    let own: ShownFields = {};
    if (look) {
      kind = look.kind;
      own = pick(look.shown ?? {}, OF_ONE_SCAN);
      if (kind !== 'absent') shown = { ...shown, ...omit(look.shown ?? {}, OF_ONE_SCAN) };
    } else if (kind === null || !carriesOn(scan, shown.page_id ?? null)) continue;
    expanded.set(scan_id, {
      scan_id,
      observed_at,
      kind,
      ...(kind === 'absent' ? {} : { shown: { ...shown, ...own } }),
    });
  }
  return expanded;
};

const differingFields = (before: ShownFields, after: ShownFields): ShownFields =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([field, value]) => JSON.stringify(before[field as keyof ShownFields]) !== JSON.stringify(value),
    ),
  );

/** Returns the looks that must be stored so that `expandLooks` returns the same. */
export const compactLooks = (
  expanded: ReadonlyMap<string, AdLook>,
  scans: readonly LoggedScan[],
): readonly AdLook[] => {
  const looks: AdLook[] = [];
  let shown: ShownFields = {};
  let kind: AdLook['kind'] | null = null;
  for (const scan of scans) {
    const look = expanded.get(scan.scan_id);
    const follows = kind !== null && carriesOn(scan, shown.page_id ?? null);
    if (!look) {
      // A scan without a stored look shows the same as the look before, so this absence must be stored.
      if (follows && kind !== 'absent') {
        looks.push({ scan_id: scan.scan_id, observed_at: scan.observed_at, kind: 'absent' });
        kind = 'absent';
      }
      continue;
    }
    const fresh = look.kind === 'absent' ? {} : differingFields(shown, look.shown ?? {});
    const isSame = look.kind === kind && Object.keys(fresh).length === 0;
    if (!follows || !isSame) looks.push({ ...look, shown: fresh });
    kind = look.kind;
    shown = { ...shown, ...omit(fresh, OF_ONE_SCAN) };
  }
  return looks;
};
