import { Agent, request } from 'node:http';
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

export type Times = { readonly p50Ms: number; readonly p99Ms: number; readonly slowest: string };
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

const askWell = async (ask: Ask, path: string): Promise<Reply> => {
  const reply = await ask(path);
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${reply.text.slice(0, 300)}`);
  return reply;
};

/** Each path once unmeasured first: statements are prepared, pages are in memory. */
const timesOf = async (ask: Ask, paths: readonly string[]): Promise<Times> => {
  for (const path of paths) await askWell(ask, path);
  const seen: { readonly tookMs: number; readonly path: string }[] = [];
  const endMs = performance.now() + TIME_MS;
  while (seen.length < ASKS && (performance.now() < endMs || seen.length < paths.length * ASKS_OF_PATH_MIN)) {
    const path = paths[seen.length % paths.length] ?? '';
    seen.push({ path, tookMs: (await askWell(ask, path)).tookMs });
  }
  seen.sort((a, b) => a.tookMs - b.tookMs);
  const at = (share: number): number => seen[Math.floor(seen.length * share)]?.tookMs ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), slowest: seen.at(-1)?.path ?? '' };
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

export const measure = async (ask: Ask, asked: Case): Promise<Measured> => {
  const first = await timesOf(ask, asked.paths);
  if (!asked.paged) return { asked, first, hundredth: null };
  const later: string[] = [];
  for (const path of asked.paths.slice(0, PATHS_WALKED_MAX)) {
    const page = await hundredthOf(ask, path);
    if (page !== null) later.push(page);
  }
  return { asked, first, hundredth: later.length === 0 ? null : await timesOf(ask, later) };
};
