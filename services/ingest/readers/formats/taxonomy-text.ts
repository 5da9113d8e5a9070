import { CATEGORY_LEVELS_MAX } from '#contracts/observations/brand-profile.ts';
import type { RefusedRecord } from '../record.ts';
import type { SideReader } from '../side-record.ts';
import { LINE_MAX_CHARACTERS, textLines } from '../parsing/text-lines.ts';

/** `5322 - Apparel & Accessories > Clothing > Activewear`. */
const LINE = /^([0-9]{1,20}) - (.+)$/;
/** `# Google_Product_Taxonomy_Version: 2021-09-21`: whose taxonomy it is, and of which day. */
const VERSION = /^#\s*([A-Za-z0-9_]+)_Version:\s*(\d{4}-\d{2}-\d{2})\s*$/;
const UNNAMED_TAXONOMY = 'taxonomy-text';

export const isTaxonomyLine = (text: string): boolean => LINE.test(text);

/** The taxonomy's own day, for a caller that does not say when it was fetched. */
export const taxonomyVersionOf = (header: string): { taxonomy: string; observedAt: string } | null => {
  const [, name = '', day = ''] = VERSION.exec(header) ?? [];
  if (name === '' || Number.isNaN(Date.parse(day))) return null;
  return { taxonomy: name.toLowerCase().replaceAll('_', '-'), observedAt: `${day}T00:00:00.000Z` };
};

/**
 * A product taxonomy as text, a category a line with its id and its path. Lines deeper than a category tree goes
 * here define nothing: the category of the last level they would stand in has a line of its own.
 */
export const readTaxonomyText: SideReader = async function* (source, { observedAt }) {
  let taxonomy = UNNAMED_TAXONOMY;
  let at = observedAt;
  for await (const { line, raw, tooLong } of textLines(source)) {
    if (raw.startsWith('#')) {
      const version = taxonomyVersionOf(raw);
      taxonomy = version?.taxonomy ?? taxonomy;
      at ??= version?.observedAt ?? null;
      if (line === 1) yield { kind: 'header', raw };
      continue;
    }
    if (raw.trim() === '') continue;
    const [, id = '', names = ''] = LINE.exec(raw) ?? [];
    if (tooLong) yield refused(line, raw, `is longer than ${LINE_MAX_CHARACTERS} characters`, MEND);
    else if (id === '') yield refused(line, raw, 'is no line such as "12 - Apparel > Shoes"', MEND);
    else if (at === null) {
      yield refused(line, raw, 'is of a taxonomy with no date', 'say --scanned-at TIME, when it was fetched');
      return;
    } else {
      const path = names.split('>').map((name) => name.trim());
      if (path.length > CATEGORY_LEVELS_MAX) {
        yield { kind: 'nothing' };
        continue;
      }
      yield {
        kind: 'observation',
        line,
        raw,
        observation: {
          type: 'category.define',
          observed_at: at,
          path,
          level: path.length,
          taxonomy,
          taxonomy_id: id,
          description: null,
        },
      };
    }
  }
};

const MEND = 'mend the line and feed it again';

const refused = (line: number, raw: string, what: string, advice: string): RefusedRecord => ({
  kind: 'refused',
  line,
  what,
  advice,
  raw,
  adId: null,
});
