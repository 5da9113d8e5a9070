import { hash, randomUUID } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import { callerOf, type RequestContext } from '../request-context.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import { bearerOf } from '#platform/http/bearer-token.ts';

/** Printable ASCII without spaces, as in the draft of the header. */
const KEY = /^[\x21-\x7e]{1,255}$/;

export const claimIdempotencyKey = async (
  context: RequestContext,
  dependencies: ApiDependencies,
): Promise<void> => {
  context.commandId = randomUUID();
  const key = context.request.headers['idempotency-key'];
  if (key === undefined || context.endpoint.method !== 'POST') return;
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message = 'An idempotency key must be 1 to 255 printable ASCII characters without spaces.';
    throw new Refusal('invalid_input', message, [
      { path: 'idempotency-key', message, code: 'invalid_format' },
    ]);
  }
  // Hashes the validated body, so that white space and property order do not matter.
  const fingerprint = hash('sha256', JSON.stringify(context.body) ?? '', 'base64url');
  const path = context.request.url.split('?', 1)[0] ?? '';
  const { workspaceId, keyId } = callerOf(context);
  const outcome = await dependencies.idempotencyStore.claim({
    workspaceId,
    scope: keyId,
    keyText: bearerOf(context.request.headers) ?? '',
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
    context.result = { data, asOf, position };
  }
};
