import { createHmac } from 'node:crypto';
import { type Usage, usageOf } from '#domain/collecting/usage.ts';
import { requestOnce, type Route } from '#platform/http-client/request-once.ts';
import { type ArchiveAnswer, readArchiveAnswer, withoutSecrets } from './archive-answer.ts';
import { type ArchiveRequest, type ArchiveSearch, archiveParameters } from './archive-request.ts';

/** Maximum decompressed bytes of an answer. */
export const ANSWER_MAX_BYTES = 16 * 1024 ** 2;

export type ArchiveClientOptions = Route & {
  /** Origin of the platform, such as https://graph.facebook.com. */
  readonly origin: string;
  /** Version of the API, such as `v24.0`. */
  readonly version: string;
  readonly userAgent: string;
  readonly token: string;
  /** Secret of the app; `null` when calls carry no proof of it. */
  readonly appSecret: string | null;
  /** Whether the countries that each ad reached are requested. They make answers about three times as large. */
  readonly reached: boolean;
};

export type ArchiveCall = { readonly answer: ArchiveAnswer; readonly usage: Usage | null };

export type ArchiveClient = {
  /** Makes one call. Never throws, except when `signal` is aborted. */
  call(request: ArchiveRequest | ArchiveSearch, signal: AbortSignal): Promise<ArchiveCall>;
};

/** Returns a client that tells the kind of each answer to `counted`. */
export const countCalls = (client: ArchiveClient, counted: (answer: string) => void): ArchiveClient => ({
  call: async (request, signal) => {
    const call = await client.call(request, signal);
    counted(call.answer.kind);
    return call;
  },
});

/** Returns the proof that a call comes from the app's own servers: an HMAC-SHA-256 of the token. */
const proofOf = (token: string, appSecret: string): string =>
  createHmac('sha256', appSecret).update(token).digest('hex');

/**
 * Creates a client of the library API for one account. The token travels in a header, so that no address holds it. Redirects
 * are not followed, because another host must not receive it.
 */
export const createArchiveClient = (options: ArchiveClientOptions): ArchiveClient => {
  const { origin, version, userAgent, token, appSecret, reached } = options;
  const proof = appSecret === null ? null : proofOf(token, appSecret);
  const secrets = [token, ...(appSecret === null ? [] : [appSecret]), ...(proof === null ? [] : [proof])];
  return {
    call: async (request, signal) => {
      const parameters = archiveParameters(request, reached);
      if (proof !== null) parameters.set('appsecret_proof', proof);
      const url = new URL(`/${version}/ads_archive?${parameters.toString()}`, origin);
      try {
        const { status, headers, body } = await requestOnce(options, url, {
          headers: { authorization: `Bearer ${token}`, 'user-agent': userAgent, accept: 'application/json' },
          maxBytes: ANSWER_MAX_BYTES,
          overflow: 'fail',
          signal,
        });
        return { answer: readArchiveAnswer(status, body, secrets), usage: usageOf(headers) };
      } catch (error) {
        signal.throwIfAborted();
        const { message } = error as Error;
        return { answer: { kind: 'fault', detail: withoutSecrets(message, secrets) }, usage: null };
      }
    },
  };
};
