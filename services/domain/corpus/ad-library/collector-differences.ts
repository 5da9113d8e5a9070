import { escapeRegExp } from 'es-toolkit/string/escapeRegExp';
import { differenceWith } from 'es-toolkit/array/differenceWith';
import { zip } from 'es-toolkit/array/zip';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdLook } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { Aspect } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { textKey } from '#contracts/values/comparison/text-key.ts';
import type { ScanHeader } from './scan.ts';
import type { AdState, LibraryState } from './state.ts';
import { compareContent, isBlank, withExistingCards } from './ad-content.ts';
import { type LoggedScan, lastShowing } from './timeline.ts';
import { boundedGroups } from '../../event-size-limit.ts';

/** A frame is a collector's text around the copy, such as a timer (rule 6). Expects texts in the form of `textKey`. */

const FRAME_CHARACTERS_MAX = 200;
/** Time of a player, such as `0:45` or `1:02:33`. */
const CLOCK = /(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])/g;
/** The longer one first. */
const CLOCK_PATTERNS = [
  ['#:#:#', String.raw`\d{1,2}:\d{2}:\d{2}`],
  ['#:#', String.raw`\d{1,2}:\d{2}`],
] as const;

/** Collectors write case, white space, quotes and dashes differently. */
export const normalise = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[‘’‚‛′`]/g, "'")
    .replace(/[“”„‟″]/g, '"')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\s+/g, '')
    .toLowerCase();

/** `#` replaces digits of clocks, since each video has another duration. */
export const withoutClocks = (text: string): string =>
  text.replace(CLOCK, (clock) => clock.replace(/\d+/g, '#'));

/** Clocks and signs alone. */
const isTimer = (piece: string): boolean => !/[\p{L}\p{N}]/u.test(piece.replace(CLOCK, ''));

/** Scripts without blanks between words have no such places. */
const isInsideWord = (text: string, at: number): boolean =>
  /[\p{Lu}\p{Ll}\p{N}]$/u.test(text.slice(0, at)) && /^[\p{Lu}\p{Ll}\p{N}]/u.test(text.slice(at));

type Span = { readonly start: number; readonly end: number };
type Core = { readonly before: Span; readonly after: Span };

/** `null` when the rest is a part of the core's words or numbers. */
const containedCore = (before: string, after: string): Core | null => {
  const [longer, shorter] = after.length >= before.length ? [after, before] : [before, after];
  const start = longer.indexOf(shorter);
  const end = start + shorter.length;
  if (start === -1 || isInsideWord(longer, start) || isInsideWord(longer, end)) return null;
  const [inLonger, whole] = [
    { start, end },
    { start: 0, end: shorter.length },
  ];
  return longer === after ? { before: whole, after: inLonger } : { before: inLonger, after: whole };
};

type Word = Span & { readonly key: string };

const wordsOf = (text: string): readonly Word[] =>
  [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
    key: normalise(word),
  }));

/** Starts only where a frame may end. */
const commonRun = (before: readonly Word[], after: readonly Word[]): Core | null => {
  let longest = 0;
  let core: Core | null = null;
  for (const [i, first] of before.entries()) {
    if (first.start > FRAME_CHARACTERS_MAX) break;
    for (const [j, other] of after.entries()) {
      if (other.start > FRAME_CHARACTERS_MAX) break;
      const isWithinRun = i > 0 && j > 0 && before[i - 1]?.key === after[j - 1]?.key;
      if (isWithinRun) continue;
      let words = 0;
      while (before[i + words] && before[i + words]?.key === after[j + words]?.key) words += 1;
      const last = before[i + words - 1];
      const otherLast = after[j + words - 1];
      if (words === 0 || !last || !otherLast || last.end - first.start <= longest) continue;
      longest = last.end - first.start;
      core = {
        before: { start: first.start, end: last.end },
        after: { start: other.start, end: otherLast.end },
      };
    }
  }
  return core;
};

const outerWord = (side: 'prefix' | 'suffix', piece: string): string =>
  normalise(piece.split(/\s+/).at(side === 'prefix' ? 0 : -1) ?? '');

/** With the same outer word the change lies within the copy, and digits other than those of clocks are the brand's. */
const isOwnChange = (side: 'prefix' | 'suffix', old: string, now: string): boolean => {
  if (isTimer(old) && isTimer(now)) return false;
  return outerWord(side, old) === outerWord(side, now) || /\d/.test(`${old} ${now}`.replace(CLOCK, ''));
};

/** As `<name> <sign><side> <frame>`; `-` was shown before, `+` is shown now. `null` when the texts differ inside. */
export const differingFrames = (name: string, before: string, after: string): readonly string[] | null => {
  const core = containedCore(before, after) ?? commonRun(wordsOf(before), wordsOf(after));
  if (core === null) return null;
  const frames: string[] = [];
  for (const side of ['prefix', 'suffix'] as const) {
    const [old, now] = [[before, core.before] as const, [after, core.after] as const].map(
      ([text, { start, end }]) => (side === 'prefix' ? text.slice(0, start) : text.slice(end)).trim(),
    );
    if (old === undefined || now === undefined) continue;
    if (Math.max(old.length, now.length) > FRAME_CHARACTERS_MAX) return null;
    if (old !== '' && now !== '' && isOwnChange(side, old, now)) return null;
    for (const [sign, piece] of [
      ['-', old],
      ['+', now],
    ] as const) {
      if (piece === '') continue;
      frames.push(`${name} ${sign}${side} ${isTimer(piece) ? withoutClocks(piece) : piece}`);
    }
  }
  return frames;
};

/** Does not match a part of a number. */
const frameAt = (side: 'prefix' | 'suffix', frame: string): RegExp => {
  let pattern = escapeRegExp(frame);
  for (const [clock, digits] of CLOCK_PATTERNS) pattern = pattern.replaceAll(clock, digits);
  return new RegExp(side === 'prefix' ? `^${pattern}(?!\\d)` : `(?<!\\d)${pattern}$`);
};

/** A text that is a frame alone stays. */
export const withoutFrames = (
  name: string,
  sign: '+' | '-',
  text: string,
  frames: readonly string[],
): string => {
  let bare = text;
  for (const side of ['prefix', 'suffix'] as const) {
    const start = `${name} ${sign}${side} `;
    for (const frame of frames) {
      if (!frame.startsWith(start)) continue;
      bare = bare.replace(frameAt(side, frame.slice(start.length)), '').trim() || bare;
    }
  }
  return bare;
};

type Field = keyof AdContent;

type EarlierScan = LoggedScan & {
  readonly header: Pick<ScanHeader, 'collector'>;
  readonly differences: readonly string[];
};

export type CollectorSwitch = {
  /** Differences that repeat on most ads of the scan. */
  readonly differences: readonly string[];
  /** Differences from the collector that showed the field last (rule 6). `null` when that was the scan's own. */
  readonly differencesOf: (ad: AdState, field: Field) => readonly string[] | null;
};

/** The scan's own collector showed all fields of all ads. */
export const NO_SWITCH: CollectorSwitch = { differences: [], differencesOf: () => null };

/** The last scan with a value that is not blank; `undefined` when there is none. */
type LastShowing = (ad: AdState, field: Field, scans: readonly EarlierScan[]) => EarlierScan | undefined;

export const byStoredLooks: LastShowing = ({ looks, moved_at }, field, scans) =>
  lastShowing(looks, scans, field, moved_at);

export const byExpandedLooks =
  (ads: ReadonlyMap<string, ReadonlyMap<string, AdLook>>): LastShowing =>
  ({ ad_id }, field, scans) => {
    const looks = ads.get(ad_id);
    return scans.findLast(({ scan_id }) => !isBlank(looks?.get(scan_id)?.shown?.[field]));
  };

/** Expects the earlier scans in the order of observation. */
export const collectorSwitch = (
  { collector }: Pick<ScanHeader, 'collector'>,
  differences: readonly string[],
  before: readonly EarlierScan[],
  lastShowingOf: LastShowing,
): CollectorSwitch => {
  if (before.every(({ header }) => header.collector === collector)) return NO_SWITCH;
  return {
    differences,
    differencesOf: (ad, field) => {
      const last = lastShowingOf(ad, field, before);
      if (last === undefined || last.header.collector === collector) return null;
      const since = before
        .slice(before.indexOf(last) + 1)
        .filter(({ header }) => header.collector === collector);
      return [...differences, ...since.flatMap((scan) => scan.differences)];
    },
  };
};

type Card = AdContent['cards'][number];

const REPEATED_ADS_MIN = 2;
/** Only labels of buttons are longer than frames. */
const DIFFERENCE_CHARACTERS_MAX = 2_000;
/** With the pages of a large scan they fit into one append. */
const DIFFERENCES_CHARACTERS_MAX = 20_000;

const TEXTS: ReadonlySet<Field> = new Set(['body', 'title', 'link_description']);
const ASPECT_OF_FIELD: Partial<Record<Field, Aspect>> = {
  body: 'copy',
  title: 'copy',
  link_description: 'copy',
  cards: 'copy',
  cta_type: 'cta',
  cta_text: 'cta',
  format: 'format',
  media: 'format',
};

const comparableText = (field: Field, value: AdContent[Field]): string => {
  if (field === 'media') {
    return [...new Set((value as AdContent['media']).map(({ kind }) => kind))].toSorted().join();
  }
  return typeof value === 'string' ? textKey(value) : '';
};

const ELLIPSIS = /(?:…|\.\.\.)$/;
const isCutOff = (text: string, whole: string): boolean =>
  ELLIPSIS.test(text) && whole.startsWith(text.replace(ELLIPSIS, '').trim());

type NamedText = readonly [name: string, text: string];

const textsOfCard = ({ title, body }: Card): readonly NamedText[] => [
  ['cards.title', textKey(title ?? '')],
  ['cards.body', textKey(body ?? '')],
];

/** `null` when the number of cards differs. */
const differingCardTexts = (
  before: readonly Card[],
  after: readonly Card[],
): readonly (readonly [NamedText, NamedText])[] | null => {
  const [old, now] = [before.map(textsOfCard), after.map(textsOfCard)];
  const changed = differenceWith(old, now, isEqual);
  const others = differenceWith(now, old, isEqual);
  if (changed.length !== others.length) return null;
  return zip(changed.flat(), others.flat()).filter(([one, other]) => !isEqual(one, other));
};

const textDifferences = (name: string, a: string, b: string): readonly string[] | null => {
  if (a === '' || b === '') return null;
  if (isCutOff(b, a) || isCutOff(a, b)) return [`${name} cut off`];
  return differingFrames(name, a, b);
};

/** Equal for the same difference on another ad; `null` when it cannot repeat. */
const differencesBetween = (
  field: Field,
  before: AdContent[Field],
  after: AdContent[Field],
): readonly string[] | null => {
  if (field === 'cards') {
    const texts = differingCardTexts(before as AdContent['cards'], after as AdContent['cards']);
    const differences = texts?.map(([[name, a], [, b]]) => textDifferences(name, a, b)) ?? [null];
    return differences.every((one) => one !== null) ? [...new Set(differences.flat())] : null;
  }
  const [a, b] = [comparableText(field, before), comparableText(field, after)];
  return TEXTS.has(field) ? textDifferences(field, a, b) : [`${field} ${a} > ${b}`];
};

const bareKey = (
  field: Field,
  value: AdContent[Field],
  sign: '+' | '-',
  differences: readonly string[],
): string => {
  const bare = ([name, text]: NamedText): string => normalise(withoutFrames(name, sign, text, differences));
  if (field !== 'cards') return bare([field, comparableText(field, value)]);
  return (value as AdContent['cards'])
    .map((card) => textsOfCard(card).map(bare).join('|'))
    .toSorted()
    .join('\n');
};

/** `differences`: those that repeat on most ads. */
export const isCollectorDifference = (
  field: Field,
  before: AdContent[Field],
  after: AdContent[Field],
  differences: readonly string[],
): boolean => {
  if (field === 'link_url') return false;
  if (bareKey(field, before, '-', []) === bareKey(field, after, '+', [])) return true;
  const repeats = (one: string): boolean =>
    differences.includes(one) || differences.includes(withoutClocks(one));
  if (differencesBetween(field, before, after)?.every(repeats)) return true;
  return bareKey(field, before, '-', differences) === bareKey(field, after, '+', differences);
};

export type DifferenceTally = {
  readonly comparable: Map<Field, number>;
  readonly repeated: Map<string, number>;
};

export const emptyTally = (): DifferenceTally => ({ comparable: new Map(), repeated: new Map() });

const addCounts = <Key>(counts: Map<Key, number>, more: ReadonlyMap<Key, number>): void => {
  for (const [key, count] of more) counts.set(key, (counts.get(key) ?? 0) + count);
};

/** Changes the first tally in place. */
export const addTally = (tally: DifferenceTally, more: DifferenceTally): DifferenceTally => {
  addCounts(tally.comparable, more.comparable);
  addCounts(tally.repeated, more.repeated);
  return tally;
};

const FIELDS = Object.keys(ASPECT_OF_FIELD) as readonly Field[];

const isPresent = (value: AdContent[Field]): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== null && value.length > 0;

/** Changes the tally in place. Fields that the scan's own collector showed last do not count. */
export const tallyDifferences =
  ({ differencesOf }: CollectorSwitch, ads: readonly ObservedAd[], tally: DifferenceTally) =>
  (state: LibraryState): DifferenceTally => {
    const add = <Key>(counts: Map<Key, number>, key: Key): void => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (const ad of ads) {
      const existing = state.ads.get(ad.ad_id);
      if (!existing) continue;
      const seen = withExistingCards(existing.content, ad);
      const compared = FIELDS.filter(
        (field) =>
          isPresent(existing.content[field]) &&
          isPresent(seen[field]) &&
          differencesOf(existing, field) !== null,
      );
      if (compared.length === 0) continue;
      for (const field of compared) add(tally.comparable, field);
      const { different } = compareContent(existing.content, seen);
      for (const field of new Set([...different.values()].flat())) {
        if (!compared.includes(field)) continue;
        const own = differencesBetween(field, existing.content[field], seen[field]) ?? [];
        for (const one of new Set([...own, ...own.map(withoutClocks)])) add(tally.repeated, one);
      }
    }
    return tally;
  };

const fieldOf = (difference: string): Field => difference.slice(0, difference.search(/[ .]/)) as Field;

/** On more than half of the comparable ads, and on two. Omits differences of any clocks that repeat with equal ones. */
export const repeatedDifferences = ({ comparable, repeated }: DifferenceTally): readonly string[] => {
  const most = [...repeated]
    .filter(
      ([difference, ads]) => ads >= REPEATED_ADS_MIN && ads * 2 > (comparable.get(fieldOf(difference)) ?? 0),
    )
    .map(([difference]) => difference);
  const inFull = new Set(most.filter((one) => withoutClocks(one) !== one).map(withoutClocks));
  const kept = most.filter((one) => !inFull.has(one) && one.length <= DIFFERENCE_CHARACTERS_MAX).toSorted();
  return boundedGroups(kept, DIFFERENCES_CHARACTERS_MAX)[0] ?? [];
};

export const aspectsOf = (differences: readonly string[]): readonly Aspect[] => [
  ...new Set(differences.map((difference) => ASPECT_OF_FIELD[fieldOf(difference)] ?? 'copy')),
];
