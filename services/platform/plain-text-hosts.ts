import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Servers whose URLs tell whether a connection is encrypted. */
export type ServerKind = 'postgres' | 'event_store' | 'nats';

/** True for this machine: a loopback address, a name of one, a socket file, or no host at all. */
const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === '' || bare.startsWith('/') || /^(.*\.)?localhost$/.test(bare)) return true;
  if (!ipaddr.isValid(bare)) return false;
  return ipaddr.process(bare).range() === 'loopback';
};

/** Values of `sslmode` with which Postgres is reached over TLS. `prefer` and `allow` fall back to plain text. */
const ENCRYPTING_SSL_MODES = new Set(['require', 'verify-ca', 'verify-full', 'no-verify']);

const AUTHORITY = /^[a-z+]+:\/\/(?:[^@/?#]*@)?([^/?#]*)[^?#]*(?:\?([^#]*))?/i;

const withoutPort = (host: string): string =>
  isIPv6(host) ? host : host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');

/** Returns the hosts and parameters of a URL. Names of parameters are in lower case. */
const partsOf = (url: string): { hosts: readonly string[]; parameters: ReadonlyMap<string, string> } => {
  const [, authority = '', query = ''] = AUTHORITY.exec(url) ?? [];
  const parameters = new Map(
    [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { hosts: authority.split(',').map(withoutPort), parameters };
};

const isEncrypted = (kind: ServerKind, url: string, parameters: ReadonlyMap<string, string>): boolean => {
  switch (kind) {
    case 'postgres':
      return (
        ENCRYPTING_SSL_MODES.has(parameters.get('sslmode') ?? '') ||
        /^(true|1)$/.test(parameters.get('ssl') ?? '')
      );
    case 'event_store':
      return parameters.get('tls')?.toLowerCase() !== 'false';
    case 'nats':
      return /^tls:/i.test(url) || parameters.has('ca_file') || parameters.has('cert_file');
  }
};

/**
 * Returns the hosts other than this machine that a URL reaches without encryption: passwords and customer data would
 * cross the network readable. Postgres takes the parameter `host` in place of the one in the URL.
 */
export const plainTextHosts = (kind: ServerKind, url: string): readonly string[] => {
  const { hosts, parameters } = partsOf(url);
  if (isEncrypted(kind, url, parameters)) return [];
  const named = kind === 'postgres' ? parameters.get('host') : undefined;
  return (named === undefined ? hosts : named.split(',')).filter((host) => !isLoopback(host));
};
