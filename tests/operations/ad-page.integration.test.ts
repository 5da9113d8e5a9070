import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readPageBundle } from '#contracts/audit/ad-page.ts';
import { eventHash } from '#contracts/audit/chain.ts';
import type { LogDigest } from '#contracts/audit/log-digest.ts';
import type { AdStatement, ProofEvent } from '#contracts/audit/proof.ts';
import { mediaKeyOf } from '#contracts/values/media/stored-media.ts';
import { makeAdPage, pageFaults, readPage, writeAdPage } from '#application/audit/ad-page.ts';
import { createSigningKey, readPublicKey } from '#application/audit/signing-key.ts';
import { checkProof } from '#application/audit/verify-proof.ts';
import { openRawLog } from '#platform/event-store/copy/raw-log.ts';
import { openFolderStore } from '#platform/object-store/open-object-store.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { on } from '#tests/dsl/api.ts';
import { CHROMIUM_ARGUMENTS, findChromium } from '../ops/fixtures/browser.ts';
import { takeScreenshot } from '../ops/fixtures/screenshots.ts';
import { openHostedCommands } from '../ops/fixtures/hosted-commands.ts';
import { FEATURES } from '../reference/features.ts';
import { place } from '../reference/service/placement.ts';
import { at, scan, shown, worldWith } from '../reference/sketch.ts';
import { worldArbitrary } from '../reference/worlds.ts';
import { untilPassed } from '../stack/read-models.ts';
import { recordCreative } from './fixtures/creative-events.ts';
import { type ApiStack, type Key, openApiStack } from './fixtures/stack.ts';

/** PROOF_MUTATIONS=10000 and AD_WORLDS=100 are the long form. */
const { PROOF_MUTATIONS, AD_WORLDS, PROOF_SEED } = readSettings(
  z.object({
    PROOF_MUTATIONS: z.coerce.number().int().positive().default(1_000),
    AD_WORLDS: z.coerce.number().int().positive().default(3),
    PROOF_SEED: z.coerce.number().int().default(20_261_129),
  }),
);
const LIMIT_MS = 180_000 + 20_000 * AD_WORLDS;
const CHECK_LIMIT_MS = 30_000;
const PHONE = { width: 360, height: 780 };
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const HOSTILE = `</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">\u2028&quot;'`;

const commands = openHostedCommands();
const { audit_signing_key, public_key } = createSigningKey();
const executable = await findChromium();
const resources = new AsyncDisposableStack();
let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
let folder: string;
let keyFile: string;
let adId: string;
let otherAdId: string;
/** Before the file of the picture was recorded. */
let beforePicture: string;
let page: string;
/** Query of the last moment that the digest attests. */
let attested: string;
/** As of many events: others than those about the ad are in it by their hashes only. */
let largePage: string;

const ops = (...words: readonly string[]) =>
  commands.run(['--json', ...words], { ...stack.environment, AUDIT_SIGNING_KEY: audit_signing_key });

const openStackIntake = () => {
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  return openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
};

type Proof = { readonly statement: AdStatement; readonly page_url: string };
const proofOf = async (id: string, query = ''): Promise<Proof> => {
  const { status, data, error } = await on(app).get(`/v1/ads/${id}/proof${query}`, { key });
  expect(status, JSON.stringify(error)).toBe(200);
  const proof: unknown = data;
  return proof as Proof;
};
const download = async ({ page_url }: Proof): Promise<string> => {
  const { pathname, search } = new URL(page_url);
  const reply = await app.inject({ url: `${pathname}${search}` });
  expect([reply.statusCode, reply.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  return reply.body;
};

const pictures = () => openFolderStore(join(tmpdir(), `test-objects-${process.pid}`));

/** An ad with hostile texts and a stored picture, gone from the last scan, next to one that is another's affair. */
const observeAd = async (): Promise<string> => {
  await using intake = await openStackIntake();
  const hostile = shown('a1', { title: HOSTILE, body: HOSTILE, link: 'b1.example/boots' });
  const other = shown('a2', { title: 'Another ad' });
  const world = worldWith(
    scan('s1', at(1), [hostile, other]),
    scan('s2', at(3), [hostile, shown('a2', { title: 'Other words' })]),
    scan('s3', at(5), [other]),
  );
  const { adIdOf, messagesOf } = place(world, 700);
  for (const message of world.observations.flatMap(messagesOf)) await intake.submit(message);
  await untilPassed(stack.pool, await stack.eventStore.head());
  beforePicture = new Date().toISOString();
  await pause(2);
  const sha256 = createHash('sha256').update(PICTURE).digest('hex');
  await pictures().write(mediaKeyOf(sha256), Readable.from([PICTURE]));
  const media = { media_kind: 'image', content_type: 'image/png', object_key: mediaKeyOf(sha256) } as const;
  await recordCreative(stack, sha256, [adIdOf('a1')], {
    ...media,
    media_url: null,
    poster_url: null,
    duration_seconds: null,
    frame_times_seconds: null,
  });
  await untilPassed(stack.pool, await stack.eventStore.head());
  await stack.projected(await stack.eventStore.head());
  otherAdId = adIdOf('a2');
  return adIdOf('a1');
};

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  resources.use(commands);
  app = await stack.api({ requestsPerMinute: 1_000_000 });
  key = await stack.key();
  folder = await mkdtemp(join(tmpdir(), 'ad-page-'));
  resources.defer(() => rm(folder, { recursive: true }));
  keyFile = join(folder, 'public-key.pem');
  await writeFile(keyFile, readPublicKey(public_key).export({ type: 'spki', format: 'pem' }));
  adId = await observeAd();
  const { stdout, code } = await ops('digest', 'make');
  expect(code).toBe(0);
  attested = `?as_of=${(JSON.parse(stdout) as LogDigest).recorded_until}`;
  const proof = await proofOf(adId, attested);
  page = await download(proof);
  const rawLog = openRawLog(stack.environment['EVENT_STORE_URL'] ?? '');
  const sources = { pool: stack.pool, rawLog, objectStore: pictures() };
  largePage = await writeAdPage(proof.statement, sources, new AbortController().signal, 0);
}, LIMIT_MS);
afterAll(() => resources.disposeAsync());

const linesOf = (text: string): readonly string[] => (readPage(text)?.bundle ?? '').trim().split('\n');
const withLines = (change: (lines: readonly string[]) => readonly string[], of = page): string =>
  of.replace(readPage(of)?.bundle ?? '', () => `${change(linesOf(of)).join('\n')}\n`);

const verify = async (text: string) => {
  const file = join(folder, `${randomUUID()}.html`);
  await writeFile(file, text);
  const { stdout, stderr, code } = await ops('proof', 'verify', file, '--public-key', keyFile);
  if (stdout === '') throw new Error(stderr);
  return { ...(JSON.parse(stdout) as { faults: readonly string[]; hidden: number; absent: unknown }), code };
};

const eventLine = (lines: readonly string[], type: string): number =>
  lines.findIndex((line) => line.includes(`"type":"${type}"`));
const hiddenLine = (lines: readonly string[]): number =>
  lines.findIndex((line) => line.includes('"kind":"hidden"'));
const altered = (line: string): string =>
  line.replace(/"(?:sha256|id)":"./, (text) => `${text.slice(0, -1)}${text.endsWith('7') ? '8' : '7'}`);

/** Alterations of the page, with the beginning of the fault that names each. */
/** The page that the service would make of an altered statement. */
const remadeWith = (change: (header: string) => string): string => {
  const bundle = `${linesOf(page)
    .with(0, change(linesOf(page)[0] ?? ''))
    .join('\n')}\n`;
  return makeAdPage(bundle, readPage(page)?.picture ?? null) ?? '';
};

const ALTERATIONS: readonly (readonly [string, () => string, RegExp])[] = [
  [
    'another title',
    () => page.replace('<dd data-fact="Title">', '<dd data-fact="Title">Cheap '),
    /^Title: the page shows “Cheap/,
  ],
  [
    'another time',
    () => page.replace(/(data-fact="First seen">)2026/, '$12025'),
    /^First seen: the page shows “2025/,
  ],
  [
    'another status',
    () => page.replace('not confirmed inactive.', 'and stopped.'),
    /^Status: the page shows/,
  ],
  [
    'a sentence more',
    () => page.replace('</main>', '<p>It sold a million boots.</p></main>'),
    /^The page shows other content/,
  ],
  [
    'another picture',
    () =>
      page.replace(/(;base64,.{40})./, (text, start: string) => `${start}${text.endsWith('A') ? 'B' : 'A'}`),
    /^The picture is not the recorded one/,
  ],
  [
    'words before its moment',
    // The parser of times skips them.
    () => remadeWith((header) => header.replace(/"as_of":"([^T]*)T/, '"as_of":"Sold a million by $1 ')),
    /^The moment of the statement is not how a time is written/,
  ],
  [
    'the id of another key',
    () => remadeWith((header) => header.replace(/("public_key_id":")[0-9a-f]{16}/, '$10123456789abcdef')),
    /^Digest 1: the id is not that of its key/,
  ],
  ['no picture', () => page.replace(/<img id="picture"[^>]*>/, ''), /^The picture is not the recorded one/],
  [
    'an altered event',
    () =>
      withLines((lines) =>
        lines.with(eventLine(lines, 'AdStarted'), altered(lines[eventLine(lines, 'AdStarted')] ?? '')),
      ),
    /the event was altered/,
  ],
  [
    'an altered hash of another ad',
    () =>
      withLines((lines) => lines.with(hiddenLine(lines), altered(lines[hiddenLine(lines)] ?? '')), largePage),
    /the event was altered/,
  ],
  [
    'an event left out',
    () => withLines((lines) => lines.toSpliced(eventLine(lines, 'AdsMissed'), 1)),
    /revisions \d+ to \d+ are missing/,
  ],
  [
    'a statement that counts fewer events',
    () =>
      withLines((lines) =>
        lines.with(0, (lines[0] ?? '').replace(/("stream":"adLibrary-[^"]*","revision":")\d+/, '$11')),
      ),
    /it was recorded by the moment, and the statement leaves it out/,
  ],
  [
    'an event twice',
    () => withLines((lines) => lines.toSpliced(2, 0, lines[2] ?? '')),
    /the event is repeated/,
  ],
  [
    'two events swapped',
    () => withLines((lines) => lines.with(2, lines[3] ?? '').with(3, lines[2] ?? '')),
    /missing|not in order/,
  ],
  ['a cut bundle', () => withLines((lines) => lines.slice(0, -1)), /^The file ends before the end/],
  ['another root', () => page.replaceAll(/"root":"./g, '"root":"x'), /the signature is not that of its key/],
  [
    'another signature',
    () => page.replace(/("signature":")../, '$1AA'),
    /the signature is not that of its key/,
  ],
  [
    'another path',
    () =>
      page
        .replace(/("side":")left/, '$1right')
        .replace(/("side":")right/, '$1left')
        .replace(/("path":\[\{"side":"\w+","hash":").{4}/, '$10000'),
    /its path does not lead to the root/,
  ],
  ['another moment', () => page.replace(/("as_of":")2026/, '$12027'), /^Moment: the page shows/],
  [
    'a style that hides the verdict',
    () => page.replace('</style>', '#faults { display: none }</style>'),
    /^The page shows other content/,
  ],
];

const EXIT_UNCHECKED = 2;

/** A page made again without an event about the ad, in whose place is its hash. */
const forgedPage = (): string => {
  const lines = linesOf(page);
  const index = eventLine(lines, 'AdsMissed');
  const event = JSON.parse(lines[index] ?? '') as ProofEvent;
  const { stream, revision, head } = event;
  const hidden = { kind: 'hidden', stream, revision, sha256: eventHash(event), head };
  const bundle = `${lines.with(index, JSON.stringify(hidden)).join('\n')}\n`;
  return makeAdPage(bundle, readPage(page)?.picture ?? null) ?? '';
};

describe.skipIf(executable === null)('the page of an ad, in a browser without a network', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable ?? '', args: CHROMIUM_ARGUMENTS });
    resources.defer(() => browser.close());
  }, LIMIT_MS);

  type Opened = AsyncDisposable & {
    readonly tab: Page;
    readonly requests: readonly string[];
    readonly faults: readonly string[];
  };
  const open = async (text: string, options: object = {}): Promise<Opened> => {
    const file = join(folder, `${randomUUID()}.html`);
    await writeFile(file, text);
    const context = await browser.newContext({ viewport: PHONE, ...options });
    const tab = await context.newPage();
    const requests: string[] = [];
    const faults: string[] = [];
    tab.on('request', (request) => requests.push(request.url()));
    tab.on('pageerror', (error) => faults.push(error.message));
    tab.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await tab.goto(pathToFileURL(file).href);
    return { tab, requests, faults, [Symbol.asyncDispose]: () => context.close() };
  };
  const verdict = async ({ tab }: Opened): Promise<readonly string[]> => {
    await tab.locator('#status.whole, #status.part, #status.altered').waitFor({ timeout: CHECK_LIMIT_MS });
    return [
      (await tab.locator('#status').textContent()) ?? '',
      ...(await tab.locator('#faults li').allTextContents()),
    ];
  };

  it.each([
    ['a sentence more', '<main>', '<p>It sold a million boots.</p><slot></slot>'],
    ['another heading', '<h1>', 'Another heading'],
    ['another page', '<body>', '<h1>Another page</h1><p>Verified: 10 events lead to digest 1.</p>'],
  ])('finds %s in a shadow root, and shows none', async (_, before, content) => {
    for (const mode of ['open', 'closed']) {
      const forged = page.replace(
        before,
        `${before}<template shadowrootmode="${mode}">${content}</template>`,
      );
      expect((await verify(forged)).code).toBe(1);
      await using opened = await open(forged);
      const [words] = await verdict(opened);
      if (mode === 'open') expect(words).toMatch(/^Altered/);
      else expect(await opened.tab.evaluate('document.body.innerText')).toContain(`Ad ${adId}, as observed`);
    }
  });

  it('is verified, asks for nothing, and hostile texts of the ad stay texts', async () => {
    await using opened = await open(page);
    const [words, ...faults] = await verdict(opened);
    expect([words, faults]).toEqual([
      expect.stringMatching(/^Verified: \d+ events lead to digest 1, signed by key/),
      [],
    ]);
    await using ofNow = await open(await download(await proofOf(adId)));
    expect(await verdict(ofNow)).toEqual([
      expect.stringMatching(/^Verified in part: .* The digest does not attest all of it/),
    ]);
    expect(opened.requests.filter((url) => !/^(file|data):/.test(url))).toEqual([]);
    expect(opened.faults).toEqual([]);
    expect(await opened.tab.evaluate('window.hacked')).toBeUndefined();
    expect(await opened.tab.locator('[data-fact="Title"]').textContent()).toBe(HOSTILE);
    expect(await opened.tab.evaluate('document.querySelector("#picture").naturalWidth')).toBe(1);
    expect(
      await opened.tab.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      ),
    ).toBe(0);
    expect(await opened.tab.getByRole('heading', { level: 1 }).textContent()).toBe(`Ad ${adId}, as observed`);
    // Also the longest id, 20 digits, stands in one line.
    await opened.tab.evaluate(`{
      const title = document.querySelector('h1');
      title.textContent = 'Ad ' + '8'.repeat(20) + ', as observed';
      globalThis.id = document.createRange();
      id.setStart(title.firstChild, 3);
      id.setEnd(title.firstChild, 23);
    }`);
    expect(await opened.tab.evaluate('id.getClientRects().length')).toBe(1);
    await takeScreenshot(opened.tab, 'ad-page-phone', true);
  });

  it('is verified in part with events by their hashes only', async () => {
    for (const text of [largePage, forgedPage()]) {
      await using opened = await open(text);
      expect((await verdict(opened))[0]).toMatch(/^Verified in part: .* may tell more of the ad\.$/);
    }
  });

  it('is verified in a dark scheme', async () => {
    await using opened = await open(page, { colorScheme: 'dark' });
    expect((await verdict(opened))[0]).toMatch(/^Verified/);
    const colour = await opened.tab.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(colour).toBe('rgb(22, 24, 29)');
    await takeScreenshot(opened.tab, 'ad-page-dark', true);
  });

  it.each(ALTERATIONS)('names an alteration: %s', async (_, alter, fault) => {
    const text = alter();
    expect(text).not.toBe(page);
    await using opened = await open(text);
    const [words, ...faults] = await verdict(opened);
    expect(words).toMatch(/^Altered/);
    expect(faults).toContainEqual(expect.stringMatching(fault));
  });

  it('says that it was not checked when another script is in it', async () => {
    const start = `document.addEventListener('DOMContentLoaded'`;
    await using opened = await open(page.replace(start, `document.title = 'Verified'; ${start}`));
    expect(await opened.tab.locator('#status').textContent()).toMatch(/^Not checked/);
    expect(await opened.tab.title()).not.toBe('Verified');
  });
});

describe('ops proof verify', () => {
  it('finds the page of an ad without a picture whole, also of a moment before the picture', async () => {
    for (const [id, query] of [
      [otherAdId, attested],
      [adId, `?as_of=${beforePicture}`],
    ] as const) {
      const proof = await proofOf(id, query);
      expect(proof.statement.picture_sha256).toBeNull();
      expect(await verify(await download(proof))).toMatchObject({ code: 0, faults: [] });
    }
  });

  it('reads a page that begins pictures again and again in time', async () => {
    const file = join(folder, 'pictures.html');
    await writeFile(file, `<!doctype html>${'<img id="picture" src="data:'.repeat(100_000)}`);
    expect((await ops('proof', 'verify', file)).code).toBe(1);
  });

  it('takes no bundle in the place of the page', async () => {
    const file = join(folder, 'page.ndjson');
    await writeFile(file, `${linesOf(page).join('\n')}\n`);
    expect((await ops('proof', 'verify', file, '--public-key', keyFile)).code).toBe(1);
  });

  it('does not call a page of a moment after the digest proved', async () => {
    const { code, faults } = await verify(await download(await proofOf(adId)));
    expect([code, faults]).toEqual([EXIT_UNCHECKED, []]);
  });

  it('computes the ad of a page again', async () => {
    expect(await verify(page)).toMatchObject({ code: 0, faults: [], absent: [], hidden: 0 });
    expect(page).not.toContain(key.workspaceId);
  });

  it('does not call a page proved that has events by their hashes only', async () => {
    expect(largePage).not.toContain('Another ad');
    for (const text of [largePage, forgedPage()]) {
      const { code, faults, hidden } = await verify(text);
      expect([code, faults]).toEqual([EXIT_UNCHECKED, []]);
      expect(hidden).toBeGreaterThan(0);
    }
  });

  it.each(ALTERATIONS)('refuses a page with an alteration: %s', async (_, alter) => {
    expect((await verify(alter())).code).toBe(1);
  });

  it(
    'finds each change of a letter or digit of a page',
    async () => {
      const places = [...page.matchAll(/[0-9a-z]/g)].map(({ index }) => index);
      const survivors: string[] = [];
      for (const letter of fc.sample(fc.nat(places.length - 1), {
        numRuns: PROOF_MUTATIONS,
        seed: PROOF_SEED,
      })) {
        const index = places[letter] ?? 0;
        const text = `${page.slice(0, index)}${page[index] === '7' ? '8' : '7'}${page.slice(index + 1)}`;
        const lines = linesOf(text);
        const faults = [...pageFaults(text), ...(await checkProof(lines)).faults];
        if (faults.length === 0) survivors.push(text.slice(index - 40, index + 40));
      }
      expect(survivors).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe('getAdProof 200', () => {
  it(
    'states of each ad of generated worlds what the API says of it',
    async () => {
      await using intake = await openStackIntake();
      for (const [number, world] of fc
        .sample(worldArbitrary(FEATURES), { numRuns: AD_WORLDS, seed: PROOF_SEED })
        .entries()) {
        const { adIdOf, messagesOf } = place(world, 710 + number);
        for (const message of world.observations.flatMap(messagesOf)) await intake.submit(message);
        await untilPassed(stack.pool, await stack.eventStore.head());
        const ads = world.observations.flatMap((one) =>
          one.kind === 'scan' ? one.ads.map(({ ad }) => adIdOf(ad)) : [],
        );
        for (const id of new Set(ads)) {
          const { data } = await on(app).get(`/v1/ads/${id}`, { key });
          const ad = data as Record<string, unknown>;
          const facts = readPageBundle(readPage(await download(await proofOf(id)))?.bundle ?? '')?.facts;
          const {
            title,
            body,
            destination_url,
            status,
            started_on,
            stopped_on,
            first_seen_at,
            last_seen_at,
          } = ad;
          expect(facts, `ad ${id} of world ${number}`).toMatchObject({
            title,
            body,
            link_url: destination_url,
            status,
            started_on,
            stopped_on,
            first_seen_at,
            last_seen_at,
          });
        }
      }
    },
    LIMIT_MS,
  );

  it('is about the moment that it is asked for', async () => {
    const before = await proofOf(adId);
    expect(before.statement.picture_sha256).toMatch(/^[0-9a-f]{64}$/);
    const again = await proofOf(adId, `?as_of=${before.statement.as_of}`);
    expect(again.statement).toEqual(before.statement);
  });
});

describe('the signed links of proofs', () => {
  it('have the headers of GET in the reply to HEAD', async () => {
    const { page_url } = await proofOf(adId);
    const figure = await on(app).get('/v1/brands?limit=1', { key });
    const [brand] = figure.data as { id: string }[];
    const { data } = await on(app).get(`/v1/brands/${brand?.id}/proof?figure=active_ads`, { key });
    for (const link of [page_url, (data as { bundle_url: string }).bundle_url]) {
      const { pathname, search } = new URL(link);
      const of = async (method: 'GET' | 'HEAD') => {
        const reply = await app.inject({ method, url: `${pathname}${search}` });
        const { date: _date, 'x-request-id': _id, 'transfer-encoding': _framing, ...headers } = reply.headers;
        return { status: reply.statusCode, headers, bytes: Buffer.byteLength(reply.body) };
      };
      const [get, head] = [await of('GET'), await of('HEAD')];
      expect([head.status, head.headers, head.bytes]).toEqual([get.status, get.headers, 0]);
    }
  });
});

describe('getAdProof 400', () => {
  it('is the reply for a moment before the first event', async () => {
    const reply = await on(app).get(`/v1/ads/${adId}/proof?as_of=2026-01-01T00:00:00Z`, { key });
    expect(reply).toMatchObject({
      status: 400,
      error: { details: [{ path: 'as_of', code: 'before_first_event' }] },
    });
  });
});

describe('getAdProof 404', () => {
  it('is the reply for an unknown ad', async () => {
    expect((await on(app).get('/v1/ads/9999999999999/proof', { key })).status).toBe(404);
  });
});
