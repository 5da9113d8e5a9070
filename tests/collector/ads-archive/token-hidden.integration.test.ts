import { execFile } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR_MS } from '#contracts/values/time.ts';
import { openSecretVault, type SecretVault } from '#application/vault/secret-vault.ts';
import { type ArchiveWorld, createArchiveWorld } from '#tests/world/archive-world.ts';
import { createLog } from '#platform/logger.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { brands } from '#projections/brands/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { storeToken } from '#services/collector/ads-archive/account-store.ts';
import { createTables } from '#application/read-models/schema.ts';
import type { PlayedAnswer } from '#tests/platform/http-client/played-sites.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { CONTACT, type CollectorStack, openCollectorStack, until } from '../collector-stack.ts';
import { tokenTraces } from '../weeks/token-traces.ts';
import { worldAds } from './archive-stack.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');
const TOKEN = 'EAArecognisabletokenrecognisabletoken';
const APP_SECRET = 'recognisable-secret-of-the-app';
const PROOF = createHmac('sha256', APP_SECRET).update(TOKEN).digest('hex');
/** The platform repeats the address in its messages. */
const ADDRESS = `https://graph.facebook.com/v24.0/ads_archive?access_token=${TOKEN}&appsecret_proof=${PROOF}&limit=250`;

let stack: CollectorStack;
let world: ArchiveWorld;
let vault: SecretVault;
/** Answers of the next calls, before those of the world. A function writes the answer itself. */
const next: (PlayedAnswer | 'closed')[] = [];

beforeAll(async () => {
  stack = await openCollectorStack();
  await inTransaction(stack.database, async (client) => {
    await createTables(client, brands, 'brands');
    await createTables(client, socialPages, 'social_pages');
  });
  vault = await openSecretVault(stack.database, VAULT_KEY);
  world = createArchiveWorld(() => new Date(stack.nowMs));
  world.percentPerCall = 0;
  world.tokens.add(TOKEN);
  stack.played.sites.set('graph.facebook.com', (path, { headers }) => {
    const answer = next.shift() ?? world.answer({ path, authorization: headers.authorization }) ?? 'closed';
    return answer === 'closed' ? (response) => response.destroy() : answer;
  });
});
afterAll(() => stack[Symbol.asyncDispose]());

const store = (): Promise<unknown> =>
  storeToken(stack.database, vault, { token: TOKEN, expiresAt: null, now: new Date(stack.nowMs) });

const addBrand = async (domain: string, pageId: string): Promise<void> => {
  const id = randomUUID();
  await stack.database.query('insert into brands.brand (brand_id, domain) values ($1, $2)', [id, domain]);
  await stack.database.query('insert into social_pages.link (social_page_id, brand_id) values ($1, $2)', [
    pageId,
    id,
  ]);
  world.ads.push(...worldAds(pageId, 2, Number(pageId)));
};

/** Returns the texts that hold the token, the secret of the app or the proof of both. */
const traces = async (texts: readonly string[]): Promise<readonly string[]> => {
  const where = { observations: await stack.observations(), texts };
  const secrets = [TOKEN, APP_SECRET, PROOF];
  return (await Promise.all(secrets.map((secret) => tokenTraces(stack.database, secret, where)))).flat();
};

const error = (code: number, message: string, status = 400): PlayedAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { message, type: 'OAuthException', code } }),
});

/** Answers that repeat a secret, and the reason that the collector records. */
const ANSWERS: readonly (readonly [string, readonly (PlayedAnswer | 'closed')[], string])[] = [
  ['ads', [], 'complete'],
  ['a limit of calls', [error(613, `Too many calls with ${TOKEN}`)], 'wait'],
  ['an invalid parameter', [error(100, `Invalid parameter in ${ADDRESS}`)], 'refused'],
  ['faults', Array.from({ length: 5 }, () => error(2, `Failed: ${ADDRESS}`, 500)), 'wait'],
  [
    'faults whose messages begin within the token',
    Array.from({ length: 5 }, () => error(1, `${'x'.repeat(290)}${TOKEN}`, 500)),
    'wait',
  ],
  [
    'pages of HTML',
    Array.from({ length: 5 }, () => ({
      headers: { 'content-type': 'text/html' },
      body: `<a href="${ADDRESS}">Sorry</a>`,
    })),
    'wait',
  ],
  [
    'redirects',
    Array.from({ length: 5 }, () => ({ status: 302, headers: { location: ADDRESS }, body: ADDRESS })),
    'wait',
  ],
  [
    'an unknown encoding',
    Array.from({ length: 5 }, () => ({ headers: { 'content-encoding': TOKEN }, body: 'x' })),
    'wait',
  ],
  ['closed connections', Array.from({ length: 5 }, () => 'closed' as const), 'wait'],
  ['a refused token', [error(190, `Malformed access token ${TOKEN}`)], 'refused'],
  ['a withdrawn permission', [error(200, `(#200) ${ADDRESS}`, 403)], 'refused'],
];

test('a collector shows its token in no log, table or observation, after any answer of the library', async () => {
  const lines: string[] = [];
  await store();
  await using _ = stack.start({
    log: createLog('collector', 'trace', { write: (line) => void lines.push(line) }),
    archive: {
      databaseUrl: stack.databaseUrl,
      vault,
      origin: 'https://graph.facebook.com',
      version: 'v24.0',
      appSecret: APP_SECRET,
      countries: ['DE', 'FR'],
      reached: false,
      callsPerHour: 150,
      wait: async (ms) => {
        stack.nowMs += ms;
      },
    },
  });
  for (const [index, [name, answers, outcome]] of ANSWERS.entries()) {
    const domain = `answer-${index}.example`;
    await addBrand(domain, String(20_000_001 + index));
    next.push(...answers);
    await stack.wish(domain, 'daily', 'ads_archive');
    expect((await stack.attempt(domain)).outcome, name).toBe(outcome);
    expect(next, name).toEqual([]);
    expect(await traces(lines), name).toEqual([]);
    stack.nowMs += 2 * HOUR_MS;
    await store();
    await stack.wish(`other-${index}.example`, 'daily', 'ads_archive');
    const ended = 'select 1 from collecting.archive_batch';
    await until('the end of the batch', async () =>
      (await stack.database.query(ended)).rows.length === 0 ? true : null,
    );
  }
  expect(await traces(lines)).toEqual([]);
  expect(lines.join()).toContain('batch put back');
  expect(lines.join()).toContain('(removed)');
  expect(stack.played.requests.some((one) => one.includes(PROOF))).toBe(true);
}, 240_000);

test('its process and its commands print no token, with good answers and after a refusal', async () => {
  await stack.database.query('truncate collecting.target, collecting.account, collecting.attempt');
  stack.nowMs = Date.now();
  await store();
  await addBrand('process.example', '30000001');
  const settings = {
    DATABASE_URL: stack.databaseUrl,
    NATS_URL: stack.natsUrl,
    MEMBER_VAULT_KEY: VAULT_KEY,
    COLLECT_CONTACT: CONTACT,
    COLLECT_SOURCES: 'ads_archive',
    COLLECT_VIA: stack.played.origin,
    EGRESS_ALLOW_LOOPBACK: 'true',
    ADS_ARCHIVE_APP: `1000001|${APP_SECRET}`,
    // The default pace has 24 seconds between two calls.
    ADS_ARCHIVE_CALLS_PER_HOUR: '10000',
    LOG_LEVEL: 'trace',
  };
  const collector = startProcess('services/collector/main.ts', settings);
  await using resources = new AsyncDisposableStack();
  resources.defer(async () => void (await collector.stop()));
  await stack.wish('process.example', 'daily', 'ads_archive');
  expect((await stack.attempt('process.example')).outcome).toBe('complete');
  world.tokens.clear();
  await addBrand('refused.example', '30000002');
  await stack.wish('refused.example', 'daily', 'ads_archive');
  expect((await stack.attempt('refused.example')).detail).toContain('(removed)');
  await collector.says('batch put back');

  await store();
  const printed = await new Promise<string>((resolve) => {
    const env = { ...inheritedEnvironment(), ...settings, DATA_DIR: '/nonexistent' };
    const args = ['services/collector/cli.ts', 'add', 'added.example', '--name', 'Added'];
    execFile(process.execPath, args, { cwd: ROOT, env }, (_error, out, shown) => resolve(`${out}${shown}`));
  });
  expect(printed).toContain('(removed)');
  await collector.stop();
  expect(await traces([collector.output(), printed])).toEqual([]);
}, 240_000);
