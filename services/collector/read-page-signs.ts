import { Parser } from 'htmlparser2';
import type { PageSigns } from '#domain/shapes/page-signs.ts';

const META_MAX = 300;
const LINKS_MAX = 3_000;
const HEADINGS_MAX = 200;
const CTAS_MAX = 200;
const LINES_MAX = 2_000;
const JSON_LD_MAX = 50;
const JSON_LD_MAX_LENGTH = 500_000;
const TEXT_MAX_LENGTH = 5_000;
const HREF_MAX_LENGTH = 4_096;
/** Maximum elements that are open at once and whose text is kept. */
const CAPTURES_MAX = 20;
const PAGE_MAX_LENGTH = 2 * 1024 ** 2;
/** Reading stops at this depth: the parser's time per element grows with it. */
const DEPTH_MAX = 1_000;
const TOO_DEEP = new Error('The page is nested too deeply.');

const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'svg', 'select']);
/** Elements within a line; all others begin a new one. */
const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo cite code em font i img kbd label mark q s small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);
const HEADINGS = /^h[1-3]$/;
const BUTTON_CLASS = /(^|[\s_-])(btn|button|cta)([\s_-]|$)/i;
const SUBMITS: ReadonlySet<string> = new Set(['submit', 'button']);

const single = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, TEXT_MAX_LENGTH);
const orNull = (text: string): string | null => (text === '' ? null : text);

type Capture = { readonly element: string; text: string; readonly end: (text: string) => void };

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\s*(<!--|\/\*<!\[CDATA\[\*\/)|(-->|\/\*\]\]>\*\/)\s*$/g, ''));
  } catch {
    return undefined;
  }
};

/** Reads one pass, up to `PAGE_MAX_LENGTH` and `DEPTH_MAX`. */
export const readPageSigns = (html: string): PageSigns => {
  let title: string | null = null;
  let language: string | null = null;
  let canonical: string | null = null;
  const meta: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  const signs = {
    jsonLd: [] as unknown[],
    relations: [] as { rel: string; href: string }[],
    links: [] as { href: string; text: string }[],
    headings: [] as string[],
    ctaTexts: [] as string[],
    lines: [] as string[],
  };
  let metaCount = 0;
  let captures: Capture[] = [];
  let hidden: { readonly element: string; depth: number } | null = null;
  let line = '';
  let depth = 0;

  const add = <Entry>(list: Entry[], max: number, entry: Entry): void => {
    if (list.length < max) list.push(entry);
  };
  const capture = (element: string, end: (text: string) => void): void => {
    if (captures.length < CAPTURES_MAX) captures.push({ element, text: '', end });
  };
  const endLine = (): void => {
    const text = single(line);
    line = '';
    if (text !== '') add(signs.lines, LINES_MAX, text);
  };
  const addCta = (text: string): void => {
    if (text !== '' && !signs.ctaTexts.includes(text)) add(signs.ctaTexts, CTAS_MAX, text);
  };

  const openMeta = (attributes: Readonly<Record<string, string>>): void => {
    const name = (attributes['property'] ?? attributes['name'] ?? '').trim().toLowerCase();
    if (name === '' || metaCount >= META_MAX) return;
    metaCount += 1;
    (meta[name.slice(0, 200)] ??= []).push(single(attributes['content'] ?? ''));
  };
  const openLink = (attributes: Readonly<Record<string, string>>): void => {
    const rel = single(attributes['rel'] ?? '').toLowerCase();
    const href = (attributes['href'] ?? '').trim().slice(0, HREF_MAX_LENGTH);
    if (rel === 'canonical' && href !== '') canonical ??= href;
    add(signs.relations, META_MAX, { rel, href });
  };
  const openAnchor = (attributes: Readonly<Record<string, string>>): void => {
    const href = (attributes['href'] ?? '').trim();
    const isCta = attributes['role'] === 'button' || BUTTON_CLASS.test(attributes['class'] ?? '');
    capture('a', (text) => {
      if (href !== '' && href.length <= HREF_MAX_LENGTH) add(signs.links, LINKS_MAX, { href, text });
      if (isCta) addCta(text);
    });
  };

  const parser = new Parser(
    {
      onopentag: (element, attributes) => {
        depth += 1;
        if (depth > DEPTH_MAX) throw TOO_DEEP;
        if (hidden !== null) {
          if (element === hidden.element) hidden.depth += 1;
          return;
        }
        if (!INLINE.has(element)) endLine();
        if (element === 'script' && /ld\+json/i.test(attributes['type'] ?? '')) {
          return capture('script', (text) => {
            const value = text.length <= JSON_LD_MAX_LENGTH ? parseJson(text) : undefined;
            if (value !== undefined) add(signs.jsonLd, JSON_LD_MAX, value);
          });
        }
        if (HIDDEN.has(element)) hidden = { element, depth: 1 };
        else if (element === 'html') language ??= orNull(single(attributes['lang'] ?? ''));
        else if (element === 'meta') openMeta(attributes);
        else if (element === 'link') openLink(attributes);
        else if (element === 'title') {
          capture('title', (text) => {
            title ??= orNull(text);
            line = '';
          });
        } else if (element === 'a') openAnchor(attributes);
        else if (element === 'button') capture('button', addCta);
        else if (element === 'input' && SUBMITS.has(attributes['type'] ?? '')) {
          addCta(single(attributes['value'] ?? ''));
        } else if (HEADINGS.test(element)) {
          capture(element, (text) => {
            if (text !== '') add(signs.headings, HEADINGS_MAX, text);
          });
        }
      },
      ontext: (text) => {
        if (hidden !== null) return;
        for (const one of captures) {
          if (one.text.length <= JSON_LD_MAX_LENGTH) one.text += text;
        }
        if (captures[0]?.element !== 'script' && line.length < TEXT_MAX_LENGTH) line += text;
      },
      onclosetag: (element) => {
        depth -= 1;
        if (hidden !== null) {
          if (element === hidden.element && (hidden.depth -= 1) === 0) hidden = null;
          return;
        }
        const index = captures.findLastIndex((one) => one.element === element);
        const ended = captures[index];
        if (ended !== undefined) {
          captures = captures.filter((one) => one !== ended);
          ended.end(element === 'script' ? ended.text : single(ended.text));
        }
        if (!INLINE.has(element)) endLine();
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  try {
    parser.write(html.slice(0, PAGE_MAX_LENGTH));
    parser.end();
  } catch (error) {
    if (error !== TOO_DEEP) throw error;
  }
  endLine();
  return { title, language, canonical, meta, ...signs };
};

/** A page declares its character set in these bytes (HTML, 4.2.5.5). */
const DECLARATION_BYTES = 1_024;
const META_CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]{2,40})/i;

const decoderOf = (label: string | undefined): Pick<InstanceType<typeof TextDecoder>, 'decode'> | null => {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
};

export const decodeHtml = (body: Buffer, contentType: string): string => {
  const header = /charset\s*=\s*["']?([\w:.-]{2,40})/i.exec(contentType)?.[1];
  const declared = META_CHARSET.exec(body.subarray(0, DECLARATION_BYTES).toString('latin1'))?.[1];
  const decoder = decoderOf(header) ?? decoderOf(declared) ?? new TextDecoder();
  return decoder.decode(body);
};

/** Without a content type, the first bytes decide. */
export const isHtml = (contentType: string, body: Buffer): boolean =>
  contentType === ''
    ? /^\s*<(!doctype html|html|head)/i.test(body.subarray(0, DECLARATION_BYTES).toString('latin1'))
    : /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType);
