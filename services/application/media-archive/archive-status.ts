import type { Database } from '#platform/postgres/pool.ts';
import type { ArchiveMode } from './archive-tables.ts';

/** A wanted file counts as expiring this long before its address ends. */
export const EXPIRING_HOURS = 12;
/** No videos are stored from this share of the quota. */
export const VIDEO_QUOTA_SHARE = 0.9;

/** An expiring file is a wanted one too. */
export const ARCHIVE_STATES = ['wanted', 'expiring', 'stored', 'missed', 'refused'] as const;
export type ArchiveState = (typeof ARCHIVE_STATES)[number];

/** Kinds of files that the quota leaves room for. */
export type ArchiveRoom = 'all' | 'images' | 'nothing';

export type ArchiveStatus = {
  readonly mode: ArchiveMode | null;
  readonly files: Readonly<Record<ArchiveState, number>>;
  readonly bytes: number;
  /** Null before an archive has run. */
  readonly quotaBytes: number | null;
  readonly room: ArchiveRoom;
  /** Most frequent reasons of missed and refused files. */
  readonly reasons: readonly { readonly state: string; readonly reason: string; readonly files: number }[];
};

export const roomOf = (bytes: number, quotaBytes: number | null): ArchiveRoom => {
  if (quotaBytes === null || bytes < quotaBytes * VIDEO_QUOTA_SHARE) return 'all';
  return bytes < quotaBytes ? 'images' : 'nothing';
};

type Row = Readonly<Record<ArchiveState, number>> & {
  readonly bytes: string;
  readonly quota_bytes: string | null;
  readonly mode: ArchiveMode | null;
};

const REASONS_MAX = 20;

/** `null` where the archive was never on. */
export const readArchiveStatus = async (database: Database, now: Date): Promise<ArchiveStatus | null> => {
  const found = await database.query<{ found: boolean }>(
    `select to_regclass('media.usage') is not null as found`,
  );
  if (found.rows[0]?.found !== true) return null;
  const { rows } = await database.query<Row>(
    `select u.bytes::text, u.quota_bytes::text, u.mode, f.* from media.usage u, (
       select count(*) filter (where state = 'wanted')::int as wanted,
         count(*) filter (where state = 'wanted' and expires_at < $1::timestamptz + interval '${EXPIRING_HOURS} hours')::int as expiring,
         count(*) filter (where state = 'stored')::int as stored,
         count(*) filter (where state = 'missed')::int as missed,
         count(*) filter (where state = 'refused')::int as refused
       from media.wanted) f`,
    [now],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { bytes, quota_bytes, mode, ...files } = row;
  const quotaBytes = quota_bytes === null ? null : Number(quota_bytes);
  const reasons = await database.query<ArchiveStatus['reasons'][number]>(
    `select state, coalesce(reason, 'unknown') as reason, count(*)::int as files from media.wanted
     where state in ('missed', 'refused') group by 1, 2 order by 3 desc, 1, 2 limit ${REASONS_MAX}`,
  );
  return {
    mode,
    files,
    bytes: Number(bytes),
    quotaBytes,
    room: roomOf(Number(bytes), quotaBytes),
    reasons: reasons.rows,
  };
};
