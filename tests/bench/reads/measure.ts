import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type CpuTimes, cpuTimes, usedSince } from '../cpu-time.ts';
import type { Case } from './requests.ts';

/** Asks of one page: so many, yet not for longer than this, and each path a few times at least. */
const ASKS = 100;
const TIME_MS = 600;
const ASKS_OF_PATH_MIN = 3;
/** Below what a minute lets one key do. */
const ASKS_OF_KEY = 900;
const PAGE_ITEMS = 20;
const PAGE_ITEMS_MAX = 100;
const HUNDREDTH = 100;
/** Lists of which the hundredth page is asked for, of one row. */
const PATHS_WALKED_MAX = 4;

/** `busy`: processor time of the API and of PostgreSQL, which does not wait for others on the machine. */
export type Times = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly busyP50Ms: number;
  readonly busyP99Ms: number;
  readonly slowest: string;
};
export type Measured = { readonly asked: Case; readonly first: Times; readonly hundredth: Times | null };

type Reply = { readonly status: number; readonly text: string; readonly tookMs: number };

/** One connection, kept open. */
export const openAsking = (origin: string, keys: readonly string[]) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let asked = 0;
  const ask = (path: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const key = keys[Math.floor(asked / ASKS_OF_KEY) % keys.length] ?? '';
      asked += 1;
      const sentMs = performance.now();
      request(`${origin}${path}`, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const tookMs = performance.now() - sentMs;
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8'), tookMs });
        });
      })
        .on('error', reject)
        .end();
    });
  return { ask, close: () => agent.destroy() };
};

type Ask = (path: string) => Promise<Reply>;

const NANOSECONDS_OF_MS = 1e6;

/** How long the main thread of each process has run, in milliseconds; none that has ended, nor where there is no /proc. */
const ranFor = (pids: readonly number[]): CpuTimes => {
  const times = new Map<number, number>();
  for (const pid of pids) {
    try {
      const nanoseconds = Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
      times.set(pid, nanoseconds / NANOSECONDS_OF_MS);
    } catch {
      // A session or a worker of PostgreSQL that has ended does nothing more.
    }
  }
  return times;
};

/** The API, and its sessions of PostgreSQL, which are the postmaster's children. */
export type Servers = { readonly apiPid: number; readonly postmasterPid: number };

const pidsOf = async ({ apiPid, postmasterPid }: Servers): Promise<readonly number[]> => [
  apiPid,
  ...(await cpuTimes(({ parent }) => parent === postmasterPid)).keys(),
];

const askWell = async (ask: Ask, path: string): Promise<Reply> => {
  const reply = await ask(path);
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${reply.text.slice(0, 300)}`);
  return reply;
};

/** Each path once unmeasured first: statements are prepared, pages are in memory. */
const timesOf = async (ask: Ask, servers: Servers, paths: readonly string[]): Promise<Times> => {
  for (const path of paths) await askWell(ask, path);
  const pids = await pidsOf(servers);
  const seen: { readonly tookMs: number; readonly path: string }[] = [];
  const busyMs: number[] = [];
  const endMs = performance.now() + TIME_MS;
  while (seen.length < ASKS && (performance.now() < endMs || seen.length < paths.length * ASKS_OF_PATH_MIN)) {
    const path = paths[seen.length % paths.length] ?? '';
    const before = ranFor(pids);
    seen.push({ path, tookMs: (await askWell(ask, path)).tookMs });
    busyMs.push(usedSince(before, ranFor(pids)));
  }
  seen.sort((a, b) => a.tookMs - b.tookMs);
  busyMs.sort((a, b) => a - b);
  const at = (share: number): number => Math.floor(seen.length * share);
  return {
    p50Ms: seen[at(0.5)]?.tookMs ?? Number.NaN,
    p99Ms: seen[at(0.99)]?.tookMs ?? Number.NaN,
    busyP50Ms: busyMs[at(0.5)] ?? Number.NaN,
    busyP99Ms: busyMs[at(0.99)] ?? Number.NaN,
    slowest: seen.at(-1)?.path ?? '',
  };
};

/** The path of the hundredth page, or of the last where there are fewer; `null` where there is one only. */
const hundredthOf = async (ask: Ask, path: string): Promise<string | null> => {
  const joint = path.includes('?') ? '&' : '?';
  let before = (HUNDREDTH - 1) * PAGE_ITEMS;
  let at: string | null = null;
  while (before > 0) {
    const limit = Math.min(before, PAGE_ITEMS_MAX);
    const { text } = await askWell(ask, `${at ?? path}${at === null ? joint : '&'}limit=${limit}`);
    const { meta } = JSON.parse(text) as { meta: { cursor?: string | null } };
    if (!meta.cursor) return at;
    at = `${path}${joint}cursor=${meta.cursor}`;
    before -= limit;
  }
  return at;
};

export const measure = async (ask: Ask, servers: Servers, asked: Case): Promise<Measured> => {
  const first = await timesOf(ask, servers, asked.paths);
  if (!asked.paged) return { asked, first, hundredth: null };
  const later: string[] = [];
  for (const path of asked.paths.slice(0, PATHS_WALKED_MAX)) {
    const page = await hundredthOf(ask, path);
    if (page !== null) later.push(page);
  }
  return { asked, first, hundredth: later.length === 0 ? null : await timesOf(ask, servers, later) };
};
