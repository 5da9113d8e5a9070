import { hash, randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import { bearerOf } from './authenticate.ts';

/** Printable ASCII, as the header's draft has it. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** `idempotency-key` on a POST: the second request with it gets the first one's answer and does nothing. */
export const claimIdempotencyKey = async (
  context: RequestContext,
  dependencies: ApiDependencies,
): Promise<void> => {
  context.commandId = randomUUID();
  const key = context.request.headers['idempotency-key'];
  if (key === undefined || context.endpoint.method !== 'POST') return;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'An idempotency key is 1 to 255 printable ASCII characters, none of them a space.';
    throw new Refusal('invalid_input', message, [
      { path: 'idempotency-key', message, code: 'invalid_format' },
    ]);
  }
  // Of the checked body, so that white space and the order of properties make no difference.
  const fingerprint = hash('sha256', JSON.stringify(context.body) ?? '', 'base64url');
  const path = context.request.url.split('?', 1)[0] ?? '';
  const outcome = await dependencies.idempotencyStore.claim({
    scope: callerOf(context).keyId,
    sealedWith: bearerOf(context.request) ?? '',
    path,
    key,
    fingerprint,
  });
  if ('commandId' in outcome) {
    context.claim = outcome;
    context.commandId = outcome.commandId;
  } else {
    context.replayed = outcome;
    const { data, asOf, position } = outcome;
    context.answer = { data, asOf, position };
  }
};
