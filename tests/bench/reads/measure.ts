import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { Case } from './case.ts';
import { percentile, samples } from '../runner/bench.ts';
import { processTree } from '../runner/cpu-time.ts';

const REQUESTS_MAX = samples(100);
const TIME_MS = samples(600);
const REQUESTS_OF_PATH_MIN = samples(3);
const REPEATS_MAX = 5;
const PAGE_ITEMS = 20;
const PAGE_ITEMS_MAX = 100;
const HUNDREDTH = 100;
const PATHS_WALKED_MAX = samples(4);

/** `busy`: CPU time, which unlike elapsed time excludes waiting for other load. */
export type Times = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly busyP50Ms: number;
  readonly busyP99Ms: number;
  readonly slowest: string;
};
export type Measured = { readonly testCase: Case; readonly first: Times; readonly hundredth: Times | null };

type Reply = { readonly status: number; readonly text: string; readonly tookMs: number };

export const createClient = (origin: string, key: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (path: string): Promise<Reply> =>
    new Promise((resolve, reject) => {
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

/** API process, and the postmaster, whose children are the sessions. */
export type Servers = { readonly apiPid: number; readonly postmasterPid: number };

/** Milliseconds, finer than the clock ticks of `cpu-time.ts`. 0 on systems without /proc. */
const readRunTime = (pids: readonly number[]): number => {
  let nanoseconds = 0;
  for (const pid of pids) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // The PostgreSQL session or worker has ended and uses no more CPU time.
    }
  }
  return nanoseconds / NANOSECONDS_OF_MS;
};

/** A read that ran out of its time is repeated, and the time of both counts. */
const sendSuccessfully = async (send: Send, path: string, repeats = REPEATS_MAX): Promise<Reply> => {
  const reply = await send(path);
  if (reply.status === 503 && repeats > 0) {
    const next = await sendSuccessfully(send, path, repeats - 1);
    return { ...next, tookMs: reply.tookMs + next.tookMs };
  }
  if (reply.status !== 200) throw new Error(`${path} replied ${reply.status}: ${reply.text.slice(0, 300)}`);
  return reply;
};

/** Sends each path once before, to prepare statements and load pages. */
const measureTimes = async (send: Send, servers: Servers, paths: readonly string[]): Promise<Times> => {
  for (const path of paths) await sendSuccessfully(send, path);
  const pids = [servers.apiPid, ...(await processTree(servers.postmasterPid))];
  const seen: { readonly tookMs: number; readonly path: string }[] = [];
  const busyMs: number[] = [];
  const endMs = performance.now() + TIME_MS;
  while (
    seen.length < REQUESTS_MAX &&
    (performance.now() < endMs || seen.length < paths.length * REQUESTS_OF_PATH_MIN)
  ) {
    const path = paths[seen.length % paths.length] ?? '';
    const before = readRunTime(pids);
    seen.push({ path, tookMs: (await sendSuccessfully(send, path)).tookMs });
    busyMs.push(Math.max(0, readRunTime(pids) - before));
  }
  const tookMs = seen.map((one) => one.tookMs);
  return {
    p50Ms: percentile(tookMs, 0.5),
    p99Ms: percentile(tookMs, 0.99),
    busyP50Ms: percentile(busyMs, 0.5),
    busyP99Ms: percentile(busyMs, 0.99),
    slowest: seen.toSorted((a, b) => a.tookMs - b.tookMs).at(-1)?.path ?? '',
  };
};

/** `null` when there is only one page. */
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
