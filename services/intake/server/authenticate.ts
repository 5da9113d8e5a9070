import type { IncomingHttpHeaders } from 'node:http';
import { sha256Of } from '#application/access/key-format.ts';
import { COLLECTOR_KEY, type Collector, findCollector } from '#application/collectors/collector-keys.ts';
import { bearerOf } from '#platform/http/request-headers.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { IntakeRefusal } from './refusal.ts';

const RETRY_SECONDS = 5;

/** Replies equally to a missing, malformed, unknown and revoked key. Throws `unavailable` without Postgres. */
export const authenticate = async (
  database: Database,
  headers: IncomingHttpHeaders,
  log: Log,
): Promise<Collector> => {
  const key = bearerOf(headers);
  const collector =
    key === undefined || !COLLECTOR_KEY.isValid(key)
      ? null
      : await findCollector(database, sha256Of(key)).catch((error: unknown) => {
          log.warn({ err: error }, 'key lookup failed');
          throw new IntakeRefusal(
            'unavailable',
            'Keys cannot be checked now. Send the request again later.',
            {
              retryAfterSeconds: RETRY_SECONDS,
            },
          );
        });
  if (collector) return collector;
  throw new IntakeRefusal(
    'unauthorized',
    'Send a valid collector key: `Authorization: Bearer svc_collect_…`. An operator issues it with `ops collector issue`.',
  );
};
