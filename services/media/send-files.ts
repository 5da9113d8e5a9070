import type { CreativeFile } from '#contracts/observations/creative.ts';
import { publishObservations } from '#application/observations/publish-observations.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import type { StoredFile } from './store/wanted-store.ts';

const ADS_MAX = 2_000;

/** Repeatable: ingest ignores a second publication. Returns `false` when nothing is left. */
export const sendNextFile = (database: Database, nats: Pick<Nats, 'jetstream'>): Promise<boolean> =>
  inTransaction(database, async (client) => {
    const { rows } = await client.query<{ file_key: string; file: StoredFile; fetched_at: Date }>(
      `select file_key, file, fetched_at from media.wanted where unsent and state = 'stored'
       order by file_key limit 1 for update skip locked`,
    );
    const [stored] = rows;
    if (stored === undefined) return false;
    const { file_key: fileKey, file, fetched_at: fetchedAt } = stored;
    const { rows: ads } = await client.query<{ ad_id: string; seen_at: Date }>(
      'select ad_id, seen_at from media.wanted_ad where file_key = $1 and not sent order by ad_id limit $2',
      [fileKey, ADS_MAX],
    );
    if (ads.length > 0) {
      const latestMs = Math.max(fetchedAt.getTime(), ...ads.map(({ seen_at }) => seen_at.getTime()));
      const observation: CreativeFile = {
        ...file,
        observed_at: new Date(latestMs).toISOString(),
        ad_ids: ads.map(({ ad_id }) => ad_id),
      };
      await publishObservations(nats, [observation]);
      await client.query('update media.wanted_ad set sent = true where file_key = $1 and ad_id = any($2)', [
        fileKey,
        observation.ad_ids,
      ]);
    }
    if (ads.length < ADS_MAX) {
      await client.query('update media.wanted set unsent = false where file_key = $1', [fileKey]);
    }
    return true;
  });
