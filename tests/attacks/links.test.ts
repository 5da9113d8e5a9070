import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { shortenAd } from '#contracts/observations/shorten-ad.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { CHAT_TOOLS } from '#contracts/values/chat-tools.ts';
import { destinationKey } from '#contracts/values/links/ad-destination.ts';
import { observedLink, withObservedLinks } from '#contracts/values/links/observed-link.ts';
import { boundedWebAddress } from '#contracts/values/text.ts';
import { chatMessageOf } from '#platform/channels/chat.ts';
import { emailMessageOf } from '#platform/channels/email.ts';
import { samplePayload } from '#operations/alerts/test-alert.ts';
import { attack, tries } from './attack.ts';

const SCRIPTS = [
  'javascript:alert(1)',
  'JaVaScRiPt://%0aalert(1)',
  'data:text/html,<script>1</script>',
  'vbscript:x',
  'blob:x',
  'file:///etc/passwd',
  'view-source:x',
  'search-ms:x',
];
const TRICKS = [
  'https://bank.example@evil.example/',
  'https://bank.example%2f@evil.example/',
  'https://bank.example:443@evil.example',
  'bank.example@evil.example/login',
  '//bank.example@evil.example',
  'https:\\\\bank.example\\@evil.example',
  'https://shop.example/\u202egpj.exe',
  'https://shop.example/\u0000',
  'https://sh\u00adop.example/',
  '//evil.example/x',
  ' //evil.example',
  '/\t/evil.example/x',
  '///evil.example/x',
  '/\\evil.example/x',
  '//bank.example@evil.example/x',
  '\u200b//evil.example/x',
  'https:evil.example/x',
  'https:/evil.example',
  'http:///evil.example/x',
  '/ops/console',
  '../ops/console',
  '?delete=1',
  '#x',
];
const HIDDEN = ['', ' ', '\t', '\n', '\u0001', '\u200b', '\ufeff', '\u2028', '\r\n'];
const HARMLESS = [
  'https://shop.example/boots?utm_source={{site_source_name}}#top',
  'http://shop.example',
  'https://video.example/@channel?a=b@c',
  'shop.example/boots',
  'shop.example:8080/boots',
  'market://details?id=com.shop',
  'https://{{product.host}}/boots',
  'HTTPS://Shop.Example/%E2%80%AE',
];

/** Hides characters that browsers ignore inside and in front of a link. */
const disguised = fc
  .tuple(
    fc.constantFrom(...SCRIPTS),
    fc.constantFrom(...HIDDEN),
    fc.constantFrom(...HIDDEN),
    fc.nat({ max: 9 }),
  )
  .map(([link, before, inside, at]) => `${before}${link.slice(0, at)}${inside}${link.slice(at)}`);
const hostileLink = fc.oneof(disguised, fc.constantFrom(...TRICKS));

/** True when a browser opens the host that a reader sees. */
const isSafe = (link: string): boolean => {
  const url = URL.parse(link) ?? URL.parse(`https://${link}`);
  return (
    url !== null &&
    /^(?:https?:\/\/)?[\w{]/i.test(link) &&
    !/^https?:(?!\/\/)/i.test(link) &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    !/[\p{C}\u2028\u2029\\]/u.test(link)
  );
};

const adWith = (link: string) => ({
  page_name: null,
  body: null,
  title: null,
  link_description: null,
  caption: null,
  cta_type: null,
  cta_text: null,
  link_url: link,
  platforms: null,
  languages: null,
  media: [{ url: link, poster_url: link }],
  cards: [{ body: null, title: null, link_description: null, cta_text: null, link_url: link }],
  versions: [],
});

attack('observed links that run scripts or hide their host are stored as unknown, and counted', () => {
  let fields = 0;
  fc.assert(
    fc.property(hostileLink, (link) => {
      const { ad, shortened } = shortenAd(adWith(link));
      const stored = [ad.link_url, ad.media[0]?.url, ad.media[0]?.poster_url, ad.cards[0]?.link_url];
      for (const url of stored) {
        expect(url === null || isSafe(url ?? ''), `${JSON.stringify(link)} was stored as ${url}`).toBe(true);
        fields += 1;
      }
      expect(shortened.urls).toBe(stored.length);
      const parsed = boundedWebAddress(2_048).safeParse(link);
      if (parsed.success) expect(isSafe(parsed.data ?? '')).toBe(true);
    }),
    { numRuns: tries(300) },
  );
  return `${fields} fields, 0 stored as sent`;
});

attack('links of old events are served in no URL field', () => {
  let fields = 0;
  fc.assert(
    fc.property(
      hostileLink,
      fc.constantFrom('url', 'destination_url', 'logo_url', 'from_url', 'page_url'),
      (link, name) => {
        const body = `He wrote "${name}":"${link}"`;
        const record = { [name]: link, body, nested: [{ [name]: link, other: 1 }], last: null };
        const served = JSON.parse(withObservedLinks(JSON.stringify(record))) as typeof record;
        for (const url of [served[name], served.nested[0]?.[name]] as (string | null)[]) {
          expect(url === null || isSafe(url), `${JSON.stringify(link)} was served as ${url}`).toBe(true);
          fields += 1;
        }
        expect({ ...served, [name]: link, nested: record.nested }).toEqual(record);
      },
    ),
    { numRuns: tries(300) },
  );
  return `${fields} fields, 0 served as sent`;
});

attack('a link without a scheme that names its host is stored and served with https', () => {
  const links = [
    ['//shop.example/boots?a={{ad.id}}', 'https://shop.example/boots?a={{ad.id}}'],
    [' //Shop.example', 'https://Shop.example'],
    ['///shop.example/boots', 'https://shop.example/boots'],
    ['//bank.example@shop.example/', 'https://shop.example/'],
    ['//', null],
    ['/boots', null],
  ] as const;
  for (const [link, safe] of links) {
    expect(observedLink(link), link).toBe(safe);
    expect(JSON.parse(withObservedLinks(JSON.stringify({ source_url: link })))).toEqual({ source_url: safe });
    // No change of the destination is recorded when an ad that was stored before is observed again.
    if (safe !== null && !link.includes('@')) expect(destinationKey(link)).toBe(destinationKey(safe));
  }
  return `${links.length} links`;
});

attack('harmless links stay as observed, in replies too', () => {
  for (const link of HARMLESS) {
    expect(observedLink(link)).toBe(link);
    const json = JSON.stringify({ destination_url: link, page_url: 'https://a.example/"' });
    expect(JSON.parse(withObservedLinks(json))).toMatchObject({ destination_url: link });
  }
  const own = `{"url":"${BASE_URL_MARK}/v1/ads/1"}`;
  expect(withObservedLinks(own)).toBe(own);
  const large = JSON.stringify(
    Array.from({ length: 2_000 }, () => ({ url: 'https://shop.example/boots', body: 'a'.repeat(100) })),
  );
  const since = performance.now();
  expect(withObservedLinks(large)).toBe(large);
  return `${HARMLESS.length} links, ${Math.round(((performance.now() - since) * 1_000) / (large.length / 1_024))} µs per KiB`;
});

const RULE = {
  alert_id: randomUUID(),
  workspace_id: 'ws_4k7m2q9x8t3b6c1d',
  name: 'Launches',
  trigger: 'new_ads',
  cadence: 'daily',
} as unknown as Parameters<typeof samplePayload>[1];

attack('observed text in e-mail and chat makes no line, no link and no mention', () => {
  const hostile =
    'Boots\n- Bank: sign in\n  https://evil.example www.evil.example [x](//evil.example) <!channel> <users/all> @everyone @all <@1> <https://evil.example|x> \u202e|';
  const payload = samplePayload(randomUUID(), RULE, '2026-11-20T06:00:00.000Z', 'https://ads.example');
  const items = payload.items.map((item) => ({
    ...item,
    title: hostile,
    brand: { ...item.brand, name: hostile },
  }));
  const { text } = emailMessageOf({ ...payload, items });
  const plain = emailMessageOf(payload).text;
  expect(text.split('\n')).toHaveLength(plain.split('\n').length);
  const alert = { ...payload.alert, name: hostile.slice(0, 100) };
  for (const tool of CHAT_TOOLS) {
    const sent = JSON.stringify(chatMessageOf({ ...payload, alert, items }, tool));
    expect(sent).not.toMatch(/\\n- Bank|\u202e/);
    switch (tool) {
      case 'slack':
        // Each text of markup is verbatim: only links in angle brackets are links.
        expect(sent.match(/"mrkdwn"/g)).toHaveLength((sent.match(/"verbatim":true/g)?.length ?? 0) + 1);
        expect(sent.replace(/\{"type":"plain_text"[^}]*\}/, '')).not.toMatch(/<(!|@|https:\/\/evil|users)/);
        break;
      case 'teams':
        // Runs of text have no markup at all.
        expect(sent).not.toContain('"TextBlock"');
        expect(sent).toContain('"type":"RichTextBlock"');
        break;
      default:
        expect(sent).not.toMatch(/@[a-z]|<[!@a-z]|https:\/\/evil|www\.evil|\]\(\/\//);
    }
  }
  return `${items.length} items to ${CHAT_TOOLS.length} tools`;
});
