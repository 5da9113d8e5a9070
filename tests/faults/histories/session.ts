import { pause } from '#platform/clock.ts';
import type { Attempt } from './history.ts';

/** Keeps the rules of the specification for clients. */

/** An API that was stopped or killed does not answer. */
const REQUEST_MS = 12_000;
/** Repeats end after this. */
const REPEATED_MS = 90_000;

/** `run` counts starts. `underWay`: requests without an answer. */
export type Target = { readonly url: string; run(): number; underWay: number };

export type Request = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
};

export type Reply = {
  readonly status: number;
  readonly data: unknown;
  /** Empty for a success. */
  readonly message: string;
  /** `null` when the reply names none. */
  readonly position: bigint | null;
};

export type Session = {
  readonly caller: number;
  /** Changes to the other API process. */
  move(): void;
  /** Rejects without an answer. `key`: instead of the caller's own. */
  send(
    request: Request,
    options?: { readonly idempotencyKey?: string; readonly key?: string },
  ): Promise<Reply>;
  /** `null` when all takes too long. */
  repeat(request: Request, idempotencyKey?: string): Promise<Reply | null>;
};

/** 503, or 409 while an earlier attempt runs. */
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
  /** With its run. */
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
