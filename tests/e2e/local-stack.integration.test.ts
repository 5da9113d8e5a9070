import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TEST_WORLD } from '#contracts/values/test-world.ts';
import { HEAD_BYTES, mediaTypeOf } from '#application/media/media-type.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { inheritedEnvironment, type LocalStack } from '#platform/settings.ts';
import { until } from '../stack/wait-until.ts';
import { allGone, StackProcess } from './local-stack-process.ts';

const run = promisify(execFile);
const CASE_LIMIT_MS = 360_000;
/** Limit of a wait: on a busy machine, a process needs many seconds to start. */
const WAIT_LIMIT_MS = 60_000;
/** Time in which servers detect lost clients. */
const LEAVE_LIMIT_MS = 15_000;

/** Brands with the most active ads, with their active and all ads, of 120 ads of the demo. */
const FIGURES = [
  ['vanta-essentials.example', 26, 35],
  ['drift-company.example', 14, 25],
  ['halden-labs.example', 9, 14],
  ['corvo-studio.example', 7, 7],
];
/** The newest two of the radar, with their ads. */
const ITEMS = [
  ['50ccc59c-88db-5eb2-889e-d2caece83837', '1200000005086967'],
  ['f71ac429-34e3-5b98-8aa8-ee44de51c454', '120000000430740'],
];

/** The tests share one data folder and must run in this order. */
describe.sequential('npm start', { timeout: CASE_LIMIT_MS }, () => {
  let folder: string;
  let first: LocalStack;
  let resumed: LocalStack;
  const started: StackProcess[] = [];

  const start = (environment: Readonly<Record<string, string>> = {}): StackProcess => {
    const stack = new StackProcess(folder, { TEST_MODE: 'true', ...environment });
    started.push(stack);
    return stack;
  };

  const ask = async (
    stack: LocalStack,
    path: string,
    body?: object,
  ): Promise<{ status: number; data: unknown }> => {
    const response = await fetch(`${stack.api_url}${path}`, {
      headers: {
        authorization: `Bearer ${stack.api_key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    const { data } = (await response.json()) as { data: unknown };
    return { status: response.status, data };
  };

  const tracked = async (stack: LocalStack): Promise<string[]> => {
    const { data } = await ask(stack, `/v1/workspaces/${stack.workspace_id}/tracked-brands?limit=100`);
    return (data as { brand: { id: string } }[]).map(({ brand }) => brand.id).toSorted();
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'local-stack-'));
    // As root, PostgreSQL runs as another user.
    await chmod(folder, 0o755);
  });

  afterAll(async () => {
    for (const stack of started) if (!stack.hasEnded) await stack.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  test('starts everything and answers the printed curl lines', async () => {
    const stack = start();
    first = await stack.waitUntilReady();
    expect(stack.output).toContain('synthetic');
    const answers = await stack.runCurlLines();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of answers) expect(JSON.parse(body).data.length).toBeGreaterThan(0);
    expect(await tracked(first)).toHaveLength(8);
    expect(stack.output).toContain(`${first.mcp_url}/mcp`);
    const [link = ''] = /http\S+\/signin\/invitation\/\S+/.exec(stack.output) ?? [];
    const readInvitation = async () => (await fetch(link).catch(() => null))?.text();
    await expect.poll(readInvitation, { timeout: WAIT_LIMIT_MS }).toContain('<bdi>Demo</bdi>');
    expect(await webhooksOf(stack)).toMatchObject([
      { fault: null, payload: { kind: 'test', alert: { name: 'Launches' }, items_total: 1 } },
    ]);
  });

  test('is the world of the test keys, the same on each day', async () => {
    const { workspace_id, api_key } = TEST_WORLD;
    expect(first).toMatchObject({ workspace_id, api_key });
    const guide = await readFile(resolve(import.meta.dirname, '../../contracts/guide/test-keys.md'), 'utf8');
    for (const text of [workspace_id, api_key, TEST_WORLD.webhook_secret]) expect(guide).toContain(text);
    const brands = (await ask(first, '/v1/brands?sort=active_ads&limit=4')).data as {
      readonly domain: string;
      readonly active_ads: number;
      readonly total_ads: number;
    }[];
    expect(brands.map(({ domain, active_ads, total_ads }) => [domain, active_ads, total_ads])).toEqual(
      FIGURES,
    );
    const radar = await ask(first, `/v1/workspaces/${workspace_id}/radar?days=30&limit=2`);
    const items = radar.data as { readonly id: string; readonly ad: { readonly id: string } }[];
    expect(items.map(({ id, ad }) => [id, ad.id])).toEqual(ITEMS);
  });

  test('has briefs with content for the weeks behind', async () => {
    const briefs = await vi.waitFor(async () => {
      const { data } = await ask(first, `/v1/workspaces/${first.workspace_id}/briefs`);
      const withContent = (data as Brief[]).filter(({ changes }) => changes.ads_started > 0);
      // Twenty days hold at least two whole weeks whose briefs are due. They are made one by one, the oldest first, whose
      // week may have begun before the corpus.
      return withContent.length >= 2 ? withContent : fail('no briefs yet');
    }, POLLED);
    for (const { brands } of briefs) expect(brands).toBe(8);
  });

  test('serves operators the history of the demo workspace with the generated token', async () => {
    const { ops_token } = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')) as {
      ops_token: string;
    };
    const path = `${first.ops_url}/ops/workspaces/${first.workspace_id}/history?type=MemberAdded`;
    expect((await fetch(path)).status).toBe(401);
    const answer = await fetch(path, { headers: { authorization: `Bearer ${ops_token}` } });
    expect(await answer.json()).toMatchObject({ data: [{ sequence: 2, data: { name: '' } }] });
    const me = await ask(first, '/v1/me');
    expect(me.data).toMatchObject({ member: { name: 'Demo owner' } });
  });

  test('refuses a second start on the same folder and names the first', async () => {
    const running = started.at(-1);
    const second = start();
    await until('the second start ends', WAIT_LIMIT_MS, () => second.hasEnded);
    expect(second.child.exitCode).toBe(1);
    expect(second.output).toContain(`process ${running?.child.pid}`);
    expect(running?.hasEnded).toBe(false);
  });

  test('restarts a crashed service', async () => {
    const [api] = await servicesOf(folder, 'api');
    // Process id 0 would signal the whole group, including the test run.
    if (api === undefined) throw new Error('the API is not running');
    process.kill(api, 'SIGKILL');
    await until('the API is another process', WAIT_LIMIT_MS, async () => {
      const [now] = await servicesOf(folder, 'api');
      return now !== undefined && now !== api;
    });
    let answer: { readonly status: number } | null = null;
    await until('the API answers', WAIT_LIMIT_MS, async () => {
      answer = await ask(first, '/v1/me').catch(() => null);
      return answer !== null;
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(started.at(0)?.output).toContain('api ended (SIGKILL); restarting');
  });

  test('keeps every acknowledged write when all processes are killed, and resumes on another port when its own is taken', async () => {
    const known = await tracked(first);
    expect(known).toHaveLength(8);
    const { data: brands } = await ask(first, '/v1/brands?limit=100');
    const brand = (brands as { id: string }[]).find(({ id }) => !known.includes(id));
    const { status } = await ask(first, `/v1/workspaces/${first.workspace_id}/tracked-brands`, {
      brand_id: brand?.id,
    });
    const processes = (started.find(({ hasEnded }) => !hasEnded) as StackProcess).killAll();
    expect(status).toBe(201);
    expect(processes.length).toBeGreaterThan(6);
    await until('all are gone', LEAVE_LIMIT_MS, () => allGone(processes));

    const port = await freePort();
    const occupier = createServer().listen(port, '127.0.0.1');
    try {
      const stack = start({
        API_PORT: String(port),
        EVENT_STORE_PORT: String(port),
        DEMO_PULSE_SECONDS: '3',
      });
      resumed = await stack.waitUntilReady();
      expect(new URL(resumed.api_url).port).not.toBe(String(port));
      expect(resumed).toMatchObject({ workspace_id: first.workspace_id, api_key: first.api_key });
      expect((await stack.runCurlLines()).map(({ status: code }) => code)).toEqual([200, 200, 200]);
    } finally {
      occupier.close();
    }
    expect(await tracked(resumed)).toEqual(
      [...known, String(brand?.id)].toSorted((a, b) => (a < b ? -1 : 1)),
    );
    expect((await ask(resumed, '/v1/brands?limit=100')).data).toHaveLength((brands as object[]).length);
  });

  test('shows a demo that goes on: new ads in the radar, a launch, an e-mail and a signed webhook', async () => {
    expect(started.at(-1)?.output).toMatch(/The next scan is at [\d:]{8} UTC, in .+, and shows a launch/);
    const path = `/v1/workspaces/${first.workspace_id}/radar`;
    const launch = await vi.waitFor(async () => {
      const { data } = await ask(resumed, `${path}/signals?days=2&limit=100`);
      return (data as Signal[]).find(({ kind }) => kind === 'launch_burst') ?? fail('no launch');
    }, POLLED);
    const { data } = await ask(
      resumed,
      `${path}?days=2&limit=100&types=ad_started&brand_id=${launch.brand.id}`,
    );
    expect((data as object[]).length).toBeGreaterThanOrEqual(12);
    const mail = await vi.waitFor(async () => {
      const files = await readdir(join(folder, 'mail'));
      const texts = await Promise.all(files.map((file) => readFile(join(folder, 'mail', file), 'utf8')));
      return (
        texts.find((text) => text.includes('Subject: Launches: ') && text.includes(launch.brand.name)) ??
        fail('no e-mail')
      );
    }, POLLED);
    expect(mail).toContain('To: owner@demo.example');
    // The rules post to the new port of the receiver. The first ad of the launch of a first start has this id.
    await vi.waitFor(async () => {
      const received = await webhooksOf(started.at(-1) as StackProcess);
      expect(received.filter(({ fault }) => fault !== null)).toEqual([]);
      const signals = received.flatMap(({ payload }) => payload?.items ?? []).map(({ signal }) => signal);
      expect(signals).toContain('launch_burst');
      const ads = received.flatMap(({ payload }) => payload?.items ?? []).map(({ ad_id }) => ad_id);
      expect(ads).toContain('199190000305439');
    }, POLLED);
  });

  test('shows pictures that load: files, posters and thumbnails of the brands', async () => {
    const ids = ((await ask(resumed, '/v1/brands?limit=100')).data as { id: string }[]).map(({ id }) => id);
    // Files of running ads have the last addresses.
    const thumbs = await vi.waitFor(async () => {
      const { data } = await ask(resumed, `/v1/brand-thumbs?brand_ids=${ids.join(',')}`);
      const found = (data as { thumbs: readonly { readonly image_url: string }[] }[]).flatMap(
        (brand) => brand.thumbs,
      );
      return found.length > 5 ? found : fail(`${found.length} thumbnails`);
    }, COPIED);
    const creatives = await Promise.all(
      ids.map((id) => ask(resumed, `/v1/creatives?brand_id=${id}&limit=100`)),
    );
    const files = creatives.flatMap(({ data }) => data as StoredFile[]);
    expect(new Set(files.map(({ media_kind }) => media_kind))).toEqual(new Set(['image', 'video']));
    const expected = [
      ...thumbs.map(({ image_url }) => ({ url: image_url, kind: 'image' })),
      ...files.map(({ media_url, media_kind }) => ({ url: media_url, kind: media_kind })),
      ...files.flatMap(({ poster_url }) => (poster_url === null ? [] : [{ url: poster_url, kind: 'image' }])),
    ];
    for (const { url, kind } of expected) {
      const reply = await fetch(url);
      const head = Buffer.from(await reply.arrayBuffer()).subarray(0, HEAD_BYTES);
      const type = mediaTypeOf(head)?.contentType.split('/', 1)[0];
      expect({ url, status: reply.status, type }).toEqual({ url, status: 200, type: kind });
    }
  });

  test('leaves no service running when only the start process is killed', async () => {
    const stack = started.at(-1) as StackProcess;
    const services = (
      await Promise.all(['api', 'ingest', 'projector', 'worker'].map((name) => servicesOf(folder, name)))
    ).flat();
    expect(services).toHaveLength(4);
    await stack.end('SIGKILL');
    await until('the services have left', LEAVE_LIMIT_MS, () => allGone(services));
    // The next start or the reset stops the servers.
    const { stdout } = await run(
      process.execPath,
      [resolve(import.meta.dirname, '../../deploy/local/reset.ts')],
      {
        env: { ...inheritedEnvironment(), DATA_DIR: folder },
      },
    );
    expect(stdout).toContain('is clear');
    expect(await readdir(folder).catch(() => [])).toEqual([]);
  });
});

type Brief = { readonly brands: number; readonly changes: { readonly ads_started: number } };
type StoredFile = {
  readonly media_kind: 'image' | 'video';
  readonly media_url: string;
  readonly poster_url: string | null;
};
type Signal = { readonly kind: string; readonly brand: { readonly id: string; readonly name: string } };

type Webhook = {
  readonly fault: string | null;
  readonly payload: {
    readonly items: readonly { readonly signal: string | null; readonly ad_id: string | null }[];
  } | null;
};

/** Webhooks of the printed receiver, newest first. */
const webhooksOf = async ({ output }: StackProcess): Promise<readonly Webhook[]> => {
  const [, url] = /Webhooks +(http\S+)/.exec(output) ?? [];
  const { deliveries } = (await (await fetch(`${url}/deliveries`)).json()) as { deliveries: Webhook[] };
  return deliveries;
};

/** Polling within the request limit of the API key. */
const POLLED = { timeout: WAIT_LIMIT_MS, interval: 500 } as const;
/** Limit of waits for the archive, which copies one file after the other. */
const COPIED = { timeout: 150_000, interval: 1_000 } as const;

const fail = (what: string): never => {
  throw new Error(what);
};

const servicesOf = async (folder: string, name: string): Promise<number[]> => {
  const pid = Number(await readFile(join(folder, 'run', `${name}.pid`), 'utf8').catch(() => ''));
  return pid > 0 ? [pid] : [];
};
