/**
 * Settings for one machine of about two cores that the database shares with everything else. They are given as
 * arguments, never written into the cluster, so that a changed setting holds from the next start.
 * `fsync` and `synchronous_commit` stay on: what the event store acknowledges must survive a power cut.
 */
const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No socket file: its path would be limited to 107 bytes, and every client of ours speaks TCP.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  // One server without replicas: a table filled in the transaction that made it needs no log of its rows,
  // which is how read models are rebuilt beside the live ones.
  wal_level: 'minimal',
  max_wal_senders: '0',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] %d ',
};

/** The `-c name=value` arguments of the server; the caller's settings win over ours. */
export function settingArguments(overrides: Readonly<Record<string, string>>): string[] {
  const settings = { ...DEFAULT_SETTINGS, ...overrides };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * UTF-8 text, compared by code point on every machine alike. The built-in provider sorts as the C locale does
 * (so a plain index serves `like 'abc%'`) and still knows upper and lower case beyond ASCII.
 */
export const CLUSTER_ARGUMENTS: readonly string[] = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--auth=scram-sha-256',
  '--username=postgres',
  '--no-instructions',
];
