import { createHmac } from 'node:crypto';
import { type Usage, usageOf } from '#domain/collecting/usage.ts';
import { requestOnce, type Route } from '#platform/http-client/request-once.ts';
import { type ArchiveAnswer, readArchiveAnswer, withoutSecrets } from './archive-answer.ts';
import { type ArchiveRequest, type ArchiveSearch, archiveParameters } from './archive-request.ts';

export const ANSWER_MAX_BYTES = 16 * 1024 ** 2;

export type ArchiveClientOptions = Route & {
  readonly origin: string;
  readonly version: string;
  readonly userAgent: string;
  readonly token: string;
  /** `null` when calls carry no proof of the app. */
  readonly appSecret: string | null;
  /** Requests the countries that each ad reached. Replies are then about three times as large. */
  readonly reached: boolean;
};

export type ArchiveCall = { readonly answer: ArchiveAnswer; readonly usage: Usage | null };

export type ArchiveClient = {
  /** Throws only on abort. */
  call(request: ArchiveRequest | ArchiveSearch, signal: AbortSignal): Promise<ArchiveCall>;
};

export const countCalls = (client: ArchiveClient, counted: (answer: string) => void): ArchiveClient => ({
  call: async (request, signal) => {
    const call = await client.call(request, signal);
    counted(call.answer.kind);
    return call;
  },
});

/** `appsecret_proof`: an HMAC-SHA-256 of the token. */
const proofOf = (token: string, appSecret: string): string =>
  createHmac('sha256', appSecret).update(token).digest('hex');

/** Sends the token in a header, so that no URL holds it. Follows no redirect: another host must not receive it. */
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
