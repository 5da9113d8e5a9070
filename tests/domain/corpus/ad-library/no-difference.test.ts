import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { destinationKey } from '#contracts/values/links/ad-destination.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import { copyKey, isBlankText, textKey } from '#contracts/values/comparison/text-key.ts';
import { ad, library, typesOf } from '#tests/dsl/scans.ts';
import { runs } from '#tests/property-seed.ts';

/** Differences that are none (rule 5 in services/domain/README.md), each row in both ways. */
type Row = readonly [what: string, one: string, same: string, other: string];

const COPY: readonly Row[] = [
  ['zero-width signs', 'Warm feet', '\u200bWarm\u2060 fe\ufeffet\u200d', 'Warm feets'],
  ['bidi signs', 'Warm feet', '\u202aWarm\u200e feet\u202c\u2069', 'feet Warm'],
  ['soft hyphens', 'Warm feet', 'Wa\u00adrm feet', 'Wa-rm feet'],
  ['variation selectors', 'Love \u2764\ufe0f', 'Love \u2764', 'Love \u2665'],
  [
    'joiners around an emoji',
    '\u{1f469}\u200d\u{1f4bb}',
    '\u{1f469}\u200d\u{1f4bb}\u200d',
    '\u{1f469}\u{1f4bb}',
  ],
  [
    'selectors within an emoji',
    '\u2764\ufe0f\u200d\u{1f525}',
    '\u2764\u200d\u{1f525}',
    '\u2764\ufe0f\u{1f525}',
  ],
  ['selectors beside a skin tone', '\u{1f44d}\u{1f3fd}\ufe0f', '\u{1f44d}\u{1f3fd}', '\u{1f44d}\u{1f3fe}'],
  [
    'signs beside a flag',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u200b',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  ],
  ['entities by name', 'Soft & warm, "new"', 'Soft &amp; warm, &quot;new&quot;', 'Soft &lt; warm, "new"'],
  ['entities by number', 'Caf\u00e9 \u20ac', 'Caf&#233; &#x20AC;', 'Caf&#232; &#x20AC;'],
  ['entities escaped twice', 'Soft & warm', 'Soft &amp;amp; warm', 'Soft &amp;and; warm'],
  [
    'escapes of JSON',
    'Caf\u00e9 and/or \u{1f600}',
    'Caf\\u00e9 and\\/or \\ud83d\\ude00',
    'Caf\\u00e8 and\\/or \\ud83d\\ude00',
  ],
  ['escaped ends of lines', 'Warm\nfeet', 'Warm\\r\\nfeet', 'Warm\\feet'],
  ['ends of lines', 'Warm\nfeet', ' Warm\r\n\r\nfeet\u2029', 'Warmfeet'],
  ['kinds of white space', 'Warm feet', 'Warm\u00a0\t\u3000\u2800feet', 'Warm_feet'],
  ['Unicode normal forms', 'Caf\u00e9', 'Cafe\u0301', 'Cafe'],
  ['the mark of a cut', 'Warm feet and', 'Warm feet and \u2026', 'Warm feet and hands'],
];

const OTHER_COPY: readonly (readonly [what: string, one: string, other: string])[] = [
  ['letters that look alike', 'Warm', 'W\u0430rm'],
  ['letters of another width', 'A', '\uff21'],
  ['digits', 'Now 49', 'Now 59'],
  ['digits of another script', '5', '\u0665'],
  ['case', 'Warm', 'warm'],
  ['signs', 'Warm!', 'Warm?'],
  ['quotation marks', '"Warm"', '\u201cWarm\u201d'],
];

const SHOP = 'https://shop.example';
const LINKS: readonly Row[] = [
  ['schemes', 'http://shop.example/a', `${SHOP}/a`, 'market://shop.example/a'],
  ['case of the host', 'https://SHOP.Example/a', `${SHOP}/a`, `${SHOP}/A`],
  ['www and the dot of the root', 'https://www.shop.example./a', `${SHOP}/a`, 'https://web.shop.example/a'],
  ['default ports', `${SHOP}:443/a`, `${SHOP}/a`, `${SHOP}:8443/a`],
  ['trailing slashes', `${SHOP}/a/?b=1`, `${SHOP}/a?b=1`, `${SHOP}/?b=1`],
  [
    'the redirect of the network',
    `https://l.facebook.com/l.php?u=https%3A%2F%2Fshop.example%2Fa&h=AT1`,
    `${SHOP}/a`,
    `${SHOP}/l.php`,
  ],
  [
    'the redirect at other hosts of the network',
    `https://m.facebook.com/l.php?u=https%3A%2F%2Fshop.example%2Fa&h=AT1`,
    `https://l.messenger.com/l.php?u=${SHOP}/a`,
    `https://www.facebook.com/share?u=https%3A%2F%2Fshop.example%2Fa`,
  ],
  ['case of escapes', `${SHOP}/caf%C3%A9`, `${SHOP}/caf%c3%a9`, `${SHOP}/caf%C3%A8`],
  ['escapes of unreserved characters', `${SHOP}/%61%2Db?%71=%7E`, `${SHOP}/a-b?q=~`, `${SHOP}/a%2Fb?q=~`],
  ['escapes of a path', `${SHOP}/a%20b/caf\u00e9`, `${SHOP}/a b/caf%C3%A9`, `${SHOP}/a+b/caf%C3%A9`],
  ['blanks of a query', `${SHOP}/?q=a%20b`, `${SHOP}/?q=a+b`, `${SHOP}/?q=a%2Bb`],
  ['escaped signs of a query', `${SHOP}/?q=a&b=c`, `${SHOP}/?q=a&%62=%63`, `${SHOP}/?q=a%26b=c`],
  ['Unicode normal forms', `${SHOP}/caf%C3%A9`, `${SHOP}/cafe%CC%81`, `${SHOP}/cafe`],
  ['entities', `${SHOP}/?a=1&b=2`, `${SHOP}/?a=1&amp;b=2`, `${SHOP}/?a=1&amp;b=3`],
  [
    'escapes of JSON',
    `${SHOP}/a?b=1&c=2`,
    'https:\\/\\/shop.example\\/a?b=1\\u0026c=2',
    'https:\\/\\/shop.example\\/b?b=1\\u0026c=2',
  ],
  ['zero-width signs', `${SHOP}/a`, `${SHOP}/a\u200b`, `${SHOP}/a_`],
  ['order of parameters', `${SHOP}/?a=1&b=2`, `${SHOP}/?b=2&a=1`, `${SHOP}/?a=2&b=1`],
  ['order beside repeated names', `${SHOP}/?a=1&b=2&a=3`, `${SHOP}/?b=2&a=1&a=3`, `${SHOP}/?a=3&a=1&b=2`],
  ['brackets', `${SHOP}/?a[]=1`, `${SHOP}/?a%5B%5D=1`, `${SHOP}/?a=1`],
  ['values that are empty', `${SHOP}/?sale=`, `${SHOP}/?sale`, SHOP],
  [
    'click ids',
    `${SHOP}/?gclid=1&FBCLID=2&ScCid=3&gad_source=4`,
    `${SHOP}/?msclkid=1&li_fat_id=2&epik=3`,
    `${SHOP}/?id=1`,
  ],
  [
    'campaigns',
    `${SHOP}/?v=1&utm_source=fb&hsa_cam=1`,
    `${SHOP}/?v=1&utm_source=ig&mkt_tok=2`,
    `${SHOP}/?v=2&utm_source=fb`,
  ],
  [
    'ads and placements',
    `${SHOP}/?variant=1&ad_id=3&placement=feed`,
    `${SHOP}/?variant=1&ad_id=7&placement=story`,
    `${SHOP}/?variant=2&ad_id=3`,
  ],
  ['spellings of macros', `${SHOP}/?x={{ad.id}}`, `${SHOP}/?x=%7b%7Bad.id%7d%7D`, `${SHOP}/?x={{adset.id}}`],
  ['anchors', `${SHOP}/a#top`, `${SHOP}/a`, `${SHOP}/a#/top`],
  [
    'tracking in a route',
    `${SHOP}/#/boots/?utm_source=x&size=4`,
    `${SHOP}/#/boots?size=4`,
    `${SHOP}/#/sandals?size=4`,
  ],
  ['empty routes', `${SHOP}/#/`, SHOP, `${SHOP}/#!/boots`],
  [
    'countries of an app',
    'https://apps.apple.com/us/app/boots/id12',
    'https://apps.apple.com/de/app/id12?mt=8',
    'https://apps.apple.com/us/app/boots/id13',
  ],
];

/** Parameters that choose what a shop shows, change a price, or say who is paid. */
const CHOOSING = [
  'variant',
  'id',
  'p',
  'sku',
  'q',
  'keyword',
  'device',
  'lang',
  'currency',
  'discount',
  'code',
  'ref',
  'aff',
  'source',
];

const at = (day: number): string => `2026-05-0${day}T10:00Z`;
const card = (fields: object) => ({
  body: null,
  title: 'Boots',
  link_description: null,
  cta_text: null,
  link_url: null,
  ...fields,
});

const changesOf = (one: Partial<ObservedAd>, other: Partial<ObservedAd>): readonly string[] => {
  const shop = library();
  shop.scan({ at: at(1) }, [ObservedAd.parse(ad(1, one))]);
  const events = shop.scan({ at: at(2) }, [ObservedAd.parse(ad(1, other))]);
  return typesOf(events).filter((type) => type === 'AdRevised' || type === 'AdDestinationChanged');
};

describe('copy', () => {
  it.each(COPY)(
    'is the same with other %s, and another one with the closest other text',
    (_, one, same, other) => {
      for (const [before, after] of [
        [one, same],
        [same, one],
      ] as const) {
        expect(changesOf({ body: before }, { body: after })).toEqual([]);
        expect(changesOf({ cards: [card({ title: before })] }, { cards: [card({ title: after })] })).toEqual(
          [],
        );
      }
      for (const spelling of [one, same]) {
        expect(changesOf({ body: spelling }, { body: other })).toEqual(['AdRevised']);
        expect(
          changesOf({ cards: [card({ title: spelling })] }, { cards: [card({ title: other })] }),
        ).toEqual(['AdRevised']);
      }
    },
  );
  it.each(OTHER_COPY)('is another one with other %s', (_, one, other) => {
    expect(changesOf({ title: one }, { title: other })).toEqual(['AdRevised']);
  });
  it('stays as it was observed first', () => {
    const shop = library();
    shop.scan({ at: at(1) }, [ad(1, { body: ' Soft &amp; warm\u200b', link_url: `${SHOP}/?fbclid=1#top` })]);
    shop.scan({ at: at(2) }, [ad(1, { body: 'Soft & warm', link_url: SHOP })]);
    expect([...shop.state.ads.values()][0]?.content).toMatchObject({
      body: ' Soft &amp; warm\u200b',
      link_url: `${SHOP}/?fbclid=1#top`,
    });
  });
  it.each(['\u200b', '&nbsp;', '\u2800\u00ad', '&#8203;'])(
    'of nothing visible, such as %j, is blank (rule 4)',
    (blank) => {
      expect(changesOf({ body: 'Warm' }, { body: blank })).toEqual([]);
      expect(changesOf({ body: blank }, { body: 'Warm' })).toEqual([]);
    },
  );
});

describe('a destination', () => {
  it.each(LINKS)(
    'is the same with other %s, and another one with the closest other link',
    (_, one, same, other) => {
      for (const [before, after] of [
        [one, same],
        [same, one],
      ] as const) {
        expect(changesOf({ link_url: before }, { link_url: after })).toEqual([]);
        expect(
          changesOf({ cards: [card({ link_url: before })] }, { cards: [card({ link_url: after })] }),
        ).toEqual([]);
      }
      for (const spelling of [one, same]) {
        expect(changesOf({ link_url: spelling }, { link_url: other })).toEqual(['AdDestinationChanged']);
        expect(
          changesOf({ cards: [card({ link_url: spelling })] }, { cards: [card({ link_url: other })] }),
        ).toEqual(['AdRevised']);
      }
    },
  );
  it.each(CHOOSING)('is another one with another parameter `%s`', (name) => {
    expect(changesOf({ link_url: `${SHOP}/?${name}=1` }, { link_url: `${SHOP}/?${name}=2` })).toEqual([
      'AdDestinationChanged',
    ]);
  });
  it('has a landing page of its own for each route, and one for all anchors', () => {
    const urlOf = (link: string) => landingPageOf(link)?.page_url;
    expect(urlOf(`${SHOP}/#/boots?ad={{ad.id}}`)).toBe('https://shop.example#/boots');
    expect(urlOf(`${SHOP}/#!/boots`)).toBe('https://shop.example#!/boots');
    expect(urlOf(`${SHOP}/#top`)).toBe('https://shop.example');
    expect(urlOf(`${SHOP}:8443/a`)).toBe('https://shop.example:8443/a');
  });
});

describe('versions of an ad', () => {
  const versions = (...bodies: readonly string[]): Partial<ObservedAd> => ({
    body: bodies[0] ?? null,
    title: bodies.toReversed()[0] ?? null,
    versions: bodies.map((body, index) => card({ body, title: bodies.toReversed()[index] ?? null })),
  });
  it('are the same in another order and in another number', () => {
    expect(changesOf(versions('Warm', 'Soft', 'Dry'), versions('Soft', 'Dry', 'Warm'))).toEqual([]);
    expect(changesOf(versions('Warm', 'Soft', 'Dry'), versions('Soft', 'Warm'))).toEqual([]);
    expect(changesOf(versions('Warm', 'Soft'), { body: 'Soft', title: 'Warm' })).toEqual([]);
    expect(changesOf({ body: 'Soft', title: 'Warm' }, versions('Warm', 'Soft'))).toEqual([]);
  });
  it('are revised when one gives way to another, in any place', () => {
    expect(changesOf(versions('Warm', 'Soft', 'Dry'), versions('Soft', 'Dry', 'New'))).toEqual(['AdRevised']);
    expect(changesOf(versions('Warm', 'Soft', 'Dry'), versions('Warm', 'Soft', 'New'))).toEqual([
      'AdRevised',
    ]);
    expect(changesOf(versions('Warm', 'Soft'), { body: 'New', title: 'New' })).toEqual(['AdRevised']);
  });
});

const PIECES = [...COPY, ...LINKS].flatMap(([, ...texts]) => texts);
const SIGNS = [
  '&',
  'amp;',
  '#38;',
  '\\',
  'u0026',
  'n',
  '\u200b',
  '\u200d',
  '\ufe0f',
  '\u00ad',
  ' ',
  '\u00a0',
  '...',
  '\u2026',
  '%',
  '2F',
  '%e2%80%8b',
  '/',
  '.',
  '?',
  '#',
  '!',
  '=',
  '+',
  '{{',
  '\u{1f469}',
  '\u{1f4bb}',
  '\u{1f3f4}',
  '\u{e0067}',
  'e',
  '\u0301',
  '%CC%81',
  '%ff',
];
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.constantFrom(...PIECES, ...SIGNS), { maxLength: 12 }).map((parts) => parts.join('')),
);
const anyLink = fc.oneof(
  anyText,
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  anyText.map((text) => `${SHOP}/${text}`),
);

/** Equality of keys is an equivalence relation for any key. */
describe('the key', () => {
  it.each([
    ['of a text', textKey, anyText],
    ['of copy', copyKey, anyText],
    ['of a link', destinationKey, anyLink],
  ] as const)('%s is its own key', (_, keyOf, any) => {
    fc.assert(
      fc.property(any, (text) => {
        const key = keyOf(text);
        expect(keyOf(key)).toBe(key);
        expect(key.isWellFormed() || !text.isWellFormed()).toBe(true);
        expect(key.includes('\0') && !text.includes('\0')).toBe(false);
      }),
      { numRuns: runs(1_000) },
    );
  });
  it('is empty for blank texts alone', () => {
    fc.assert(fc.property(anyText, (text) => isBlankText(text) === (textKey(text) === '')));
  });
  it('takes time in proportion to the text', () => {
    const nested = ['&#38;', '&amp;', '\\u005c', '&#&#51;8;', '%25'].map(
      (first) => first + first.slice(1).repeat(20_000),
    );
    const repeated = [
      '&',
      '&amp;',
      '\\',
      '.',
      '\u2026',
      '\u200d',
      ' ',
      '\u{1f3f4}\u{e0067}',
      '%e2',
      '\\u005c',
    ];
    for (const text of [...nested, ...repeated.map((piece) => piece.repeat(20_000))]) {
      expect(copyKey(text).length).toBeLessThanOrEqual(text.length);
      expect(destinationKey(`${SHOP}/${text}`)).not.toBe('');
    }
  }, 10_000);
});
