import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Client } from 'pg';

export type ServerKind = 'postgres' | 'event_store' | 'nats';

/** True for loopback, a socket file, or no host at all. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === '' || bare.startsWith('/') || /^(.*\.)?localhost$/.test(bare)) return true;
  if (!ipaddr.isValid(bare)) return false;
  return ipaddr.process(bare).range() === 'loopback';
};

type Reached = { readonly hosts: readonly string[]; readonly isEncrypted: boolean };

const THIS_FILE = import.meta.filename;
/** Names of files, replaced by this file before parsing: a missing file must not decide. */
const FILE_PARAMETERS = /([?&]ssl(?:cert|key|rootcert)=)[^&#]*/g;
/** Modes with which other clients fall back to plain text. */
const FALLING_BACK = new Set(['prefer', 'allow']);

/** Reads a URL as `pg` does, because parameters may contradict each other. */
const reachedByPostgres = (url: string): Reached => {
  const readable = url.replaceAll(FILE_PARAMETERS, (_, name: string) => name + encodeURIComponent(THIS_FILE));
  const { host, ssl } = new Client({ connectionString: readable });
  const modes = URL.parse(url)?.searchParams.getAll('sslmode') ?? [];
  return { hosts: host.split(','), isEncrypted: ssl && !modes.some((mode) => FALLING_BACK.has(mode)) };
};

const AUTHORITY = /^[a-z+]+:\/\/(?:[^@/?#]*@)?([^/?#]*)[^?#]*(?:\?([^#]*))?/i;
/** Parses as the client does: all to the first `@` is user and password, and slashes may separate hosts. */
const EVENT_STORE = /^[^:]+:\/\/(?:[^:]+:[^@]+@)?([^?]*)(?:\?(.*))?$/s;

const withoutPort = (host: string): string =>
  isIPv6(host) ? host : host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');

/** Reads a URL as the client does: `T_L_S` is a name of `tls`, and the last value counts. */
const reachedByEventStore = (url: string): Reached => {
  const [, hosts = '', query = ''] = EVENT_STORE.exec(url.trim()) ?? [];
  const pairs = query.split('&').map((pair) => pair.split('=', 2));
  const tls = pairs.findLast(([name = '']) => name.trim().toLowerCase().replaceAll(/[_-]/g, '') === 'tls');
  return {
    hosts: hosts.split(/[,/]/).map((host) => withoutPort(host.trim())),
    isEncrypted: tls?.[1]?.trim().toLowerCase() !== 'false',
  };
};

const reachedByNats = (url: string): Reached => {
  const [, authority = '', query = ''] = AUTHORITY.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  return {
    hosts: authority.split(',').map(withoutPort),
    isEncrypted:
      /^tls:/i.test(url) || Boolean(parameters.get('ca_file')) || Boolean(parameters.get('cert_file')),
  };
};

const READERS: Readonly<Record<ServerKind, (url: string) => Reached>> = {
  postgres: reachedByPostgres,
  event_store: reachedByEventStore,
  nats: reachedByNats,
};

/** Hosts to which passwords and data would travel readable. An invalid URL reaches none. */
export const plainTextHosts = (kind: ServerKind, url: string): readonly string[] => {
  let reached: Reached;
  try {
    reached = READERS[kind](url);
  } catch {
    return [];
  }
  return reached.isEncrypted ? [] : reached.hosts.filter((host) => !isLoopback(host));
};
