import type { FailureClass } from '#contracts/values/alerts.ts';
import { BlockedTarget } from '../egress/ssrf-guard.ts';

const DNS = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|ENONAME|EBADNAME|EBADRESP|EDNS$|EFORMERR)/;
const TLS =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO$|ETLS$|HOSTNAME_MISMATCH|ERR_OSSL)/;
const TIMEOUT = /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ESOCKETTIMEDOUT)$/;
/** Codes of an invalid HTTP response. The parser error has a code only sometimes. */
const ANSWER = /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH|RESPONSE))/;
const PARSER_ERROR = 'HTTPParserError';

const SENTENCES: Readonly<Record<FailureClass, string>> = {
  timeout: 'The connection timed out.',
  connection: 'The connection failed, or was closed before a response.',
  dns: 'The host name could not be resolved.',
  tls: 'The TLS connection failed: the certificate or the protocol was not accepted.',
  http: 'The response was not valid HTTP.',
  blocked_target: 'This target is blocked.',
};

export type NetworkFailure = { readonly failure: FailureClass; readonly reason: string };

const codeOf = (error: Error): string => {
  const own = (error as { code?: unknown }).code;
  if (typeof own === 'string') return own;
  // An AggregateError holds an error per address; the last one represents them.
  const several = (error as { errors?: readonly Error[] }).errors;
  return several?.length ? codeOf(several.at(-1) ?? new Error('none')) : '';
};

/** The reason is a sentence for customers and never holds an internal address. */
export const networkFailure = (error: Error): NetworkFailure => {
  if (error instanceof BlockedTarget) return { failure: 'blocked_target', reason: error.message };
  const code = codeOf(error);
  const createFailure = (failure: FailureClass): NetworkFailure => ({
    failure,
    reason: code === '' ? SENTENCES[failure] : `${SENTENCES[failure]} (${code})`,
  });
  if (TIMEOUT.test(code)) return createFailure('timeout');
  if (DNS.test(code)) return createFailure('dns');
  if (TLS.test(code)) return createFailure('tls');
  return createFailure(ANSWER.test(code) || error.name === PARSER_ERROR ? 'http' : 'connection');
};
