import { memoize } from 'es-toolkit/function/memoize';
import { z } from 'zod';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { buttonLabel } from '#contracts/values/codes.ts';
import { textKey } from '#contracts/values/comparison/text-key.ts';
import { ctaLabelOf, textOf } from '../fields/ad-fields.ts';

export const Pattern = z
  .string()
  .max(500)
  .refine((text) => {
    try {
      return new RegExp(text, 'u').source !== '';
    } catch {
      return false;
    }
  }, 'not a regular expression');
const Patterns = z.array(Pattern).max(50);

/** Settings of a mapping. */
export const pageNoise = {
  drop_lines: Patterns.optional(),
  drop_endings: Patterns.optional(),
  /** A known button label in the description changes places with the row's unknown one. */
  button_in_description: z.boolean().optional(),
  /** The description repeats the copy's beginning; the link block begins after it. */
  description_repeats_copy: z.boolean().optional(),
  link_block: z
    .strictObject({
      after: Patterns.min(1),
      address: Pattern,
      fields: z.array(z.enum(['title', 'link_description'])).max(2),
    })
    .optional(),
};
type PageNoise = {
  readonly [Name in keyof typeof pageNoise]?: z.infer<(typeof pageNoise)[Name]> | undefined;
};
type AdTexts = Pick<ObservedAd, 'body' | 'title' | 'link_description' | 'caption' | 'cta_text'>;

const LINK_BLOCK_LINES_MAX = 4;
/** Replaces a page element between copy and link block. Stored texts never have this character. */
const BREAK = '\u0000';

/** Removes page elements from the texts of an ad, or moves them to their fields. Compiled once for a variant. */
export const noiseFilter = memoize((noise: PageNoise): ((exported: AdTexts) => AdTexts) => {
  const { link_block: block } = noise;
  const dropped = (noise.drop_lines ?? []).map((pattern) => new RegExp(pattern, 'u'));
  const endings = (noise.drop_endings ?? []).map((pattern) => new RegExp(`(?:${pattern})$`, 'u'));
  const breaks = block === undefined ? null : new RegExp(`^(?:${block.after.join('|')})$`, 'gmu');
  const address = block === undefined ? null : new RegExp(block.address, 'u');
  const isAddress = (line: string): boolean => address?.test(line) === true;

  const linesOf = (text: string | null): readonly string[] => {
    const whole = endings.reduce(
      (rest, ending) => rest.replace(ending, '').trimEnd(),
      (text ?? '').trimEnd(),
    );
    const lines = whole.split('\n').map((line) => line.trim());
    const kept = lines.filter((line) => !dropped.some((pattern) => pattern.test(line)));
    return breaks === null ? kept : kept.join('\n').replaceAll(breaks, BREAK).split('\n');
  };
  const cleaned = (text: string | null): string | null =>
    text === null ? null : textOf(linesOf(text).filter(isCopy).join('\n'));

  const blockStart = (lines: readonly string[], description: string | null): number => {
    const firstCopy = lines.findIndex((line) => isCopy(line) && line !== '');
    const separator = lines.findIndex((line, at) => at > firstCopy && (line === BREAK || isAddress(line)));
    const repeated = noise.description_repeats_copy === true ? linesThatRepeat(lines, description) : -1;
    if (firstCopy === -1) return -1;
    return separator === -1 || repeated === -1
      ? Math.max(separator, repeated)
      : Math.min(separator, repeated);
  };

  const isFilter = Object.keys(noise).some((name) => name in pageNoise);
  if (!isFilter) return (exported) => ({ ...exported, cta_text: ctaLabelOf(exported.cta_text) });
  return (exported) => {
    const { description, label } = withButton(noise, exported, cleaned(exported.link_description));
    const lines = linesOf(exported.body);
    const start = block === undefined ? -1 : blockStart(lines, description);
    const below = start === -1 ? [] : lines.slice(start).filter((line) => isCopy(line) && line !== '');
    const hasBlock = start !== -1 && below.length <= LINK_BLOCK_LINES_MAX;
    const copy = (hasBlock ? lines.slice(0, start) : lines).filter(isCopy);
    const button = hasBlock
      ? takeButton(below, label, 0)
      : block === undefined
        ? null
        : takeButton(copy, label, 1);
    const caption = hasBlock && isAddress(below[0] ?? '') ? (below.shift()?.toLowerCase() ?? null) : null;
    const field = (name: 'title' | 'link_description'): string | null =>
      hasBlock ? (below[block?.fields.indexOf(name) ?? -1] ?? null) : null;
    const repeats = noise.description_repeats_copy === true && linesThatRepeat(lines, description) !== -1;
    return {
      body: textOf(copy.join('\n')),
      title: cleaned(exported.title) ?? field('title'),
      link_description: (repeats ? null : description) ?? field('link_description'),
      caption: exported.caption ?? caption,
      cta_text: ctaLabelOf(label ?? button),
    };
  };
});

const isCopy = (line: string): boolean => line !== BREAK;

const linesThatRepeat = (lines: readonly string[], description: string | null): number => {
  if (description === null) return -1;
  const key = textKey(description);
  let text = '';
  for (const [at, line] of lines.entries()) {
    text = textKey(`${text} ${isCopy(line) ? line : ''}`);
    if (text === key) return at + 1;
    if (!key.startsWith(text)) return -1;
  }
  return -1;
};

const withButton = (
  noise: PageNoise,
  { cta_text }: AdTexts,
  description: string | null,
): { readonly description: string | null; readonly label: string | null } => {
  const swapped =
    noise.button_in_description === true &&
    description !== null &&
    buttonLabel(description) !== null &&
    (cta_text === null || buttonLabel(cta_text) === null);
  return swapped ? { description: cta_text, label: description } : { description, label: cta_text };
};

const takeButton = (lines: string[], label: string | null, remainingMin: number): string | null => {
  const last = lines.at(-1);
  if (last === undefined || lines.length <= remainingMin) return null;
  const isLabel = label === null ? buttonLabel(last) !== null : last.toLowerCase() === label.toLowerCase();
  return isLabel ? (lines.pop() ?? null) : null;
};
