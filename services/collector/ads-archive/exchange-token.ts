import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { requestOnce, type Route } from '#platform/http-client/request-once.ts';
import { withoutSecrets } from './archive-client.ts';

const ANSWER_MAX_BYTES = 100_000;
const Exchanged = z.object({
  access_token: z.string().min(1),
  expires_in: z.number().positive().optional(),
});

export type ExchangeOptions = Route & {
  readonly origin: string;
  readonly version: string;
  readonly userAgent: string;
  readonly appId: string;
  readonly appSecret: string;
};

/** Exchanges a token for a longer-lived one. The platform takes the secret in the URL only; errors omit it. */
export const exchangeToken = async (
  options: ExchangeOptions,
  token: string,
  signal: AbortSignal,
): Promise<{ readonly token: string; readonly seconds: number | null }> => {
  const { origin, version, userAgent, appId, appSecret } = options;
  const parameters = new URLSearchParams({
    grant_type: 'fb_exchange_token',
    client_id: appId,
    client_secret: appSecret,
    fb_exchange_token: token,
  });
  const url = new URL(`/${version}/oauth/access_token?${parameters.toString()}`, origin);
  let text = '';
  try {
    const { body } = await requestOnce(options, url, {
      headers: { 'user-agent': userAgent, accept: 'application/json' },
      maxBytes: ANSWER_MAX_BYTES,
      overflow: 'fail',
      signal,
    });
    text = body.toString('utf8');
    const exchanged = Exchanged.safeParse(JSON.parse(text));
    if (exchanged.success) {
      return { token: exchanged.data.access_token, seconds: exchanged.data.expires_in ?? null };
    }
  } catch (error) {
    if (text === '') text = (error as Error).message;
  }
  const shown = withoutSecrets(text, [token, appSecret]);
  throw new Refusal(
    'invalid_input',
    `The platform did not exchange the token: ${shown}. The old one is kept.`,
  );
};
