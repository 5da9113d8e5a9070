import { readFileSync } from 'node:fs';
import { type ConnectionOptions, credsAuthenticator, nkeyAuthenticator, type TlsOptions } from 'nats';

const NATS_URL = /^(nats|tls):\/\/(?:([^@/?]*)@)?([^@/?]+)\/?(?:\?(.*))?$/i;

/** Omits the URL, because it may hold a password. */
const fault = (why: string): Error => new Error(`NATS_URL: ${why}`);

const userOf = (text: string): Partial<ConnectionOptions> => {
  const [user = '', password] = text.split(':', 2).map(decodeURIComponent);
  return password === undefined ? { token: user } : { user, pass: password };
};

/** The file is read at each connection, so its content can change. */
const authenticatorOf = (query: URLSearchParams): Partial<ConnectionOptions> => {
  const credentials = query.get('credentials_file');
  if (credentials !== null) {
    return { authenticator: (nonce) => credsAuthenticator(readFileSync(credentials))(nonce) };
  }
  const seed = query.get('nkey_seed_file');
  if (seed === null) return {};
  return {
    authenticator: (nonce) => nkeyAuthenticator(Buffer.from(readFileSync(seed, 'utf8').trim()))(nonce),
  };
};

const tlsOf = (scheme: string, query: URLSearchParams): TlsOptions | null => {
  const [ca, cert, key] = ['ca_file', 'cert_file', 'key_file'].map((name) => query.get(name));
  if (scheme.toLowerCase() !== 'tls' && !ca && !cert) return null;
  return {
    ...(ca ? { caFile: ca } : {}),
    ...(cert ? { certFile: cert } : {}),
    ...(key ? { keyFile: key } : {}),
  };
};

const PARAMETERS = new Set(['ca_file', 'cert_file', 'key_file', 'credentials_file', 'nkey_seed_file']);

/**
 * Parses `nats://user:password@host:4222,other:4222?credentials_file=…`. `tls://`, `ca_file` or `cert_file` requires
 * encryption. Throws for an invalid URL or an unknown parameter.
 */
export const natsOptions = (url: string): ConnectionOptions => {
  const [, scheme = '', user, hosts = '', parameters = ''] = NATS_URL.exec(url) ?? [];
  if (hosts === '') throw fault('invalid URL; use nats://user:password@host:4222');
  const query = new URLSearchParams(parameters);
  for (const name of query.keys()) if (!PARAMETERS.has(name)) throw fault(`unknown parameter ${name}`);
  const tls = tlsOf(scheme, query);
  return {
    servers: hosts.split(','),
    ...(user === undefined ? {} : userOf(user)),
    ...authenticatorOf(query),
    ...(tls === null ? {} : { tls }),
  };
};
