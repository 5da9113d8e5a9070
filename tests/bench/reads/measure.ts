import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type CpuTimes, cpuTimes, usedSince } from '../cpu-time.ts';
import type { Case } from './case.ts';
import { samples } from '../bench.ts';

/** Limits per page: maximum requests, maximum time, and minimum requests per path. */
const REQUESTS_MAX = samples(100);
const TIME_MS = samples(600);
const REQUESTS_OF_PATH_MIN = samples(3);
/** Maximum requests per key and minute; stays below the rate limit. */
const REQUESTS_OF_KEY = 900;
const PAGE_ITEMS = 20;
const PAGE_ITEMS_MAX = 100;
const HUNDREDTH = 100;
/** Maximum paths per row whose hundredth page is measured. */
const PATHS_WALKED_MAX = samples(4);

/**
 * `busy`: CPU time of the API and PostgreSQL. Unlike elapsed time it excludes waiting for other load on the
 * machine.
 */
export type Times = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly busyP50Ms: number;
  readonly busyP99Ms: number;
  readonly slowest: string;
};
export type Measured = { readonly testCase: Case; readonly first: Times; readonly hundredth: Times | null };

type Reply = { readonly status: number; readonly text: string; readonly tookMs: number };

/** Creates a client with one kept-alive connection. */
export const createClient = (origin: string, keys: readonly string[]) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let requestCount = 0;
  const send = (path: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const key = keys[Math.floor(requestCount / REQUESTS_OF_KEY) % keys.length] ?? '';
      requestCount += 1;
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
  return { send, close: () => agent.destroy() };
};

type Send = (path: string) => Promise<Reply>;

const NANOSECONDS_OF_MS = 1e6;

/**
 * Returns the run time of each process's main thread so far, in milliseconds. Leaves out processes that have ended,
 * and returns nothing on systems without /proc.
 */
const readRunTimes = (pids: readonly number[]): CpuTimes => {
  const times = new Map<number, number>();
  for (const pid of pids) {
    try {
      const nanoseconds = Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
      times.set(pid, nanoseconds / NANOSECONDS_OF_MS);
    } catch {
      // The PostgreSQL session or worker has ended and uses no more CPU time.
    }
  }
  return times;
};

/** The API process, and the postmaster, whose children are the PostgreSQL sessions. */
export type Servers = { readonly apiPid: number; readonly postmasterPid: number };

const readPids = async ({ apiPid, postmasterPid }: Servers): Promise<readonly number[]> => [
  apiPid,
  ...(await cpuTimes(({ parent }) => parent === postmasterPid)).keys(),
];

const sendSuccessfully = async (send: Send, path: string): Promise<Reply> => {
  const reply = await send(path);
  if (reply.status !== 200) throw new Error(`${path} replied ${reply.status}: ${reply.text.slice(0, 300)}`);
  return reply;
};

/** Requests each path once unmeasured, to prepare statements and load pages into memory. */
const measureTimes = async (send: Send, servers: Servers, paths: readonly string[]): Promise<Times> => {
  for (const path of paths) await sendSuccessfully(send, path);
  const pids = await readPids(servers);
  const seen: { readonly tookMs: number; readonly path: string }[] = [];
  const busyMs: number[] = [];
  const endMs = performance.now() + TIME_MS;
  while (
    seen.length < REQUESTS_MAX &&
    (performance.now() < endMs || seen.length < paths.length * REQUESTS_OF_PATH_MIN)
  ) {
    const path = paths[seen.length % paths.length] ?? '';
    const before = readRunTimes(pids);
    seen.push({ path, tookMs: (await sendSuccessfully(send, path)).tookMs });
    busyMs.push(usedSince(before, readRunTimes(pids)));
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

/**
 * Returns the path of the hundredth page, or of the last page of a shorter list. Returns `null` when there is only
 * one page.
 */
const hundredthPath = async (send: Send, path: string): Promise<string | null> => {
  const joint = path.includes('?') ? '&' : '?';
  let before = (HUNDREDTH - 1) * PAGE_ITEMS;
  let at: string | null = null;
  while (before > 0) {
    const limit = Math.min(before, PAGE_ITEMS_MAX);
    const { text } = await sendSuccessfully(send, `${at ?? path}${at === null ? joint : '&'}limit=${limit}`);
    const { meta } = JSON.parse(text) as { meta: { cursor?: string | null } };
    if (!meta.cursor) return at;
    at = `${path}${joint}cursor=${meta.cursor}`;
    before -= limit;
  }
  return at;
};

export const measure = async (send: Send, servers: Servers, testCase: Case): Promise<Measured> => {
  const first = await measureTimes(send, servers, testCase.paths);
  if (!testCase.paged) return { testCase, first, hundredth: null };
  const later: string[] = [];
  for (const path of testCase.paths.slice(0, PATHS_WALKED_MAX)) {
    const page = await hundredthPath(send, path);
    if (page !== null) later.push(page);
  }
  return { testCase, first, hundredth: later.length === 0 ? null : await measureTimes(send, servers, later) };
};
