import { REPLICA_PART } from './replica.ts';
import { type OpenReadDatabase, openReadDatabase, type ReadDatabaseLimits } from '#platform/postgres/pool.ts';

type Urls = {
  readonly DATABASE_URL: string;
  readonly READ_DATABASE_URL?: string | undefined;
  readonly READ_DATABASE_URLS?: readonly string[] | undefined;
};

const serverOf = (url: string): string => {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`;
};

/**
 * Returns the URL for reads from the primary, and those of its standbys. A `READ_DATABASE_URL` on another server than
 * `DATABASE_URL` names a standby, as releases without `READ_DATABASE_URLS` allowed.
 */
export const readDatabaseUrls = ({
  DATABASE_URL,
  READ_DATABASE_URL: reader = DATABASE_URL,
  READ_DATABASE_URLS: standbys = [],
}: Urls): { readonly primary: string; readonly replicas: readonly string[] } =>
  serverOf(reader) === serverOf(DATABASE_URL)
    ? { primary: reader, replicas: standbys }
    : { primary: DATABASE_URL, replicas: [reader, ...standbys] };

/** Opens the databases that the reads of a process use, and closes them with `resources`. */
export const openReadDatabases = (
  urls: Urls,
  resources: AsyncDisposableStack,
  limits: ReadDatabaseLimits = {},
): { readonly db: OpenReadDatabase; readonly replicas: readonly OpenReadDatabase[] } => {
  const { primary, replicas } = readDatabaseUrls(urls);
  // The ordinary limit of a replica is then its part of a read's time, so that no statement has to set another one.
  const ofReplica =
    limits.hotTimeoutMs === undefined ? limits : { hotTimeoutMs: limits.hotTimeoutMs * REPLICA_PART };
  return {
    db: resources.use(openReadDatabase(primary, limits)),
    replicas: replicas.map((url) => resources.use(openReadDatabase(url, ofReplica))),
  };
};
