import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Lints comments and titles. `node tests/architecture/plain-words.ts [PATH_PREFIX …]` prints every finding. */
const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES = '{contracts,services,projections,deploy,tests}/**/*.{ts,js,mjs,sql}';
/** This file and its test spell the words that they look for. Comments of generated types are texts of the API. */
const EXCLUDED = /^tests\/architecture\/plain-words|^contracts\/client\/openapi-types\.ts$/;

/** Openings without a subject, for example "What the index holds." */
const HEADLESS =
  /^(What|Of|Where|Whose|Whoever|Whom|Who|Those|That which|How|So (many|long|much|far)|As (many|long|much)|Which)\b/;
/** Words that hide the field's own, and figures of speech. */
const HOUSE_WORDS =
  /\b(whoever|whatever|nobody('s)?|somebody|so (many|long|much)\b(?! (that|as))|(is|are|was|were|be|been) told|mend(s|ed|ing)?|beside|as it stands|lanes?|takes? turns?|house word|anew|hand(s|ed)? in|it is that|let go|is no(?= [a-z])|by whom|of whom|lets? go)\b/i;

export type Finding = {
  readonly file: string;
  readonly line: number;
  readonly rule: 'headless' | 'word';
  readonly text: string;
};

type Remark = { readonly line: number; readonly text: string };

const COMMENT_LINE = /^\s*(?:\/\*\*?|\*\/?|\/\/|--)\s?(.*?)(?:\*\/)?\s*$/;
const OPENS = /^\s*(?:\/\*|\/\/|--)/;
const TITLE = /\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*['"`]([^'"`]+)/;

/** Comments on lines of their own; lines that follow one another are one remark. */
const commentsOf = (lines: readonly string[], isSql: boolean): Remark[] => {
  const remarks: { line: number; text: string }[] = [];
  let open: { line: number; text: string } | null = null;
  let inBlock = false;
  lines.forEach((line, index) => {
    const starts = OPENS.test(line) && (isSql || !/^\s*--/.test(line));
    if (!inBlock && !starts) {
      open = null;
      return;
    }
    const text = COMMENT_LINE.exec(line)?.[1] ?? line.trim();
    const isBlock = /^\s*\/\*/.test(line);
    if (open === null || isBlock) {
      open = { line: index + 1, text };
      remarks.push(open);
    } else open.text = `${open.text} ${text}`;
    if (isBlock) inBlock = true;
    if (inBlock && line.includes('*/')) {
      inBlock = false;
      open = null;
    }
  });
  return remarks.map(({ line, text }) => ({ line, text: text.trim() }));
};

const titlesOf = (lines: readonly string[]): Remark[] =>
  lines.flatMap((line, index) => {
    const title = TITLE.exec(line)?.[1];
    return title === undefined ? [] : [{ line: index + 1, text: title }];
  });

const findingsOf = (file: string, { line, text }: Remark): Finding[] => {
  const found: Finding[] = [];
  if (HEADLESS.test(text)) found.push({ file, line, rule: 'headless', text });
  if (HOUSE_WORDS.test(text)) found.push({ file, line, rule: 'word', text });
  return found;
};

/** Findings in the order of files and lines. */
export const lintWords = (prefixes: readonly string[] = ['']): readonly Finding[] =>
  globSync(SOURCES, { cwd: ROOT })
    .filter((file) => !EXCLUDED.test(file) && prefixes.some((prefix) => file.startsWith(prefix)))
    .toSorted()
    .flatMap((file) => {
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
      const remarks = commentsOf(lines, file.endsWith('.sql'));
      const titles = file.startsWith('tests/') ? titlesOf(lines) : [];
      return [...remarks, ...titles].flatMap((remark) => findingsOf(file, remark));
    });

if (import.meta.main) {
  const prefixes = process.argv.slice(2);
  const findings = lintWords(prefixes.length > 0 ? prefixes : undefined);
  for (const { file, line, rule, text } of findings)
    console.log(`${file}:${line}: ${rule}: ${text.slice(0, 160)}`);
  console.log(`${findings.length} findings`);
}
