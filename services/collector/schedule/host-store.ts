import type { HostMemory, HostRest, StoredRobots } from '#platform/http-client/polite-client.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Shared by all collectors. */
export const createHostStore = (database: Database): HostMemory => {
  const read = async <T>(column: 'robots' | 'rest', host: string): Promise<T | null> => {
    const { rows } = await database.query<{ value: T | null }>(
      `select ${column} as value from collecting.host where host = $1`,
      [host],
    );
    return rows[0]?.value ?? null;
  };
  const write = async (column: 'robots' | 'rest', host: string, value: object | null): Promise<void> => {
    await database.query(
      `insert into collecting.host (host, ${column}) values ($1, $2)
       on conflict (host) do update set ${column} = excluded.${column}`,
      [host, value === null ? null : JSON.stringify(value)],
    );
  };
  return {
    readRobots: (host) => read<StoredRobots>('robots', host),
    writeRobots: (host, robots) => write('robots', host, robots),
    readRest: (host) => read<HostRest>('rest', host),
    writeRest: (host, rest) => write('rest', host, rest),
    reserve: async (host, spacingMs, nowMs) => {
      // `next_at`: earliest start of the next request. The row lock serialises reservations.
      const { rows } = await database.query<{ start: Date }>(
        `insert into collecting.host as h (host, next_at) values ($1, to_timestamp($2::float8 / 1000) + make_interval(secs => $3::float8 / 1000))
         on conflict (host) do update set next_at =
           greatest(h.next_at, to_timestamp($2::float8 / 1000)) + make_interval(secs => $3::float8 / 1000)
         returning next_at - make_interval(secs => $3::float8 / 1000) as start`,
        [host, nowMs, spacingMs],
      );
      return rows[0]?.start.getTime() ?? nowMs;
    },
  };
};
