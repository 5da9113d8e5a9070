import { pause } from '#platform/clock.ts';
import type { ProxiedService } from './proxied-service.ts';

/** Limit of a piece of work, however long its retries wait. */
export const DONE_MS = 150_000;
const AGAIN_MS = 250;

/** Statuses that ask to come again: 503, a server is away; 429, too many requests run. */
const REFUSALS: readonly number[] = [503, 429];
const ERROR_MIN = 400;

export type Asked = 'intake' | 'intake of files' | 'mcp' | 'pages of mcp';

export type Answer = { readonly by: Asked; readonly status: number; readonly ms: number };

export type Reply = { readonly status: number; readonly headers: Headers; readonly body: string };

/**
 * Repeats while refused, until `isWanted` accepts the reply. Throws on other errors; without `isWanted` accepts all
 * others.
 */
export type Send = (
  by: Asked,
  url: string,
  init: RequestInit,
  isWanted?: (reply: Reply) => boolean,
) => Promise<Reply>;

/** All answers are added to `answers`. */
export const createCaller =
  ({ output }: Pick<ProxiedService, 'output'>, answers: Answer[]): Send =>
  async (by, url, init, isWanted = ({ status }) => status < ERROR_MIN) => {
    const untilMs = performance.now() + DONE_MS;
    for (;;) {
      const since = performance.now();
      const answered = await fetch(url, { redirect: 'manual', ...init });
      const reply = { status: answered.status, headers: answered.headers, body: await answered.text() };
      answers.push({ by, status: reply.status, ms: performance.now() - since });
      if (isWanted(reply)) return reply;
      const isRefused = reply.status < ERROR_MIN || REFUSALS.includes(reply.status);
      if (!isRefused || performance.now() > untilMs)
        throw new Error(`${by} answered ${reply.status}: ${reply.body}\n${output()}`);
      await pause(AGAIN_MS);
    }
  };
