import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiClient, createClient } from '#contracts/client/client.ts';
import { findCachedPackage } from '../../cached-package.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { CHROMIUM_ARGUMENTS, findChromium } from '../../ops/fixtures/browser.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);
const SIZE_MAX_BYTES = 30 * 1024;

const resources = new AsyncDisposableStack();
let stack: ApiStack;
let key: Key;
let baseUrl: string;
let client: ApiClient;
let brands: readonly CorpusBrand[];
beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const app = await stack.api({ corsOrigins: ['*'] });
  key = await stack.key();
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  client = createClient({ baseUrl, apiKey: key.text });
  brands = await stack.seed(['alpha', 'beta', 'gamma']);
});
afterAll(() => resources.disposeAsync());

/** TypeScript has no `Array.fromAsync` in its library for ES2024. */
const all = async <T, Value>(from: AsyncIterable<T>, valueOf: (one: T) => Value): Promise<Value[]> => {
  const found: Value[] = [];
  for await (const one of from) found.push(valueOf(one));
  return found;
};

const ws = (): { readonly ws: string } => ({ ws: key.workspaceId });

describe('the client', () => {
  test('reads all pages of a list', async () => {
    const options = { params: { query: { limit: 2, sort: 'name' as const } } };
    const slugs = await all(client.items('/v1/brands', options), ({ slug }) => slug);
    expect(slugs).toEqual(['alpha', 'beta', 'gamma']);
    const pages = await all(client.pages('/v1/brands', options), ({ meta }) => meta.count);
    expect(pages).toEqual([2, 1]);
  });

  test('follows an older slug to the brand', async () => {
    const options = { params: { path: { brandId: 'alpha-com' } } };
    expect((await client.GET('/v1/brands/{brandId}', options)).data?.data.slug).toBe('alpha');
  });

  test('reads its own write, and passes its position on to another client', async () => {
    const { data } = await client.POST('/v1/workspaces/{ws}/collections', {
      params: { path: ws() },
      body: { name: 'Launches to watch' },
    });
    const options = { params: { path: ws() } };
    const other = createClient({ baseUrl, apiKey: key.text, minPosition: client.position() ?? '' });
    for (const reader of [client, other]) {
      const ids = await all(reader.items('/v1/workspaces/{ws}/collections', options), ({ id }) => id);
      expect(ids).toEqual([data?.data.id]);
    }
  });

  test('gets one reply for two requests with the same idempotency key', async () => {
    const create = () =>
      client.POST('/v1/workspaces/{ws}/notes', {
        params: { path: ws(), header: { 'idempotency-key': 'note-1' } },
        body: { subject_type: 'brand', subject_key: brands[0]?.id ?? '', body: 'Check again on Monday.' },
      });
    const [first, again] = [await create(), await create()];
    expect(again.data?.data).toEqual(first.data?.data);
    expect(again.response.headers.get('idempotency-replayed')).toBe('true');
  });

  test('returns a refusal with its details', async () => {
    const { data, error, response } = await client.GET('/v1/brands', { params: { query: { limit: 101 } } });
    expect([data, response.status, error?.error.type]).toEqual([undefined, 400, 'bad_request']);
    expect(error?.error.details).toMatchObject([{ path: 'limit', code: 'too_big' }]);
  });

  test('reads a list as lines of CSV', async () => {
    const { data } = await client.GET('/v1/brands', {
      params: { query: { sort: 'name' } },
      headers: { accept: 'text/csv' },
      parseAs: 'text',
    });
    expect(data?.split('\n').slice(1, 3)).toEqual([
      expect.stringContaining('alpha'),
      expect.stringContaining('beta'),
    ]);
  });
});

/** Uses the client as any program would: reads a list and its workspace, writes, and reads the write. */
const PROGRAM = `
  const client = createClient({ baseUrl, apiKey });
  const { data: me } = await client.GET('/v1/me');
  const params = { path: { ws: me.data.workspace_id } };
  const { data: saved } = await client.POST('/v1/workspaces/{ws}/saved', { params, body: { item_type: 'brand', item_key: brandId } });
  const slugs = [], items = [];
  for await (const { slug } of client.items('/v1/brands', { params: { query: { limit: 1, sort: 'name' } } })) slugs.push(slug);
  for await (const { item_key } of client.items('/v1/workspaces/{ws}/saved', { params })) items.push(item_key);
  const refused = await readWebhook({ headers: new Headers(), body: new Uint8Array() }, 'whsec_').catch(({ name }) => name);
  return { workspace: me.data.workspace_id, slugs, saved: saved.data.item_key, items, refused };`;
const argumentsFor = (brand: CorpusBrand | undefined) => ({
  baseUrl,
  apiKey: key.text,
  brandId: brand?.id ?? '',
});
const resultFor = (brand: CorpusBrand | undefined) => ({
  workspace: key.workspaceId,
  slugs: ['alpha', 'beta', 'gamma'],
  saved: brand?.id,
  items: expect.arrayContaining([brand?.id]) as unknown,
  refused: 'WebhookRefused',
});

describe('the packed client', () => {
  let folder: string;
  const inFolder = (path: string): string => join(folder, 'node_modules', path);
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'packed-client-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT });
    const [{ filename } = { filename: '' }] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as {
      filename: string;
    }[];
    await mkdir(inFolder('ad-intelligence'), { recursive: true });
    await run('tar', [
      '-xzf',
      join(folder, filename),
      '-C',
      inFolder('ad-intelligence'),
      '--strip-components=1',
    ]);
    await writeFile(join(folder, 'package.json'), '{}');
    // Its other dependencies are those of the service, which the client does not import.
    await symlink(join(ROOT, 'node_modules/openapi-fetch'), inFolder('openapi-fetch'));
  });

  const sizesOf = async (path: string): Promise<readonly number[]> => {
    const names = await readdir(inFolder(path));
    const scripts = names.filter((name) => /\.m?js$/.test(name));
    return await Promise.all(scripts.map(async (name) => (await stat(inFolder(join(path, name)))).size));
  };

  const runProgram = async (command: string, args: readonly string[]): Promise<void> => {
    const [brand] = brands;
    const program = `import { createClient, readWebhook } from 'ad-intelligence/client';
      const { baseUrl, apiKey, brandId } = ${JSON.stringify(argumentsFor(brand))};
      console.log(JSON.stringify(await (async () => {${PROGRAM}})()));`;
    await writeFile(join(folder, 'program.mjs'), program);
    const { stdout } = await run(command, [...args, 'program.mjs'], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual(resultFor(brand));
  };

  test('is plain JavaScript that Node imports by its name', async () => {
    await runProgram(process.execPath, ['--no-experimental-strip-types']);
  });

  const system = `${process.platform}-${process.arch}`;
  test.for([
    ['Deno', `@deno/${system}-glibc`, '2.9.6', 'deno', ['run', '--allow-net', '--node-modules-dir=manual']],
    ['Bun', `@oven/bun-${system}-baseline`, '1.4.5', 'bin/bun', []],
  ] as const)('runs in %s', { timeout: 200_000 }, async ([_name, name, version, file, args], context) => {
    const packages = system === 'linux-x64' ? await findCachedPackage(name, version) : null;
    if (packages === null) return context.skip(`${name} is not for this machine, or could not be installed`);
    const executable = join(packages, name, file);
    await chmod(executable, 0o755);
    await runProgram(executable, args);
  });

  test('has at most 30 KiB with its dependency, as it is, and nothing else of the service', async () => {
    const sizes = [
      ...(await sizesOf('ad-intelligence/dist/client')),
      ...(await sizesOf('openapi-fetch/dist')),
    ];
    expect(sizes.length).toBeGreaterThan(4);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(SIZE_MAX_BYTES);
    expect((await readdir(inFolder('ad-intelligence'))).toSorted()).toEqual([
      'README.md',
      'dist',
      'package.json',
    ]);
  });

  test('is typed for those who import it as the guide shows', async () => {
    const guide = await readFile(join(ROOT, 'contracts/guide/client.md'), 'utf8');
    const example = /^```ts\n([^]*?)^```$/m.exec(guide)?.[1] ?? '';
    await writeFile(join(folder, 'right.mts'), example);
    await writeFile(join(folder, 'wrong.mts'), example.replace("sort: 'new_ads_7d'", "sort: 'spend'"));
    const flags =
      '--noEmit --strict --ignoreConfig --module nodenext --target es2024 --lib es2024,dom --types node';
    const options = [...flags.split(' '), '--typeRoots', join(ROOT, 'node_modules/@types')];
    const faultsIn = (name: string): Promise<string> =>
      run(join(ROOT, 'node_modules/.bin/tsc'), [...options, name], { cwd: folder }).then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
    expect(await faultsIn('right.mts')).toBe('');
    expect(await faultsIn('wrong.mts')).toMatch(/wrong\.mts.*"spend"/);
  });

  test('runs in a page of another origin', { timeout: 120_000 }, async (context) => {
    const executable = await findChromium();
    if (executable === null) return context.skip('no browser starts on this machine');
    const files: Readonly<Record<string, string>> = {
      '/client/': 'ad-intelligence/dist/client/',
      '/fetch/': 'openapi-fetch/dist/',
    };
    const imports = { 'openapi-fetch': '/fetch/index.mjs' };
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const [prefix, path] = Object.entries(files).find(([one]) => pathname.startsWith(one)) ?? [];
      if (prefix === undefined || path === undefined) {
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`);
        return;
      }
      response.setHeader('content-type', 'text/javascript');
      void readFile(inFolder(path + pathname.slice(prefix.length))).then((text) => response.end(text));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using pages = new AsyncDisposableStack();
    pages.defer(() => void server.close());
    const browser = await chromium.launch({ executablePath: executable, args: CHROMIUM_ARGUMENTS });
    pages.defer(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const [, brand] = brands;
    const script = `(async ({ baseUrl, apiKey, brandId }) => {
      const { createClient, readWebhook } = await import('/client/client.js');
      ${PROGRAM}
    })(${JSON.stringify(argumentsFor(brand))})`;
    expect(await page.evaluate(script)).toEqual(resultFor(brand));
  });
});
