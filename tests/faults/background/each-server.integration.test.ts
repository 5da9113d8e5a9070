import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { judge } from '#tests/trials/judge.ts';
import type { FaultMode, FaultProxy } from '../fault-proxy.ts';
import { openProxiedService, type ProxiedService, type Server } from './proxied-service.ts';
import { type AllWork, createWork, type WorkName } from './work.ts';

/**
 * Processes go on without a restart, and nothing is lost or done twice. Runs in `npm run trial -- server-faults` only.
 */

const { SERVER_FAULTS_ALL: isLong } = readSettings(
  z.object({ SERVER_FAULTS_ALL: z.coerce.number().default(0) }),
);

type Fault = Exclude<FaultMode, 'pass'> | 'half-open' | 'reset mid-answer';
type Cell = readonly [servers: readonly Server[], fault: Fault];

const FAULTS = ['mute', 'one-way', 'slow', 'cut', 'reset mid-answer'] as const;
const ofServers = (servers: readonly Server[], faults: readonly Fault[]): readonly Cell[] =>
  faults.map((fault) => [servers, fault]);
/** Servers that fail together are used by different work except `SELDOM`, which saves minutes. */
const CELLS: readonly Cell[] = [
  ...ofServers(['postgres'], [...FAULTS, 'half-open']),
  ...ofServers(['nats'], FAULTS),
  ...ofServers(['object store', 'mail server'], FAULTS),
  ...ofServers(['nats', 'object store', 'mail server'], ['half-open']),
  ...ofServers(['event store'], [...FAULTS, 'half-open']),
];

const HELD_MS = 1_000;
/** A lease whose answer was lost ends after 10 s, and a standby looks once a second. */
const GOES_ON_MS = 20_000;
/** Limit after connections died silently: until they are found, and their work is repeated. */
const FOUND_MS = 45_000;
/** Limit of an answer: the time of a request of `mcp` or `intake`. */
const ANSWER_MS = 20_000;
const LIMIT_MS = 300_000;

/** Work that uses a server, and other work that must go on meanwhile. */
const USERS: Readonly<Record<Server, readonly WorkName[]>> = {
  postgres: [
    'intake, ingest and projector',
    'alerts and delivery',
    'exports of reports',
    'requests for scans',
    'media',
    'collector',
    'tools of mcp',
    'sign-in with a code',
  ],
  'event store': [
    'intake, ingest and projector',
    'alerts and delivery',
    'exports of reports',
    'tools of mcp',
    'sign-in with a code',
  ],
  nats: [
    'intake, ingest and projector',
    'alerts and delivery',
    'requests for scans',
    'media',
    'collector',
    'tools of mcp',
  ],
  'object store': [
    'intake of files',
    'exports of reports',
    'media',
    'pictures of mcp',
    'alerts and delivery',
  ],
  'mail server': ['delivery of e-mails', 'sign-in with a code', 'alerts and delivery'],
};
/** Work with counted or rare attempts. Its pieces begin when the fault is over. */
const AFTERWARDS: ReadonlySet<WorkName> = new Set([
  'delivery of e-mails',
  'exports of reports',
  'requests for scans',
  'collector',
]);
/** Work that looks seldom, or waits up to a minute for a lost answer. The last test waits for it. */
const SELDOM: ReadonlySet<WorkName> = new Set(['requests for scans', 'collector', 'media']);
/** Limit of a late piece: the lease of a minute, and the next look. */
const LATER_MS = 130_000;

describe.runIf(isLong)('while a server of the background processes fails', { timeout: LIMIT_MS }, () => {
  let service: ProxiedService;
  let work: AllWork;
  let pieces = 0;
  /** Pieces that met a fault, with their milliseconds. */
  const begunForLater: Promise<readonly [WorkName, number]>[] = [];
  const resources = new AsyncDisposableStack();

  beforeAll(async () => {
    service = resources.use(await openProxiedService());
    work = await createWork(service);
    const names = Object.keys(work.pieces) as readonly WorkName[];
    await Promise.all(names.filter((name) => !SELDOM.has(name)).map(begin));
  }, LIMIT_MS);
  afterAll(() => resources.disposeAsync());

  const begin = (name: WorkName): Promise<void> => {
    pieces += 1;
    return work.pieces[name](pieces);
  };
  const beginForLater = (names: readonly WorkName[]): void => {
    for (const name of names) {
      const since = performance.now();
      const piece = begin(name).then(() => [name, performance.now() - since] as const);
      piece.catch(() => undefined);
      begunForLater.push(piece);
    }
  };
  const play = async (proxies: readonly FaultProxy[], fault: Fault): Promise<void> => {
    if (fault === 'half-open') for (const proxy of proxies) proxy.halfOpen();
    else if (fault === 'reset mid-answer') for (const proxy of proxies) proxy.reset(true);
    else {
      for (const proxy of proxies) proxy.set(fault);
      await pause(HELD_MS);
      for (const proxy of proxies) proxy.set('pass');
    }
  };

  test.for(CELLS)('%j %s: all processes go on', async ([servers, fault], context) => {
    const users = [...new Set(servers.flatMap((server) => USERS[server]))];
    const proxies = servers.map((server) => service.proxies[server]);
    // A cell that breaks must not leave its fault to the next one.
    using _ = {
      [Symbol.dispose]: () => {
        for (const proxy of proxies) proxy.endFaults();
      },
    };
    const underWay = users.filter((name) => !AFTERWARDS.has(name));
    beginForLater(underWay);
    const playing = play(proxies, fault);
    beginForLater(underWay);
    await playing;
    const since = performance.now();
    beginForLater(users.filter((name) => SELDOM.has(name)));
    const afterwards = users
      .filter((name) => !SELDOM.has(name))
      .map(async (name) => {
        await begin(name);
        return [name, performance.now() - since] as const;
      });
    for (const [name, ms] of await Promise.all(afterwards))
      judge(context, `${servers.join(', ')} ${fault}: ${name}`, ms, {
        atMost: fault === 'half-open' ? FOUND_MS : GOES_ON_MS,
        unit: 'ms',
      });
    service.assertAllRun();
  });

  test('nothing is lost or done twice, and callers are answered in time', async (context) => {
    const done = await Promise.all(begunForLater);
    expect(await work.faults()).toEqual([]);
    for (const [name, ofName] of Map.groupBy(done, ([one]) => one)) {
      const slowestMs = Math.max(...ofName.map(([, ms]) => ms));
      judge(context, `slowest of ${ofName.length} pieces that met faults: ${name}`, slowestMs, {
        atMost: LATER_MS,
        unit: 'ms',
      });
    }
    for (const by of ['intake', 'mcp', 'pages of mcp'] as const) {
      const times = work.answers.filter((one) => one.by === by).map(({ ms }) => ms);
      judge(context, `slowest of ${times.length} answers of ${by}`, Math.max(...times), {
        atMost: ANSWER_MS,
        unit: 'ms',
      });
    }
    service.assertAllRun();
  });
});
