import { expect, test } from 'vitest';
import type { FailureClass } from '#contracts/values/alerts.ts';
import { networkFailure } from '#platform/channels/send-outcome.ts';
import { BlockedTarget } from '#platform/egress/ssrf-guard.ts';

const coded = (code: string): Error => Object.assign(new Error('failed at 10.0.0.7'), { code });
const cases: readonly (readonly [FailureClass, Error])[] = [
  ['timeout', coded('UND_ERR_CONNECT_TIMEOUT')],
  ['timeout', coded('ETIMEDOUT')],
  ['dns', coded('ENOTFOUND')],
  ['dns', coded('ETIMEOUT')],
  ['dns', coded('EAI_AGAIN')],
  ['tls', coded('CERT_HAS_EXPIRED')],
  ['tls', coded('DEPTH_ZERO_SELF_SIGNED_CERT')],
  ['tls', coded('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['tls', coded('EPROTO')],
  ['http', coded('HPE_INVALID_CONSTANT')],
  ['http', coded('UND_ERR_HEADERS_OVERFLOW')],
  ['http', Object.assign(new Error('no code'), { name: 'HTTPParserError' })],
  ['connection', coded('ECONNREFUSED')],
  ['connection', coded('UND_ERR_SOCKET')],
  ['connection', new Error('unknown error')],
  ['connection', new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')])],
  ['timeout', new AggregateError([coded('ENETUNREACH'), coded('ETIMEDOUT')])],
  ['blocked_target', new BlockedTarget('This address is not on the public internet.')],
];

test.each(cases)('classifies as %s: %s', (failure, error) => {
  const found = networkFailure(error);
  expect(found.failure).toBe(failure);
  expect(found.reason).toMatch(/^[A-Z].*[.)]$/);
  expect(found.reason).not.toContain('10.0.0.7');
});
