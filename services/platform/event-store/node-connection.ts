import { readFileSync } from 'node:fs';
import { LEADER } from '@eventstore/db-client';
import { discoverEndpoint } from '@eventstore/db-client/dist/Client/discovery.js';
import { parseConnectionString } from '@eventstore/db-client/dist/Client/parseConnectionString.js';
import { type ChannelCredentials, Client, credentials, Metadata } from '@grpc/grpc-js';
import { withTimeout } from './errors.ts';

/** Connection strings and discovery are those of the package. */

export type Endpoint = { readonly address: string; readonly port: number };

export type NodeConnection = {
  readonly endpoint: Endpoint;
  readonly client: Client;
  readonly metadata: Metadata;
};

const MESSAGE_MAX_BYTES = 17 * 1024 * 1024;
const KEEPALIVE_MS = 10_000;
/** The package alone would ask mute nodes for minutes. */
const FIND_NODE_LIMIT_MS = 30_000;

type Options = ReturnType<typeof parseConnectionString>;

/** The package's own error may repeat the connection string, which can hold a password. */
export const parseUrl = (url: string): Options => {
  try {
    return parseConnectionString(url);
  } catch {
    throw new Error(
      'EVENT_STORE_URL is not a connection string. Use the form esdb://user:password@host:2113?tls=true.',
    );
  }
};

/**
 * Only the leader answers reads on which commands decide: a follower may be late, and a command that finds itself done
 * there records nothing. A preference for other nodes counts for subscriptions alone.
 */
export const leaderReadsOf = (url: string): { readonly url: string; readonly requiresLeader: boolean } => {
  const { dnsDiscover, hosts, nodePreference = LEADER } = parseUrl(url);
  const isCluster = dnsDiscover || hosts.length > 1;
  if (!isCluster || nodePreference === LEADER) return { url, requiresLeader: false };
  return { url: url.replace(/([?&]node[-_]?preference=)[^&]*/i, `$1${LEADER}`), requiresLeader: true };
};

const channelCredentials = (options: Options): ChannelCredentials => {
  if (options.tls === false) return credentials.createInsecure();
  const file = (path: string | undefined): Buffer | null => (path === undefined ? null : readFileSync(path));
  return credentials.createSsl(
    file(options.tlsCAFile),
    file(options.userKeyFile),
    file(options.userCertFile),
  );
};

const headers = (options: Options): Metadata => {
  const metadata = new Metadata();
  metadata.set('connection-name', options.connectionName ?? 'ad-intelligence appends');
  const { defaultCredentials } = options;
  // Also without TLS: the local event store checks credentials. Settings refuse plain text to another host.
  if (defaultCredentials) {
    const { username, password } = defaultCredentials;
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    metadata.set('authorization', `Basic ${basic}`);
  }
  return metadata;
};

/** Earlier results tell which node to prefer or to avoid. */
export type Hint = { readonly leader?: Endpoint; readonly failed?: Endpoint };

const endpointOf = async (options: Options, secure: ChannelCredentials, hint: Hint): Promise<Endpoint> => {
  if (hint.leader) return hint.leader;
  const [first] = options.hosts;
  if (!first) throw new Error('EVENT_STORE_URL names no host.');
  if (!options.dnsDiscover && options.hosts.length === 1) return first;
  const { nodePreference, discoveryInterval, gossipTimeout, maxDiscoverAttempts } = options;
  const settings = Object.fromEntries(
    Object.entries({ nodePreference, discoveryInterval, gossipTimeout, maxDiscoverAttempts }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const candidates = options.dnsDiscover ? { discover: first } : { endpoints: options.hosts };
  return discoverEndpoint({ ...settings, ...candidates }, secure, hint.failed);
};

/** The caller closes the client. Throws `EventStoreSilent` when no node is found in time. */
export const connectToNode = async (
  url: string,
  hint: Hint = {},
  withinMs: number = FIND_NODE_LIMIT_MS,
): Promise<NodeConnection> => {
  const options = parseUrl(url);
  const secure = channelCredentials(options);
  const endpoint = await withTimeout(endpointOf(options, secure, hint), withinMs);
  const interval = options.keepAliveInterval ?? KEEPALIVE_MS;
  const client = new Client(`${endpoint.address}:${endpoint.port}`, secure, {
    'grpc.keepalive_time_ms': interval < 0 ? Number.MAX_SAFE_INTEGER : interval,
    'grpc.keepalive_timeout_ms': options.keepAliveTimeout ?? KEEPALIVE_MS,
    'grpc.max_receive_message_length': MESSAGE_MAX_BYTES,
    // Nothing else of this process must wait behind this connection.
    'grpc.use_local_subchannel_pool': 1,
  });
  return { endpoint, client, metadata: headers(options) };
};
