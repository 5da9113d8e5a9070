/** Lower-case names of the Ad Library API (`publisher_platforms`), each with the network's other names. */
const PLATFORMS: { readonly [code: string]: readonly string[] } = {
  facebook: ['fb'],
  instagram: ['ig'],
  audience_network: ['meta_audience_network', 'facebook_audience_network', 'an'],
  messenger: ['facebook_messenger'],
  whatsapp: ['whats_app'],
  oculus: ['meta_quest', 'meta_horizon'],
  threads: [],
};
const PLATFORM_CODES = new Map(
  Object.entries(PLATFORMS).flatMap(([code, names]) => [code, ...names].map((name) => [name, code])),
);

export const platformCode = (text: string): string | null =>
  PLATFORM_CODES.get(
    text
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, '_'),
  ) ?? null;

/** Caches codes of this many texts. */
const REMEMBERED_MAX = 10_000;
function remembered(codeOf: (text: string) => string | null): (text: string) => string | null {
  const codes = new Map<string, string | null>();
  return (text) => {
    const known = codes.get(text);
    if (known !== undefined) return known;
    const code = codeOf(text);
    if (codes.size < REMEMBERED_MAX) codes.set(text, code);
    return code;
  };
}

/**
 * Codes that ISO 639 lacks or uses otherwise: the network's locales
 * (https://www.facebook.com/translations/FacebookLocales.xml) and `content_languages` of the library's search.
 */
const NETWORK_LANGUAGES: ReadonlySet<string> = new Set(
  'bl bp bv cb ci ck cx dr eh em fv gx ns qb qc qe qk qr qs qt qv qz sy sz tz'.split(' '),
);
/** In English, from the Unicode CLDR. */
const NAMES = {
  language: new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }),
  region: new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }),
} as const;
/** Regions of the CLDR that are not countries: unions, outlying areas, tests, the unknown region. */
const NO_COUNTRIES: ReadonlySet<string> = new Set('EU EZ UN QO XA XB ZZ'.split(' '));

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.split('');
const PAIRS = LETTERS.flatMap((first) => LETTERS.map((second) => `${first}${second}`));
const codesByName = (type: keyof typeof NAMES): ReadonlyMap<string, string> =>
  new Map(
    PAIRS.flatMap((pair) => {
      const locale = localeOf(type === 'language' ? pair : `und-${pair}`);
      const code = (type === 'language' ? locale?.language : locale?.region) ?? '';
      const name = code.length === 2 ? NAMES[type].of(code) : undefined;
      return name === undefined ? [] : [[name.toLowerCase(), code]];
    }),
  );
const byName: Partial<Record<keyof typeof NAMES, ReadonlyMap<string, string>>> = {};
const codeByName = (type: keyof typeof NAMES, name: string): string | null => {
  byName[type] ??= codesByName(type);
  return byName[type].get(name.toLowerCase()) ?? null;
};

const localeOf = (tag: string): Intl.Locale | null => {
  try {
    return new Intl.Locale(tag);
  } catch {
    return null;
  }
};

/** Codes that ISO 639-1 replaced. */
const RENAMED_LANGUAGES: { readonly [code: string]: string } = { in: 'id', iw: 'he', ji: 'yi' };

/** ISO 639, as short as possible, or the network's code. Also of a locale (`en_US` is `en`) or an English name. */
export const languageCode = remembered((text) => {
  const tag = text.trim().replaceAll('_', '-');
  const written = tag.toLowerCase().split('-', 1)[0] ?? '';
  const code = RENAMED_LANGUAGES[written] ?? written;
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(tag)) return codeByName('language', text.trim());
  if (code.length === 2 && (NETWORK_LANGUAGES.has(code) || NAMES.language.of(code) !== undefined))
    return code;
  const language = localeOf(code)?.language;
  return language === undefined || NAMES.language.of(language) === undefined ? null : language;
});

/** Names of countries that are used like codes. */
const COUNTRY_ALIASES: { readonly [name: string]: string } = { UK: 'GB', USA: 'US' };

/** ISO 3166-1, also from an English name (`Germany` is `DE`). `null` for a code that ISO withdrew. */
export const countryCode = remembered((text) => {
  const name = text.trim();
  const code = COUNTRY_ALIASES[name.toUpperCase()] ?? name.toUpperCase();
  const known = /^[A-Z]{2}$/.test(code) ? localeOf(`und-${code}`)?.region : codeByName('region', name);
  if (known === undefined || known === null || NO_COUNTRIES.has(known)) return null;
  return (code.length > 2 || known === code) && NAMES.region.of(known) !== undefined ? known : null;
});

/** By lower-case form, because collectors capitalize them differently. */
const BUTTON_LABELS = new Map(
  [
    'Apply now',
    'Book now',
    'Buy now',
    'Call now',
    'Contact us',
    'Donate now',
    'Download',
    'Get directions',
    'Get offer',
    'Get quote',
    'Get showtimes',
    'Get tickets',
    'Install app',
    'Install now',
    'Learn more',
    'Like page',
    'Listen now',
    'Open link',
    'Order now',
    'Play game',
    'Request time',
    'Save',
    'See details',
    'See menu',
    'Send message',
    'Send WhatsApp message',
    'Shop now',
    'Sign up',
    'Subscribe',
    'Use app',
    'View Instagram profile',
    'Visit Instagram profile',
    'Watch more',
    'WhatsApp',
  ].map((label) => [label.toLowerCase(), label]),
);
/** In the library's capitalization, also of a code (`SHOP_NOW`). `null` for another text. */
export const buttonLabel = (text: string): string | null =>
  BUTTON_LABELS.get(text.toLowerCase().replaceAll('_', ' ')) ?? null;

/** Hours between scans of a brand. `census`: not tracked. */
export const TIER_HOURS = { daily: 24, weekly: 168, census: 720 } as const;

export const TRAFFIC_BANDS = [0, 10_000, 100_000, 1_000_000, 10_000_000] as const;
