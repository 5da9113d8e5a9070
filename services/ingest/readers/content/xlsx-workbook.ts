import { parsePart, WorkbookFault, type XlsxArchive } from './xlsx-archive.ts';

export type Workbook = {
  readonly sheetPart: string;
  readonly sharedTexts: readonly string[];
  readonly dateStyles: ReadonlySet<number>;
  /** Milliseconds since 1970 of day 0 of the date numbers. */
  readonly epochMs: number;
};

const SHARED_CHARACTERS_MAX = 64 * 1024 * 1024;
const WORKBOOK = 'xl/workbook.xml';
const EPOCH_1900_MS = Date.UTC(1899, 11, 30);
const EPOCH_1904_MS = Date.UTC(1904, 0, 1);

export const isWorkbook = (archive: XlsxArchive): boolean => archive.has(WORKBOOK);

/** Reads all but the rows. Throws `WorkbookFault`. */
export const readWorkbook = async (archive: XlsxArchive): Promise<Workbook> => {
  const sheets: { readonly relation: string; readonly visible: boolean }[] = [];
  let epochMs = EPOCH_1900_MS;
  await parsePart(archive, WORKBOOK, {
    open: (name, attribute) => {
      if (name === 'workbookPr' && isTrue(attribute('date1904'))) epochMs = EPOCH_1904_MS;
      if (name === 'sheet')
        sheets.push({ relation: attribute('id') ?? '', visible: attribute('state') === null });
    },
  });
  const sheet = sheets.find(({ visible }) => visible) ?? sheets[0];
  if (sheet === undefined) throw new WorkbookFault('has no sheet');
  const relations = await readRelations(archive);
  const sheetPart = relations.byId.get(sheet.relation);
  if (sheetPart === undefined) throw new WorkbookFault('does not say where its first sheet is');
  const { sharedStrings, styles } = relations;
  return {
    sheetPart,
    epochMs,
    sharedTexts: sharedStrings === null ? [] : await readSharedTexts(archive, sharedStrings),
    dateStyles: styles === null ? new Set() : await readDateStyles(archive, styles),
  };
};

const isTrue = (value: string | null): boolean => value === '1' || value === 'true';

const readRelations = async (archive: XlsxArchive) => {
  const byId = new Map<string, string>();
  const byType = new Map<string, string>();
  await parsePart(archive, 'xl/_rels/workbook.xml.rels', {
    open: (name, attribute) => {
      const [id, target] = [attribute('Id'), attribute('Target')];
      if (name !== 'Relationship' || id === null || target === null) return;
      const part = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
      byId.set(id, part);
      byType.set(attribute('Type')?.replace(/^.*\//, '') ?? '', part);
    },
  });
  return {
    byId,
    sharedStrings: byType.get('sharedStrings') ?? null,
    styles: byType.get('styles') ?? null,
  };
};

const readSharedTexts = async (archive: XlsxArchive, part: string): Promise<readonly string[]> => {
  const texts: string[] = [];
  let [current, characters, inText, phonetic] = ['', 0, false, false];
  await parsePart(archive, part, {
    open: (name) => {
      if (name === 'si') current = '';
      if (name === 'rPh') phonetic = true;
      inText = name === 't' && !phonetic;
    },
    text: (text) => {
      if (!inText) return;
      current += text;
      characters += text.length;
      if (characters > SHARED_CHARACTERS_MAX)
        throw new WorkbookFault(`has more than ${SHARED_CHARACTERS_MAX} characters of text; save it as CSV`);
    },
    close: (name) => {
      inText = false;
      if (name === 'rPh') phonetic = false;
      if (name === 'si') texts.push(unescaped(current));
    },
  });
  return texts;
};

/** Restores characters that XML cannot have, which a workbook writes as `_x000D_` (ECMA-376 part 1, ST_Xstring). */
export const unescaped = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;

const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58);

const isDateCode = (code: string): boolean => /[yd]/i.test(code.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, ''));

const readDateStyles = async (archive: XlsxArchive, part: string): Promise<ReadonlySet<number>> => {
  const dateFormats = new Set<number>();
  const dateStyles = new Set<number>();
  let [styles, inCellStyles] = [0, false];
  await parsePart(archive, part, {
    open: (name, attribute) => {
      if (name === 'numFmt' && isDateCode(attribute('formatCode') ?? ''))
        dateFormats.add(Number(attribute('numFmtId')));
      if (name === 'cellXfs') inCellStyles = true;
      if (name !== 'xf' || !inCellStyles) return;
      const format = Number(attribute('numFmtId') ?? 0);
      if (isBuiltInDate(format) || dateFormats.has(format)) dateStyles.add(styles);
      styles += 1;
    },
    close: (name) => {
      if (name === 'cellXfs') inCellStyles = false;
    },
  });
  return dateStyles;
};
