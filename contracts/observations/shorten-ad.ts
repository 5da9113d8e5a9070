import { observedLink } from '../values/links/observed-link.ts';
import { CUT_MARK, cutText } from '../values/text.ts';

/** Maximum characters of an ad's long texts. */
export const AD_TEXT_MAX_CHARACTERS = 20_000;
export const AD_TEXT_LIMITS = {
  page_name: 500,
  body: AD_TEXT_MAX_CHARACTERS,
  title: AD_TEXT_MAX_CHARACTERS,
  link_description: AD_TEXT_MAX_CHARACTERS,
  caption: 2_000,
  cta_type: 100,
  cta_text: 200,
  platform: 40,
  language: 20,
} as const;
export const AD_URL_MAX_CHARACTERS = 8_192;
export const AD_PLATFORMS_MAX = 20;
export const AD_LANGUAGES_MAX = 50;
export const AD_CARDS_MAX = 30;
export const AD_VERSIONS_MAX = 50;
/** An event with the ad before and after a change fits into one append. */
export const AD_MAX_BYTES = 430_000;
/** Shorter ads need no measuring. JSON needs at most 6 bytes per character, and 20,000 for field names. */
const AD_SHORT_CHARACTERS = (AD_MAX_BYTES - 20_000) / 6;

type Text = string | null;
type Media = { readonly url: Text; readonly poster_url: Text };
type Card = { readonly [Field in 'body' | 'title' | 'link_description' | 'cta_text' | 'link_url']: Text };
type Partner = { readonly page_name: Text };
type Ad = Card & {
  readonly page_name: Text;
  readonly caption: Text;
  readonly cta_type: Text;
  readonly platforms: readonly string[] | null;
  readonly languages: readonly string[] | null;
  readonly media: readonly Media[];
  readonly cards: readonly Card[];
  readonly versions: readonly Card[];
  readonly branded_content?: Partner | null | undefined;
};

export type Shortened = {
  /** Cut texts end with `CUT_MARK`. */
  texts: number;
  /** Became unknown, because a cut URL would lead elsewhere, or lost an unsafe part. */
  urls: number;
  /** Left out of cards, versions, media, platforms and languages. */
  entries: number;
};

/**
 * Cuts texts, nulls URLs that are too long or unsafe, and drops last entries of lists. Above `AD_MAX_BYTES` it drops
 * versions, cards, media, then cuts texts further. Shortening again changes nothing, so that an unchanged ad equals
 * itself in the next scan.
 */
export const shortenAd = <A extends Ad>(
  ad: A,
): { readonly ad: A; readonly shortened: Readonly<Shortened> } => {
  const shortened: Shortened = { texts: 0, urls: 0, entries: 0 };
  const { branded_content: partner } = ad;
  const short: Ad = {
    ...ad,
    ...shortenCard(ad, shortened),
    page_name: shortenText(ad.page_name, AD_TEXT_LIMITS.page_name, shortened),
    caption: shortenText(ad.caption, AD_TEXT_LIMITS.caption, shortened),
    cta_type: shortenText(ad.cta_type, AD_TEXT_LIMITS.cta_type, shortened),
    platforms: shortenNames(ad.platforms, AD_PLATFORMS_MAX, AD_TEXT_LIMITS.platform, shortened),
    languages: shortenNames(ad.languages, AD_LANGUAGES_MAX, AD_TEXT_LIMITS.language, shortened),
    media: firstOf(ad.media, AD_CARDS_MAX, shortened).map((one) => ({
      ...one,
      url: usableUrl(one.url, shortened),
      poster_url: usableUrl(one.poster_url, shortened),
    })),
    cards: firstOf(ad.cards, AD_CARDS_MAX, shortened).map((card) => shortenCard(card, shortened)),
    versions: firstOf(ad.versions, AD_VERSIONS_MAX, shortened).map((card) => shortenCard(card, shortened)),
    ...(partner && {
      branded_content: {
        ...partner,
        page_name: shortenText(partner.page_name, AD_TEXT_LIMITS.page_name, shortened),
      },
    }),
  };
  // The fields are those of `A` with shorter values of the same types.
  return { ad: withinBytes(short, shortened) as A, shortened };
};

const shortenText = <T extends Text>(text: T, maxCharacters: number, shortened: Shortened): T => {
  if (text === null || text.length <= maxCharacters) return text;
  shortened.texts += 1;
  return cutText(text, maxCharacters) as T;
};

const usableUrl = (url: Text, shortened: Shortened): Text => {
  if (url === null) return null;
  const link = url.length <= AD_URL_MAX_CHARACTERS ? observedLink(url) : null;
  if (link !== url) shortened.urls += 1;
  return link;
};

const firstOf = <Entry>(entries: readonly Entry[], max: number, shortened: Shortened): readonly Entry[] => {
  if (entries.length <= max) return entries;
  shortened.entries += entries.length - max;
  return entries.slice(0, max);
};

const shortenNames = (
  names: readonly string[] | null,
  max: number,
  maxCharacters: number,
  shortened: Shortened,
): readonly string[] | null =>
  names === null
    ? null
    : firstOf(names, max, shortened).map((name) => shortenText(name, maxCharacters, shortened));

const shortenCard = <C extends Card>(card: C, shortened: Shortened): C => ({
  ...card,
  body: shortenText(card.body, AD_TEXT_LIMITS.body, shortened),
  title: shortenText(card.title, AD_TEXT_LIMITS.title, shortened),
  link_description: shortenText(card.link_description, AD_TEXT_LIMITS.link_description, shortened),
  cta_text: shortenText(card.cta_text, AD_TEXT_LIMITS.cta_text, shortened),
  link_url: usableUrl(card.link_url, shortened),
});

const charactersIn = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const part of Object.values(value)) sum += charactersIn(part);
  return sum;
};

const bytesOf = (value: object): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** Drops entries from the end of the lists, then cuts texts. */
const withinBytes = (ad: Ad, shortened: Shortened): Ad => {
  if (charactersIn(ad) < AD_SHORT_CHARACTERS || bytesOf(ad) <= AD_MAX_BYTES) return ad;
  const alone = withShorterTexts({ ...ad, media: [], cards: [], versions: [] }, shortened);
  let bytes = bytesOf(alone);
  let full = false;
  const fitting = <Entry extends object>(entries: readonly Entry[]): readonly Entry[] => {
    const count = entries.findIndex((entry) => {
      const size = bytesOf(entry) + 1;
      full ||= bytes + size > AD_MAX_BYTES;
      if (!full) bytes += size;
      return full;
    });
    return count === -1 ? entries : firstOf(entries, count, shortened);
  };
  const media = fitting(ad.media);
  const cards = fitting(ad.cards);
  return { ...alone, media, cards, versions: fitting(ad.versions) };
};

const withShorterTexts = (ad: Ad, shortened: Shortened): Ad => {
  const fields = ['body', 'title', 'link_description'] as const;
  let short = ad;
  for (let max = AD_TEXT_MAX_CHARACTERS / 2; bytesOf(short) > AD_MAX_BYTES; max = Math.floor(max / 2)) {
    const [body, title, link_description] = fields.map((field) => {
      const text = ad[field];
      return text === null ? null : cutText(text, max);
    }) as [Text, Text, Text];
    short = { ...ad, body, title, link_description };
  }
  shortened.texts += fields.filter((field) => short[field] !== ad[field] && !isCut(ad[field])).length;
  return short;
};

/** Such a text is counted already. */
const isCut = (text: Text): boolean =>
  text !== null && text.length >= AD_TEXT_MAX_CHARACTERS - 1 && text.endsWith(CUT_MARK);
