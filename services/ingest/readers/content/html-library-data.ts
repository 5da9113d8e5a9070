import { StringDecoder } from 'node:string_decoder';
import { isObject } from '#domain/shapes/json-object.ts';
import { plainText } from '../parsing/html-text.ts';
import { parseJson } from '../parsing/json-value.ts';

const BLOCK_MAX_CHARACTERS = 64 * 1024 * 1024;
const TAG_MAX_CHARACTERS = 4 * 1024;
const DEPTH_MAX = 64;
const RESULTS = 'search_results_connection';

const HEAD_MAX_CHARACTERS = 1024 * 1024;
const TITLE_MAX_CHARACTERS = 100;
const PAGES = [
  [/<input\b[^>]*\btype\s*=\s*["']?password\b/i, 'is a login page'],
  [
    /\/ads\/library\b/i,
    'is a page of the ad library that was saved as it is displayed, without the data of its results',
  ],
] as const;

/** A browser's comment with the address of the page, which may name a filter of the results. */
const SAVED_FROM = /<!-- saved from url=\(\d+\)(\S+) -->/;
const OPENING = /<script\b[^>]*>/gi;
const CLOSING = /<\/script\s*>/gi;
const isJsonBlock = (tag: string): boolean => /\stype\s*=\s*["']?application\/(?:ld\+)?json\b/i.test(tag);
const lineEndsIn = (text: string): string => text.replaceAll(/[^\n]+/g, '');

/**
 * Converts the result pages in a saved page's data blocks to JSON with the page's line numbers. `damaged` is called for
 * a block cut short, and with the kind of a page without results.
 */
export async function* htmlLibraryData(
  chunks: AsyncIterable<Buffer>,
  damaged: (what: string) => void,
): AsyncGenerator<Buffer> {
  const decoder = new StringDecoder('utf8');
  const page = new PageScanner(damaged);
  for await (const chunk of chunks) {
    const json = page.push(decoder.write(chunk));
    if (json !== '') yield Buffer.from(json);
  }
  const rest = page.end(decoder.end());
  if (rest !== '') yield Buffer.from(rest);
}

class PageScanner {
  readonly #damaged: (what: string) => void;
  #text = '';
  #searched = 0;
  #block: 'none' | 'data' | 'other' = 'none';
  #head = '';
  #hasResults = false;

  constructor(damaged: (what: string) => void) {
    this.#damaged = damaged;
  }

  push(text: string): string {
    this.#text += text;
    if (this.#head.length < HEAD_MAX_CHARACTERS) this.#head += text;
    let json = '';
    for (;;) {
      const pattern = this.#block === 'none' ? OPENING : CLOSING;
      pattern.lastIndex = this.#searched;
      const tag = pattern.exec(this.#text);
      if (tag === null) break;
      const before = this.#text.slice(0, tag.index);
      const block =
        this.#block === 'data'
          ? resultsIn(before, SAVED_FROM.exec(this.#head)?.[1], this.#damaged)
          : lineEndsIn(before);
      this.#hasResults ||= block.trim() !== '';
      json += block;
      json += lineEndsIn(tag[0]);
      this.#text = this.#text.slice(tag.index + tag[0].length);
      this.#searched = 0;
      if (this.#block !== 'none') this.#block = 'none';
      else this.#block = isJsonBlock(tag[0]) ? 'data' : 'other';
    }
    return json + this.#dropSearched();
  }

  end(text: string): string {
    const json = this.push(text);
    if (this.#block === 'data' && this.#text.includes(RESULTS))
      this.#damaged('the page ends inside its library data');
    if (!this.#hasResults) this.#damaged(pageWithoutResults(this.#head));
    return json;
  }

  #dropSearched(): string {
    const end = Math.max(0, this.#text.length - TAG_MAX_CHARACTERS);
    this.#searched = end;
    const isTooLong = this.#block === 'data' && this.#text.length > BLOCK_MAX_CHARACTERS;
    if (this.#block === 'data' && !isTooLong) return '';
    if (isTooLong) {
      this.#damaged(`a data block of the page is longer than ${BLOCK_MAX_CHARACTERS} characters`);
      this.#block = 'other';
    }
    const dropped = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    this.#searched = 0;
    return lineEndsIn(dropped);
  }
}

/** Includes the page's title, by which people recognize error pages. */
const pageWithoutResults = (head: string): string => {
  const is = PAGES.find(([sign]) => sign.test(head))?.[1] ?? 'is an HTML page without library data';
  const title = plainText(/<title\b[^>]*>([^<]*)/i.exec(head)?.[1] ?? '').trim();
  return title === '' ? is : `${is}, with the title ${JSON.stringify(title.slice(0, TITLE_MAX_CHARACTERS))}`;
};

const resultsIn = (block: string, address: string | undefined, damaged: (what: string) => void): string => {
  if (!block.includes(RESULTS)) return lineEndsIn(block);
  try {
    const pages = [...resultPages(parseJson(block), 0)];
    return `${pages.map((page) => JSON.stringify({ [RESULTS]: page, address })).join(' ')}${lineEndsIn(block)}`;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    damaged(`a data block of the page is not JSON: ${error.message}`);
    return lineEndsIn(block);
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
