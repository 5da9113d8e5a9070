import { decodeHTMLStrict } from 'entities';
import { isObject } from '#domain/shapes/json-object.ts';
import { parseJson } from '../parsing/json-value.ts';

const PAGE_MAX_CHARACTERS = 64 * 1024 * 1024;
const DEPTH_MAX = 64;
const RESULTS = 'search_results_connection';

const HEAD_MAX_CHARACTERS = 1024 * 1024;
const TITLE_MAX_CHARACTERS = 100;
const PAGES = [
  [/<input\b[^>]{0,500}\btype\s*=\s*["']?password\b/i, 'is a login page'],
  [
    /\/ads\/library\b/i,
    'is a page of the ad library that was saved as it is displayed, without the data of its results',
  ],
] as const;

/** A browser's comment with the address of the page, which may name a filter of the results. */
const SAVED_FROM = /<!-- saved from url=\(\d{1,6}\)(\S{1,4096}) -->/;
const isJsonBlock = (tag: string): boolean => /\stype\s*=\s*["']?application\/(?:ld\+)?json\b/i.test(tag);

/**
 * Converts the result pages in a saved page's data blocks to JSON with the page's line numbers. `damaged` is called for
 * a block cut short, and with the kind of a page without results.
 */
export async function* htmlLibraryData(
  chunks: AsyncIterable<string>,
  damaged: (what: string) => void,
): AsyncGenerator<string> {
  let page = '';
  for await (const chunk of chunks) {
    page += chunk;
    if (page.length > PAGE_MAX_CHARACTERS) {
      damaged(`the page is longer than ${PAGE_MAX_CHARACTERS} characters`);
      return;
    }
  }
  const head = page.slice(0, HEAD_MAX_CHARACTERS);
  const address = SAVED_FROM.exec(head)?.[1];
  const [opening, closing] = [/<script\b[^>]{0,4096}>/gi, /<\/script\s*>/gi];
  let [told, hasResults] = [0, false];
  for (let tag = opening.exec(page); tag !== null; tag = opening.exec(page)) {
    const start = opening.lastIndex;
    closing.lastIndex = start;
    const end = closing.exec(page)?.index;
    opening.lastIndex = end ?? page.length;
    const block = page.slice(start, end);
    if (!isJsonBlock(tag[0]) || !block.includes(RESULTS)) continue;
    const results = end === undefined ? '' : resultsIn(block, address, damaged);
    if (end === undefined) damaged('the page ends inside its library data');
    hasResults ||= results !== '';
    yield page.slice(told, start).replaceAll(/[^\n]+/g, '') + results;
    told = start;
  }
  if (!hasResults) damaged(pageWithoutResults(head));
}

/** Includes the page's title, by which people recognize error pages. */
const pageWithoutResults = (head: string): string => {
  const is = PAGES.find(([sign]) => sign.test(head))?.[1] ?? 'is an HTML page without library data';
  const title = plainText(/<title\b[^>]{0,500}>([^<]*)/i.exec(head)?.[1] ?? '').trim();
  return title === '' ? is : `${is}, with the title ${JSON.stringify(title.slice(0, TITLE_MAX_CHARACTERS))}`;
};

const resultsIn = (block: string, address: string | undefined, damaged: (what: string) => void): string => {
  try {
    const pages = [...resultPages(parseJson(block), 0)];
    return pages.map((page) => JSON.stringify({ [RESULTS]: page, address })).join(' ');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    damaged(`a data block of the page is not JSON: ${error.message}`);
    return '';
  }
};

function* resultPages(value: unknown, depth: number): Generator {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
  if (isObject(value)) {
    const results = value[RESULTS];
    if (isObject(results) && Array.isArray(results['edges'])) yield results;
  }
  for (const member of Object.values(value)) yield* resultPages(member, depth + 1);
}

/** Library HTML has only line breaks, links and entities, so a full parser is not needed. */
export const plainText = (html: string): string =>
  decodeHTMLStrict(html.replaceAll(/\s*<br\s*\/?>\s*/gi, '\n').replaceAll(/<[^>]*>/g, ''));
