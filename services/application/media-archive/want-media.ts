import { hash } from 'node:crypto';
import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { MediaKind } from '#contracts/values/media/creatives.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import type { ArchiveMode } from './archive-tables.ts';

/** Shortest validity of a library address in recorded data. */
const VALID_MIN_MS = 34 * HOUR_MS;
/** An address that states no end is tried this long. */
const TRIED_MS = 7 * 24 * HOUR_MS;
/** Longer addresses are not fetched. */
const ADDRESS_MAX_CHARACTERS = 4_096;
const FILE_NAME = /\.(jpe?g|png|webp|gif|mp4|m4v|webm)$/i;

export type MediaAddress = {
  readonly url: string;
  /** SHA-256 of the address without its signature: new addresses of a file have the same key. */
  readonly fileKey: string;
  /** End of the address as stated, or else the earliest known end of library addresses. */
  readonly expiresAt: Date;
  /** Not tried after this time. */
  readonly tryUntil: Date;
};

/** Seconds since 1970 in hex, in the parameter `oe`; `null` without one. */
const statedEndMs = ({ searchParams }: URL): number | null => {
  const text = searchParams.get('oe') ?? '';
  return /^[0-9a-f]{8,9}$/i.test(text) ? Number.parseInt(text, 16) * SECOND_MS : null;
};

/**
 * `null` for a text that is not a web address. Signature and library host change with each scan, and the path names the
 * file; a path without a file name needs its query too.
 */
export const readMediaAddress = (text: string | null, seenAt: Date): MediaAddress | null => {
  if (text === null || text.length > ADDRESS_MAX_CHARACTERS || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  const name = FILE_NAME.test(url.pathname) ? url.pathname : url.pathname + url.search;
  const endMs = statedEndMs(url);
  return {
    url: url.href,
    fileKey: hash('sha256', `${endMs === null ? url.hostname : siteOf(url.hostname)}${name}`, 'hex'),
    expiresAt: new Date(endMs ?? seenAt.getTime() + VALID_MIN_MS),
    tryUntil: new Date(endMs ?? seenAt.getTime() + TRIED_MS),
  };
};

/** The last two labels, because servers of the library differ in those before. */
const siteOf = (hostname: string): string => hostname.split('.').slice(-2).join('.');

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
