import { CATEGORY_LEVELS_MAX } from '#contracts/observations/brand-profile.ts';
import { refusal } from '../record.ts';
import type { SideReader } from '../side-record.ts';
import { NO_TIME } from '../scan-key.ts';
import type { Source } from '../parsing/open-source.ts';

const LINE_MAX_CHARACTERS = 64 * 1024;

const LINE = /^([0-9]{1,20}) - (.+)$/;
/** Header line with the taxonomy's name and date, such as `# Google_Product_Taxonomy_Version: 2021-09-21`. */
const VERSION = /^#\s*([A-Za-z0-9_]+)_Version:\s*(\d{4}-\d{2}-\d{2})\s*$/;

export const isTaxonomyLine = (text: string): boolean => LINE.test(text);

/** Returns the taxonomy's name, and its date as the time to use without --scanned-at. `null` for another comment. */
export const taxonomyVersionOf = (header: string): { taxonomy: string; observedAt: string } | null => {
  const [, name = '', day = ''] = VERSION.exec(header) ?? [];
  if (name === '' || Number.isNaN(Date.parse(day))) return null;
  return { taxonomy: name.toLowerCase().replaceAll('_', '-'), observedAt: `${day}T00:00:00.000Z` };
};

/** Lines deeper than `CATEGORY_LEVELS_MAX` are left out; their ancestor at that level has its own line. */
export const readTaxonomyText: SideReader = async function* (source, { times }) {
  let taxonomy = 'taxonomy-text';
  let time = times.option;
  for await (const { line, raw, tooLong } of textLines(source)) {
    if (raw.startsWith('#')) {
      const version = taxonomyVersionOf(raw);
      taxonomy = version?.taxonomy ?? taxonomy;
      time ??= version?.observedAt ?? null;
      if (line === 1) yield { kind: 'header', raw };
      continue;
    }
    if (raw.trim() === '') continue;
    time ??= times.fileName;
    if (time === null) {
      yield refusal({ line, raw }, 'is part of a taxonomy without a date', NO_TIME.advice);
      return;
    }
    const [, taxonomy_id, names = ''] = LINE.exec(raw) ?? [];
    const path = names.split('>').map((name) => name.trim());
    const level = path.length;
    if (tooLong || taxonomy_id === undefined) {
      const isNot = 'is not a category line such as "12 - Apparel > Shoes"';
      const what = tooLong ? `is longer than ${LINE_MAX_CHARACTERS} characters` : isNot;
      yield refusal({ line, raw }, what, 'fix the line and import it again');
    } else if (level > CATEGORY_LEVELS_MAX) {
      yield { kind: 'left_out', line, reason: `deeper than ${CATEGORY_LEVELS_MAX} levels`, name: null };
    } else {
      const category = { path, level, taxonomy, taxonomy_id, description: null };
      const observation = { type: 'category.define' as const, observed_at: time, ...category };
      yield { kind: 'observation', line, raw, observation };
    }
  }
};

type TextLine = { readonly line: number; readonly raw: string; readonly tooLong: boolean };

async function* textLines(source: Source): AsyncGenerator<TextLine> {
  let [buffered, tooLong, line] = ['', false, 0];
  const whole = (): TextLine => {
    line += 1;
    const item = { line, raw: buffered.replace(/\r$/, ''), tooLong };
    tooLong = false;
    return item;
  };
  for await (const chunk of source.chunks()) {
    const [first = '', ...rest] = chunk.split('\n');
    buffered += first;
    for (const next of rest) {
      yield whole();
      buffered = next;
    }
    if (buffered.length > LINE_MAX_CHARACTERS) {
      buffered = buffered.slice(0, LINE_MAX_CHARACTERS);
      tooLong = true;
    }
  }
  if (buffered !== '') yield whole();
}
