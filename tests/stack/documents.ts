import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** `path` is relative to the root. */
export type Document = { readonly path: string; readonly text: string };

export const readDocuments = (): readonly Document[] =>
  globSync(['**/*.md', '.github/*.md'], {
    cwd: ROOT,
    exclude: (name) => /^(node_modules|\.git|\.data|\.cache)$/.test(name),
  })
    .toSorted()
    .filter((path, index, all) => path !== all[index - 1])
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

export const withoutComment = (line: string): string => line.replace(/(^|\s)#.*$/, '').trim();

/** Stops at a pipe, a redirection or a comment; `$NAME` stays as it is. */
export const wordsOf = (command: string): readonly string[] => {
  const words: string[] = [];
  for (const [, double, single, bare] of withoutComment(command).matchAll(
    /"([^"]*)"|'([^']*)'|([^\s"']+)/g,
  )) {
    if (bare !== undefined && /^(\||>|&&|;|\d?>&)/.test(bare)) break;
    words.push(double ?? single ?? bare ?? '');
  }
  return words;
};
