import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { createPoliteClient, type GetOutcome, type Validators } from '#platform/http-client/polite-client.ts';
import { BODY_MAX_BYTES } from '#platform/http-client/request-once.ts';
import { createTestHosts, openPlayedSites, type PlayedAnswer, type PlayedSites } from './played-sites.ts';

const START_MS = Date.parse('2026-05-01T08:00:00Z');
const NO_ROBOTS = { status: 404 } as const;

let played: PlayedSites;
let nowMs: number;
let hosts: ReturnType<typeof createTestHosts>;
beforeEach(async () => {
  played = await openPlayedSites();
  hosts = createTestHosts();
  nowMs = START_MS;
});
afterEach(() => played[Symbol.asyncDispose]());

const get = async (
  url: string,
  options: { readonly paceMs?: number; readonly validators?: Validators; readonly via?: null } = {},
): Promise<GetOutcome> => {
  await using egress = openEgress({ allowLoopback: true });
  const client = createPoliteClient({
    egress,
    via: options.via === undefined ? played.origin : null,
    hosts,
    clock: { now: () => new Date(nowMs) },
    userAgent: 'ad-intelligence/0.1.0 (+https://operator.example)',
    paceMs: options.paceMs ?? 0,
  });
  const signal = new AbortController().signal;
  return await client.get(url, { signal, ...(options.validators ? { validators: options.validators } : {}) });
};

const play = (robots: PlayedAnswer, page: PlayedAnswer = { body: 'page' }): void => {
  played.sites.set('shop.example', (path) => (path === '/robots.txt' ? robots : page));
};

describe('robots.txt', () => {
  test.each<[string, PlayedAnswer, string]>([
    ['that is missing allows', NO_ROBOTS, 'answered'],
    ['with 403 allows', { status: 403 }, 'answered'],
    ['with 500 forbids', { status: 500 }, 'forbidden'],
    ['with 503 forbids', { status: 503 }, 'forbidden'],
    ['that names the service forbids', { body: 'User-agent: ad-intelligence\nDisallow: /a' }, 'forbidden'],
    ['for another robot allows', { body: 'User-agent: other\nDisallow: /' }, 'answered'],
    ['for all forbids', { body: 'User-agent: *\nDisallow: /a*.json' }, 'forbidden'],
    [
      'with a longer allowing rule allows',
      { body: 'User-agent: *\nDisallow: /\nAllow: /a.json' },
      'answered',
    ],
    ['that is a page of HTML allows', { body: '<html><p>Disallow: /</p></html>' }, 'answered'],
    ['beyond 500 KiB is cut', { body: `#${'x'.repeat(500 * 1024)}\nUser-agent: *\nDisallow: /` }, 'answered'],
    [
      'that redirects without end forbids',
      { status: 301, headers: { location: '/robots.txt' } },
      'forbidden',
    ],
  ])('%s', async (_, robots, kind) => {
    play(robots);
    expect((await get('https://shop.example/a.json')).kind).toBe(kind);
  });

  test.each([
    ['forbids what its beginning matches', 'Disallow', 'forbidden'],
    ['allows nothing by it', 'Disallow: /\nAllow', 'forbidden'],
  ])('with rules of very many wildcards is decided soon, and %s', async (_, field, kind) => {
    const rules = Array.from({ length: 200 }, (__, n) => `${field}: /${'*a'.repeat(1_000)}${n}`);
    play({ body: `User-agent: *\n${rules.join('\n')}` });
    const started = performance.now();
    expect((await get(`https://shop.example/${'a'.repeat(2_000)}`)).kind).toBe(kind);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test('is kept for 24 hours, then asked for on condition', async () => {
    let condition: string | undefined;
    played.sites.set('shop.example', (path, request) => {
      if (path !== '/robots.txt') return { body: 'page' };
      condition = request.headers['if-none-match'];
      if (condition === '"1"') return { status: 304 };
      return { headers: { etag: '"1"' }, body: 'User-agent: *\nDisallow: /private' };
    });
    await get('https://shop.example/a');
    nowMs += DAY_MS - 1;
    await get('https://shop.example/a');
    expect(played.requests.filter((one) => one.endsWith('robots.txt'))).toHaveLength(1);
    nowMs += 1;
    expect((await get('https://shop.example/private')).kind).toBe('forbidden');
    expect(condition).toBe('"1"');
    expect(played.requests.filter((one) => one.endsWith('robots.txt'))).toHaveLength(2);
  });

  test('that could not be read is asked for again after an hour', async () => {
    play({ status: 500 });
    await get('https://shop.example/a');
    play(NO_ROBOTS);
    expect((await get('https://shop.example/a')).kind).toBe('forbidden');
    nowMs += HOUR_MS;
    expect((await get('https://shop.example/a')).kind).toBe('answered');
  });
});

describe('pace', () => {
  test.each([
    ['is 5 seconds', '', 5_000],
    ['follows a longer Crawl-delay', 'Crawl-delay: 20', 20_000],
    ['follows a Crawl-delay to 60 seconds', 'Crawl-delay: 3600', 60_000],
    ['is not quickened by a Crawl-delay', 'Crawl-delay: 1', 5_000],
  ])('%s', async (_, line, spacingMs) => {
    play({ body: `User-agent: *\n${line}\nDisallow:` });
    await get('https://shop.example/a', { paceMs: 5_000 });
    expect(hosts.reserved).toEqual(['shop.example 5000', `shop.example ${spacingMs}`]);
  });
});

describe('a refusal', () => {
  test.each([401, 403, 423, 430])('with %i rests for a day, after three for a week', async (status) => {
    play(NO_ROBOTS, { status });
    for (const days of [1, 1, 7]) {
      const outcome = await get('https://shop.example/a');
      expect(outcome).toMatchObject({ kind: 'resting', untilMs: nowMs + days * DAY_MS });
      const sent = played.requests.length;
      nowMs += days * DAY_MS - 1;
      expect((await get('https://shop.example/a')).kind).toBe('resting');
      expect(played.requests).toHaveLength(sent);
      nowMs += 1;
    }
  });

  test('is forgotten after a good answer', async () => {
    for (let refusals = 0; refusals < 2; refusals += 1) {
      play(NO_ROBOTS, { status: 403 });
      await get('https://shop.example/a');
      nowMs += DAY_MS;
    }
    play(NO_ROBOTS);
    await get('https://shop.example/a');
    play(NO_ROBOTS, { status: 403 });
    expect(await get('https://shop.example/a')).toMatchObject({ untilMs: nowMs + DAY_MS });
  });

  test.each([
    ['Retry-After in seconds', '120', 120_000],
    ['Retry-After as a date', 'Fri, 01 May 2026 10:00:00 GMT', 2 * HOUR_MS],
    ['Retry-After of 0, as a minute', '0', 60_000],
    ['a Retry-After that is none, as an hour', 'soon', HOUR_MS],
  ])('with 429 obeys %s', async (_, retryAfter, restMs) => {
    play(NO_ROBOTS, { status: 429, headers: { 'retry-after': retryAfter } });
    expect(await get('https://shop.example/a')).toMatchObject({ kind: 'resting', untilMs: nowMs + restMs });
  });

  test('with 429 on robots.txt rests too', async () => {
    play({ status: 429, headers: { 'retry-after': '120' } });
    expect(await get('https://shop.example/a')).toMatchObject({ kind: 'resting', untilMs: nowMs + 120_000 });
    expect(played.requests).toEqual(['shop.example /robots.txt']);
  });
});

describe('redirects', () => {
  test('are followed five times, each by the rules of its host', async () => {
    played.sites.set('shop.example', (path) => {
      const step = Number(path.slice(1));
      if (path === '/robots.txt') return NO_ROBOTS;
      return step < 5 ? { status: 302, headers: { location: `/${step + 1}` } } : { body: 'end' };
    });
    const outcome = await get('https://shop.example/0');
    expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
    expect(outcome.kind === 'answered' && outcome.url.pathname).toBe('/5');
  });

  test('beyond five fail', async () => {
    play(NO_ROBOTS, { status: 302, headers: { location: '/again' } });
    expect(await get('https://shop.example/a')).toEqual({ kind: 'failed', reason: 'more than 5 redirects' });
  });

  test('to a host that forbids are not followed', async () => {
    play(NO_ROBOTS, { status: 302, headers: { location: 'https://other.example/b' } });
    played.sites.set('other.example', () => ({ body: 'User-agent: *\nDisallow: /' }));
    expect((await get('https://shop.example/a')).kind).toBe('forbidden');
    expect(played.requests).not.toContain('other.example /b');
  });

  test.each([
    'http://169.254.169.254/latest',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://printer.local/',
    'http://shop.example/plain',
    'file:///etc/passwd',
    'https://user:secret@shop.example/',
  ])('to %s are not followed', async (location) => {
    play(NO_ROBOTS, { status: 302, headers: { location } });
    const outcome = await get('https://shop.example/a');
    expect(outcome.kind === 'failed' && outcome.reason).toMatch(/^blocked: /);
    expect(played.requests).toEqual(['shop.example /robots.txt', 'shop.example /a']);
  });

  test.each(['', 'https://'])('to %j fail', async (location) => {
    play(NO_ROBOTS, { status: 302, headers: { location } });
    expect((await get('https://shop.example/a')).kind).toBe('failed');
  });
});

describe('an answer', () => {
  test('is decompressed', async () => {
    play(NO_ROBOTS, { headers: { 'content-encoding': 'gzip' }, body: gzipSync('page') });
    const outcome = await get('https://shop.example/a');
    expect(outcome.kind === 'answered' && outcome.body.toString()).toBe('page');
  });

  test.each([
    ['plain', {}, Buffer.alloc(BODY_MAX_BYTES + 1)],
    ['compressed', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(BODY_MAX_BYTES + 1))],
  ])('beyond 8 MiB fails, %s', async (_, headers, body) => {
    play(NO_ROBOTS, { headers, body });
    expect(await get('https://shop.example/a')).toMatchObject({ kind: 'failed', reason: /8388608/ });
  });

  test.each([
    ['in an unknown encoding', { headers: { 'content-encoding': 'zstd' }, body: 'x' }],
    ['with broken compression', { headers: { 'content-encoding': 'gzip' }, body: 'x' }],
  ])('%s fails', async (_, page) => {
    play(NO_ROBOTS, page);
    expect((await get('https://shop.example/a')).kind).toBe('failed');
  });

  test('that is cut off fails', async () => {
    played.sites.set('shop.example', (path) =>
      path === '/robots.txt'
        ? NO_ROBOTS
        : (response) => {
            response.writeHead(200, { 'content-length': '100' });
            response.write('part', () => response.destroy());
          },
    );
    expect((await get('https://shop.example/a')).kind).toBe('failed');
  });

  test('that takes over 30 s fails, also while its bytes still come', async () => {
    const limit = vi.spyOn(AbortSignal, 'timeout');
    limit.mockImplementation((ms) => {
      expect(ms).toBe(30_000);
      const ended = new AbortController();
      setTimeout(() => ended.abort(new Error('The time is over.')), 200);
      return ended.signal;
    });
    played.sites.set('shop.example', (path) =>
      path === '/robots.txt'
        ? NO_ROBOTS
        : (response) => {
            response.writeHead(200, { 'content-length': '1000000' });
            const slow = setInterval(() => response.write('x'), 20);
            response.on('close', () => clearInterval(slow));
          },
    );
    const outcome = await get('https://shop.example/a');
    limit.mockRestore();
    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringContaining('The time is over.') });
  });

  test('is not sent again when its validators are equal', async () => {
    played.sites.set('shop.example', (path, request) => {
      if (path === '/robots.txt') return NO_ROBOTS;
      const { 'if-none-match': etag, 'if-modified-since': since } = request.headers;
      return etag === '"7"' && since === 'Fri, 01 May 2026 07:00:00 GMT' ? { status: 304 } : { body: 'page' };
    });
    const validators = { etag: '"7"', lastModified: 'Fri, 01 May 2026 07:00:00 GMT' };
    expect(await get('https://shop.example/a', { validators })).toEqual({ kind: 'unchanged' });
  });

  test('is asked for with the name of the service and its contact', async () => {
    let agent: string | undefined;
    played.sites.set('shop.example', (_, request) => {
      agent = request.headers['user-agent'];
      return NO_ROBOTS;
    });
    await get('https://shop.example/a');
    expect(agent).toBe('ad-intelligence/0.1.0 (+https://operator.example)');
  });
});

test('a host that cannot be reached fails', async () => {
  await played[Symbol.asyncDispose]();
  expect((await get('https://shop.example/a')).kind).toBe('forbidden');
  played = await openPlayedSites();
});

test('no host on loopback is requested when requests go to the played world', async () => {
  expect(await get(`${played.origin}/a`)).toMatchObject({ kind: 'failed', reason: /^blocked/ });
  expect(played.requests).toEqual([]);
});
