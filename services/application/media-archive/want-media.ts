import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { MediaKind } from '#contracts/values/media/creatives.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import type { ArchiveMode } from './archive-tables.ts';
import { type MediaAddress, readMediaAddress } from './media-address.ts';

type Wanted = {
  readonly kind: MediaKind;
  readonly address: MediaAddress;
  readonly posterUrl: string | null;
  /** True if one of the ads runs, as far as is known. */
  running: boolean;
  readonly adIds: Set<string>;
};

const filesOf = (ads: readonly ObservedAd[], seenAt: Date, mode: ArchiveMode): readonly Wanted[] => {
  const files = new Map<string, Wanted>();
  for (const { ad_id, media, is_active: isActive } of ads) {
    for (const { kind, url, poster_url } of media) {
      const address = kind === 'video' && mode !== 'all' ? null : readMediaAddress(url, seenAt);
      if (address === null) continue;
      const file = files.get(address.fileKey) ?? {
        kind,
        address,
        posterUrl: poster_url,
        running: false,
        adIds: new Set(),
      };
      file.running ||= isActive !== false;
      file.adIds.add(ad_id);
      files.set(address.fileKey, file);
    }
  }
  return [...files.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file);
};

/**
 * A missed file is tried again at a newer address. For stored or refused files the last sighting is moved once a day.
 */
const ADD_FILES = `
  insert into media.wanted as w (file_key, kind, url, poster_url, expires_at, try_until, running, seen_at)
  select i.*, $7::timestamptz
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $9::boolean[])
    as i(file_key, kind, url, poster_url, expires_at, try_until, running)
  where i.try_until > $8
  order by i.file_key
  on conflict (file_key) do update set url = excluded.url, poster_url = excluded.poster_url,
    expires_at = excluded.expires_at, try_until = excluded.try_until, seen_at = excluded.seen_at,
    running = w.running or excluded.running,
    state = case w.state when 'missed' then 'wanted' else w.state end,
    attempts = case w.state when 'missed' then 0 else w.attempts end,
    retry_at = case w.state when 'missed' then null else w.retry_at end
  where (excluded.seen_at > w.seen_at
      and (w.state in ('wanted', 'missed') or excluded.seen_at > w.seen_at + interval '1 day'))
    or (excluded.seen_at = w.seen_at and w.state = 'wanted' and excluded.running and not w.running)`;

/** The row lock of the file keeps a sender from missing the ads. */
const ADD_ADS = `
  with added as (
    insert into media.wanted_ad (file_key, ad_id, seen_at)
    select i.file_key, i.ad_id, $3 from unnest($1::text[], $2::text[]) as i(file_key, ad_id)
    join media.wanted w using (file_key)
    order by i.file_key, i.ad_id on conflict do nothing returning file_key
  )
  update media.wanted w set unsent = true from (select distinct file_key from added) a where w.file_key = a.file_key`;

/** Safe to repeat. An expired address wants nothing, but its ads are added to a known file. */
export const wantMedia = async (
  database: Database,
  mode: ArchiveMode,
  { ads, seenAt, now }: { readonly ads: readonly ObservedAd[]; readonly seenAt: Date; readonly now: Date },
): Promise<void> => {
  if (mode === 'off') return;
  const files = filesOf(ads, seenAt, mode);
  if (files.length === 0) return;
  const pairs = files.flatMap(({ address, adIds }) => [...adIds].map((adId) => [address.fileKey, adId]));
  await inTransaction(database, async (client) => {
    await client.query(ADD_FILES, [
      files.map(({ address }) => address.fileKey),
      files.map(({ kind }) => kind),
      files.map(({ address }) => address.url),
      files.map(({ posterUrl }) => posterUrl),
      files.map(({ address }) => address.expiresAt),
      files.map(({ address }) => address.tryUntil),
      seenAt,
      now,
      files.map(({ running }) => running),
    ]);
    await client.query(ADD_ADS, [pairs.map(([key]) => key), pairs.map(([, adId]) => adId), seenAt]);
  });
};
