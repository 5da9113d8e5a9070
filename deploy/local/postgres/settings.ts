/**
 * For two cores shared with all other processes. Passed as arguments, so a change applies from the next start. `fsync`
 * and `synchronous_commit` stay on, so that acknowledged events survive a power cut.
 */
const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  // No socket file: its path would be limited to 107 bytes, and all our clients use TCP.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  // After each checkpoint the first change of a page writes the whole page to the log.
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // Without replicas, rows loaded in the transaction that created their table need no write-ahead log. Rebuilds load
  // shadow tables so.
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

/** The caller's settings override the defaults. */
export function settingArguments(overrides: Readonly<Record<string, string>>): string[] {
  const settings = { ...DEFAULT_SETTINGS, ...overrides };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * Compares by code point on every machine. The built-in provider sorts like C (so a plain index serves `like 'abc%'`)
 * and maps case beyond ASCII.
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
