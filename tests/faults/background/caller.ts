import { pause } from '#platform/clock.ts';
import type { ProxiedService } from './proxied-service.ts';

/** Milliseconds in which a piece of work is done, however long its retries wait. */
export const DONE_MS = 150_000;
/** Milliseconds between two requests of a caller that was refused. */
const AGAIN_MS = 250;

/** Statuses with which a caller is asked to come again: a server is away, or as many of its requests run as may. */
const REFUSALS: readonly number[] = [503, 429];
/** The least status of an error. */
const ERROR_MIN = 400;

/** A process, or the part of it that callers ask. */
export type Asked = 'intake' | 'intake of files' | 'mcp' | 'pages of mcp';

/** An answer of a process to a caller. */
export type Answer = { readonly by: Asked; readonly status: number; readonly ms: number };

export type Reply = { readonly status: number; readonly headers: Headers; readonly body: string };

/**
 * Repeats a request while it is refused, as callers do, until `isWanted` accepts the reply. Returns that reply. Throws on any other
 * error. Without `isWanted`, every reply but an error is accepted.
 */
export type Send = (
  by: Asked,
  url: string,
  init: RequestInit,
  isWanted?: (reply: Reply) => boolean,
) => Promise<Reply>;

/** `answers`: where all answers are noted. */
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
