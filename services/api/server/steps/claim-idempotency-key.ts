import { hash, randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import { callerOf, type Exchange } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import { bearerOf } from './authenticate.ts';

/** Printable ASCII, as the header's draft has it. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** `idempotency-key` on a POST: the second request with it gets the first one's answer and does nothing. */
export const claimIdempotencyKey = async (exchange: Exchange, room: ApiDependencies): Promise<void> => {
  exchange.commandId = randomUUID();
  const key = exchange.request.headers['idempotency-key'];
  if (key === undefined || exchange.endpoint.method !== 'POST') return;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'An idempotency key is 1 to 255 printable ASCII characters, none of them a space.';
    throw new Refusal('invalid_input', message, [
      { path: 'idempotency-key', message, code: 'invalid_format' },
    ]);
  }
  // Of the checked body, so that white space and the order of properties make no difference.
  const fingerprint = hash('sha256', JSON.stringify(exchange.body) ?? '', 'base64url');
  const path = exchange.request.url.split('?', 1)[0] ?? '';
  const outcome = await room.idempotentAnswers.claim({
    scope: callerOf(exchange).keyId,
    sealedWith: bearerOf(exchange.request) ?? '',
    path,
    key,
    fingerprint,
  });
  if ('commandId' in outcome) {
    exchange.claim = outcome;
    exchange.commandId = outcome.commandId;
  } else {
    exchange.replayed = outcome;
    const { data, asOf, position } = outcome;
    exchange.answer = { data, asOf, position };
  }
};
