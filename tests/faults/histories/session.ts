import { pause } from '#platform/clock.ts';
import type { Attempt } from './history.ts';

/** Caller that keeps the rules of the specification for clients. */

/** Limit of one request: an API that was stopped or killed does not answer. */
const REQUEST_MS = 12_000;
/** Time for which a request is repeated. */
const REPEATED_MS = 90_000;

/** API process. `run` counts its starts, `underWay` its requests without an answer. */
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
  /** Log position of the reply; `null` when it names none. */
  readonly position: bigint | null;
};

export type Session = {
  readonly caller: number;
  /** Sends later requests to the other API process. */
  move(): void;
  /** Sends once and rejects without an answer. `key`: instead of the caller's own. */
  send(
    request: Request,
    options?: { readonly idempotencyKey?: string; readonly key?: string },
  ): Promise<Reply>;
  /** Repeats until answered; `null` when that takes too long. */
  repeat(request: Request, idempotencyKey?: string): Promise<Reply | null>;
};

/** True for 503, and for 409 while an earlier attempt runs. */
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
  readonly key: string;
  readonly targets: readonly [Target, Target];
  readonly choose: (below: number) => number;
  readonly onAttempt: (attempt: Attempt) => void;
}): Session => {
  let api = caller % 2;
  let position = 0n;
  /** API process that answered last, with its run. */
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
