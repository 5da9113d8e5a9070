import { difference } from 'es-toolkit/array/difference';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { omit } from 'es-toolkit/object/omit';
import { omitBy } from 'es-toolkit/object/omitBy';
import { pick } from 'es-toolkit/object/pick';
import type { AdLook } from '#contracts/events/corpus/ad-library-corrections.ts';
import type {
  AdCardContent,
  AdContent,
  BlankField,
  ShownFields,
} from '#contracts/events/corpus/ad-library-values.ts';
import { isBlank } from './ad-content.ts';

/**
 * Stores only looks that do not follow from the one before. A complete scan without a stored look, which fully covered
 * the page, showed the same as the look before.
 */

/** By time, then by id (rule 11). */
export const compareScans = (
  a: { readonly observed_at: string; readonly scan_id: string },
  b: { readonly observed_at: string; readonly scan_id: string },
): number => {
  if (a.observed_at !== b.observed_at) return a.observed_at < b.observed_at ? -1 : 1;
  if (a.scan_id === b.scan_id) return 0;
  return a.scan_id < b.scan_id ? -1 : 1;
};

/** In the order of observation. */
export const isLate = (
  { scan_id, scanned_at }: { readonly scan_id: string; readonly scanned_at: string },
  recorded: readonly { readonly scan_id: string; readonly observed_at: string }[],
): boolean => recorded.some((other) => compareScans({ scan_id, observed_at: scanned_at }, other) < 0);

/** Other fields stay until another value is shown, as do countries, which are only added. */
const OF_ONE_SCAN = ['stopped_on'] as const;

/** Their last value shown counts. For other fields a blank decides the same as a repetition. */
const BLANKABLE: readonly BlankField[] = [
  'body',
  'title',
  'link_description',
  'caption',
  'cta_type',
  'cta_text',
  'link_url',
  'format',
  'platforms',
  'languages',
  'media',
  'cards',
  'versions',
  'started_on',
  'branded_content',
];

/** Shown earlier, and left blank now. Both sides may have blank values. */
export const blankFields = (
  known: Partial<Record<BlankField, unknown>>,
  shown: Partial<Record<BlankField, unknown>>,
): readonly BlankField[] => BLANKABLE.filter((field) => !isBlank(known[field]) && isBlank(shown[field]));

export const blankSince = (looks: readonly AdLook[]): readonly BlankField[] =>
  looks.findLast(({ kind, blank }) => kind !== 'absent' || blank)?.blank ?? [];

export const cardsSince = (looks: readonly AdLook[]): readonly AdCardContent[] =>
  looks.findLast(({ shown }) => !isBlank(shown?.cards))?.shown?.cards ?? [];

/** `null` when it showed none, or the ad as running. */
export const stopDateSince = (looks: readonly AdLook[]): string | null => {
  const last = looks.at(-1);
  return last?.kind === 'ended' ? (last.shown?.stopped_on ?? null) : null;
};

/** Beyond this, the two oldest become one. */
const LOOKS_MAX = 200;
/** Characters of these looks are not counted. */
const LOOKS_UNCOUNTED = 20;
/** Leaves room for the content of the ad in the same event. */
const LOOKS_CHARACTERS_MAX = 100_000;

/** Each look is counted once: all looks of an ad are counted again with each new one. */
const charactersOfLooks = new WeakMap<AdLook, number>();

const charactersOfLook = (look: AdLook): number => {
  const characters = charactersOfLooks.get(look) ?? JSON.stringify(look).length;
  charactersOfLooks.set(look, characters);
  return characters;
};

/** Length of the looks as a JSON array. */
const charactersOf = (looks: readonly AdLook[]): number =>
  looks.reduce((sum, look) => sum + charactersOfLook(look), 1 + Math.max(1, looks.length));

const isTooMuch = (looks: readonly AdLook[]): boolean =>
  looks.length > LOOKS_MAX || (looks.length > LOOKS_UNCOUNTED && charactersOf(looks) > LOOKS_CHARACTERS_MAX);

/** Limits the looks of an ad whose long text changes with each scan. */
const bounded = (looks: readonly AdLook[]): readonly AdLook[] => {
  let kept = looks;
  while (isTooMuch(kept)) {
    const [first, second, ...others] = kept;
    if (!first || !second) return kept;
    const blank = second.kind === 'absent' ? first.blank : second.blank;
    const shown = { ...omit(first.shown ?? {}, OF_ONE_SCAN), ...second.shown };
    kept = [{ ...omit(second, ['blank']), shown, ...(blank ? { blank } : {}) }, ...others];
  }
  return kept;
};

/** Leaves out very long texts: a replay takes them as unchanged. */
export const looksForEvent = (looks: readonly AdLook[]): readonly AdLook[] => {
  if (charactersOf(looks) <= LOOKS_CHARACTERS_MAX) return looks;
  return looks.map(({ shown, ...look }) => ({
    ...look,
    shown: pick(shown ?? {}, ['page_id', 'page_name', 'started_on', 'countries', ...OF_ONE_SCAN]),
  }));
};

const lookOf = (look: AdLook, blank: readonly BlankField[]): AdLook => ({
  ...omit(look, ['blank']),
  ...(blank.length > 0 && look.kind !== 'absent' ? { blank } : {}),
});

/** A second look of the same scan completes the first. Blank fields default to those of the look before. */
export const withLook = (looks: readonly AdLook[], look: AdLook): readonly AdLook[] =>
  bounded(insertLook(looks, look));

const insertLook = (looks: readonly AdLook[], look: AdLook): readonly AdLook[] => {
  const last = looks.at(-1);
  const isLast = last === undefined || compareScans(last, look) <= 0;
  const before = isLast ? looks : looks.filter((other) => compareScans(other, look) <= 0);
  const same = before.at(-1)?.scan_id === look.scan_id ? before.at(-1) : undefined;
  const blank = look.blank ?? difference(blankSince(before), Object.keys(look.shown ?? {}) as BlankField[]);
  const merged = lookOf(same ? { ...same, ...look, shown: { ...same.shown, ...look.shown } } : look, blank);
  return [...(same ? before.slice(0, -1) : before), merged, ...looks.slice(before.length)];
};

export type LoggedScan = {
  readonly scan_id: string;
  readonly observed_at: string;
  readonly complete: boolean;
  readonly pageIds: ReadonlySet<string>;
  /** Covered in part only, for this brand. */
  readonly partialPages: ReadonlySet<string>;
  /** False when outside the brand's stream. It then shows nothing of the ad by itself. */
  readonly recorded: boolean;
};

/** After all times. An ad that moved then has every look stored. */
export const END_OF_TIME = '9999';

/** `movedAt`: since the last move, scans imply looks. */
const carriesOn = (scan: LoggedScan, pageId: string | null, movedAt: string): boolean =>
  scan.observed_at >= movedAt &&
  scan.recorded &&
  scan.complete &&
  pageId !== null &&
  scan.pageIds.has(pageId) &&
  !scan.partialPages.has(pageId);

/** By scan id. Expects the scans in the order of observation. `shown` also has fields stored for an earlier look. */
export const expandLooks = (
  looks: readonly AdLook[],
  scans: readonly LoggedScan[],
  movedAt = '',
): ReadonlyMap<string, AdLook> => {
  const stored = new Map(looks.map((look) => [look.scan_id, look]));
  const expanded = new Map<string, AdLook>();
  let shown: ShownFields = {};
  let blank: readonly BlankField[] = [];
  let kind: AdLook['kind'] | null = null;
  let own: ShownFields = {};
  for (const scan of scans) {
    const { scan_id, observed_at } = scan;
    const look = stored.get(scan_id);
    if (look) {
      kind = look.kind;
      own = pick(look.shown ?? {}, OF_ONE_SCAN);
      shown = { ...shown, ...omitBy(omit(look.shown ?? {}, OF_ONE_SCAN), (value) => value === null) };
      if (kind !== 'absent' || look.blank) blank = look.blank ?? [];
    } else if (kind === null || !carriesOn(scan, shown.page_id ?? null, movedAt)) continue;
    expanded.set(scan_id, {
      scan_id,
      observed_at,
      kind,
      ...(kind === 'absent' ? {} : { shown: { ...omit(shown, blank), ...own } }),
    });
  }
  return expanded;
};

/** `undefined` when no scan showed the field non-blank. Expects the scans in the order of observation. */
export const lastShowing = <Scan extends LoggedScan>(
  looks: readonly AdLook[],
  scans: readonly Scan[],
  field: keyof AdContent,
  movedAt = '',
): Scan | undefined => {
  const first = looks.findIndex(({ shown }) => !isBlank(shown?.[field]));
  if (first === -1) return undefined;
  let at = looks.length - 1;
  return scans.findLast((scan) => {
    while (at >= first && compareScans(looks[at] as AdLook, scan) > 0) at -= 1;
    const look = looks[at];
    if (at < first || look === undefined || look.kind === 'absent') return false;
    const pageId = looks.slice(0, at + 1).findLast(({ shown }) => shown?.page_id != null)?.shown?.page_id;
    if (look.scan_id !== scan.scan_id && !carriesOn(scan, pageId ?? null, movedAt)) return false;
    return !(look.blank ?? []).includes(field);
  });
};

const differingFields = (before: ShownFields, after: ShownFields): ShownFields =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([field, value]) => JSON.stringify(before[field as keyof ShownFields]) !== JSON.stringify(value),
    ),
  );

/** `expandLooks` returns the same from these. */
export const compactLooks = (
  expanded: ReadonlyMap<string, AdLook>,
  scans: readonly LoggedScan[],
  movedAt = '',
): readonly AdLook[] => {
  const looks: AdLook[] = [];
  let shown: ShownFields = {};
  let blank: readonly BlankField[] = [];
  let kind: AdLook['kind'] | null = null;
  let own: ShownFields = {};
  for (const scan of scans) {
    const look = expanded.get(scan.scan_id);
    const follows = kind !== null && carriesOn(scan, shown.page_id ?? null, movedAt);
    if (!look) {
      // A scan without a stored look shows the same as the look before, so this absence must be stored.
      if (follows && kind !== 'absent') {
        looks.push({ scan_id: scan.scan_id, observed_at: scan.observed_at, kind: 'absent' });
        kind = 'absent';
      }
      continue;
    }
    const fresh = look.kind === 'absent' ? {} : differingFields(shown, look.shown ?? {});
    const left = look.kind === 'absent' ? blank : blankFields(shown, look.shown ?? {});
    const lasting = omit(fresh, OF_ONE_SCAN);
    const ofScan = pick(fresh, OF_ONE_SCAN);
    const isShownSame = Object.keys(lasting).length === 0 && isEqual(ofScan, own) && isEqual(left, blank);
    if (!follows || look.kind !== kind || !isShownSame) looks.push(lookOf({ ...look, shown: fresh }, left));
    blank = left;
    kind = look.kind;
    shown = { ...shown, ...lasting };
    own = ofScan;
  }
  return looks;
};
