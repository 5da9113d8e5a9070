import { pause } from '#platform/clock.ts';
import type { Attempt } from './history.ts';

/** A caller's requests to two API processes. It keeps the rules that the specification gives to clients. */

/** Milliseconds of one request. An API that was stopped or killed does not answer. */
const REQUEST_MS = 12_000;
/** Milliseconds for which a request is repeated. */
const REPEATED_MS = 90_000;

/** An API process of the trial. `run` counts its starts. `underWay` is the number of requests that it has not answered. */
export type Target = { readonly url: string; run(): number; underWay: number };

export type Request = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
};

export type Reply = {
  readonly status: number;
  readonly data: unknown;
  /** Message of an error; empty for a success. */
  readonly message: string;
  /** Log position that the reply names; `null` when it names none. */
  readonly position: bigint | null;
};

export type Session = {
  readonly caller: number;
  /** Sends the requests that follow to the other API process. */
  move(): void;
  /** Sends a request once. Rejects when it is not answered. `key`: another API key than the caller's own. */
  send(
    request: Request,
    options?: { readonly idempotencyKey?: string; readonly key?: string },
  ): Promise<Reply>;
  /** Repeats a request until it is answered, and not refused for a while only. Returns null when that takes too long. */
  repeat(request: Request, idempotencyKey?: string): Promise<Reply | null>;
};

/** True for a reply that asks the caller to repeat the request: 503, or a 409 while an earlier attempt is still running. */
export const asksToRepeat = ({ status, message }: Reply): boolean =>
  status === 503 || (status === 409 && message.endsWith('Try again.'));

type Body = { readonly data?: unknown; readonly error?: { readonly message: string } };

export const openSession = ({
  caller,
  key: ownKey,
  targets,
  choose,
  onAttempt,
}: {
  readonly caller: number;
  /** Text of the caller's API key. */
  readonly key: string;
  readonly targets: readonly [Target, Target];
  readonly choose: (below: number) => number;
  readonly onAttempt: (attempt: Attempt) => void;
}): Session => {
  let api = caller % 2;
  /** Greatest position that a reply to this caller named. */
  let position = 0n;
  /** The API process that answered last, and its run. */
  let answeredBy: string | null = null;

  const send: Session['send'] = async ({ method, path, body }, { idempotencyKey, key = ownKey } = {}) => {
    const asksApi = api;
    const target = targets[asksApi] as Target;
    const asked = `${api} ${target.run()}`;
    const sentMs = Date.now();
    target.underWay += 1;
    const answered = fetch(`${target.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
        // As the specification asks of a caller that comes from another process.
        ...(method === 'GET' && answeredBy !== asked && position > 0n
          ? { 'min-position': String(position) }
          : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(REQUEST_MS),
    }).finally(() => {
      target.underWay -= 1;
      onAttempt({ api: asksApi, sentMs, endedMs: Date.now() });
    });
    const reply = await answered;
    const { data, error } = (await reply.json()) as Body;
    const text = reply.headers.get('x-read-position');
    const named = text === null ? null : BigInt(text);
    if (reply.ok && key === ownKey) {
      if (named !== null && named > position) position = named;
      // The process may have been started again while it was asked.
      answeredBy = asked === `${asksApi} ${target.run()}` ? asked : null;
    }
    return { status: reply.status, data, message: error?.message ?? '', position: named };
  };

  return {
    caller,
    move: () => {
      api = 1 - api;
    },
    send,
    repeat: async (request, idempotencyKey) => {
      const untilMs = Date.now() + REPEATED_MS;
      while (Date.now() < untilMs) {
        const reply = await send(request, idempotencyKey === undefined ? {} : { idempotencyKey }).catch(
          () => null,
        );
        if (reply !== null && !asksToRepeat(reply)) return reply;
        await pause(200 + choose(300));
      }
      return null;
    },
  };
};
