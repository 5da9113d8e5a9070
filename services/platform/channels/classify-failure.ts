import type { FailureClass } from '#contracts/values/alerts.ts';
import { BlockedTarget } from '../egress/ssrf-guard.ts';

const DNS = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|ENONAME|EBADNAME|EBADRESP|EDNS$|EFORMERR)/;
const TLS =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO$|ETLS$|HOSTNAME_MISMATCH|ERR_OSSL)/;
const TIMEOUT = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ESOCKETTIMEDOUT)$/;
/** The receiver answered, but not in HTTP that one can read. The parser's error has a code only sometimes. */
const ANSWER = /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH|RESPONSE))/;
const PARSER_ERROR = 'HTTPParserError';

const SENTENCES: Readonly<Record<FailureClass, string>> = {
  timeout: 'No connection in time.',
  connection: 'The connection could not be made, or was closed before an answer.',
  dns: 'The host name could not be resolved.',
  tls: 'No secure connection: the certificate or the protocol was not accepted.',
  http: 'The answer was not readable as HTTP.',
  blocked_target: 'This target is not called.',
};

export type NetworkFailure = { readonly failure: FailureClass; readonly reason: string };

const codeOf = (error: Error): string => {
  const own = (error as { code?: unknown }).code;
  if (typeof own === 'string') return own;
  // Of several addresses that were tried, each has its own error; the last tells as much as any.
  const several = (error as { errors?: readonly Error[] }).errors;
  return several?.length ? codeOf(several.at(-1) ?? new Error('none')) : '';
};

/** The class of what went wrong on the way. A sentence never holds an address of ours. */
export const networkFailure = (error: Error): NetworkFailure => {
  if (error instanceof BlockedTarget) return { failure: 'blocked_target', reason: error.message };
  const code = codeOf(error);
  const of = (failure: FailureClass): NetworkFailure => ({
    failure,
    reason: code === '' ? SENTENCES[failure] : `${SENTENCES[failure]} (${code})`,
  });
  if (TIMEOUT.test(code)) return of('timeout');
  if (DNS.test(code)) return of('dns');
  if (TLS.test(code)) return of('tls');
  return of(ANSWER.test(code) || error.name === PARSER_ERROR ? 'http' : 'connection');
};
