import { PERCEPTUAL_HASH_SET_BITS_MIN, SAME_PICTURE_MAX_BITS } from '#contracts/values/creatives.ts';
import type { Statement } from '../define-projection.ts';

/**
 * Which files show the same picture. Two hashes belong to one picture when at most `SAME_PICTURE_MAX_BITS` bits differ, or
 * when such steps over other hashes join them. The order in which files arrive does not matter.
 */

const HASH_BITS = 64;
const BAND_BITS = 16;
const BANDS = ['band_a', 'band_b', 'band_c', 'band_d'] as const;

/** Returns all masks of a band with at most `bits` bits. */
const masks = (bits: number): readonly number[] =>
  Array.from({ length: 2 ** BAND_BITS }, (_, mask) => mask).filter(
    (mask) => mask.toString(2).replaceAll('0', '').length <= bits,
  );

/**
 * Different bits by band within which one of the bands of two near hashes lies: hashes with 3, 3, 3 and 2 different bits
 * or more are 11 bits apart. An index over each band therefore finds every near hash, with 428 probes.
 */
const BAND_BITS_MAX: Readonly<Record<(typeof BANDS)[number], number>> = {
  band_a: 2,
  band_b: 2,
  band_c: 2,
  band_d: SAME_PICTURE_MAX_BITS - 9,
};

const nearBands = BANDS.map((band) => {
  const flipped = `select f.${band} # m from unnest('{${masks(BAND_BITS_MAX[band]).join()}}'::int[]) m`;
  return `p.${band} = any(array(${flipped}))`;
}).join(' or ');

const bitsOf = (hash: string): string => `('x' || ${hash})::bit(${HASH_BITS})`;
const areNear = `bit_count(p.bits # f.bits) <= ${SAME_PICTURE_MAX_BITS}`;

/**
 * Brings `pictured` and `picture` up to date with the hashes of files, and notes in `recounted` the pictures whose files
 * are counted anew. A hash that no file has any more leaves its picture, and the other hashes of it are joined anew.
 */
export const joinPictures: Statement = {
  columns: { creative_key: 'text' },
  touches: ['file', 'pictured', 'picture', 'recounted'],
  sql: `
    with recursive hashed as materialized (
      select f.creative_key, case
        when f.media_kind = 'image' and bit_count(${bitsOf('f.perceptual_hash')})
          between ${PERCEPTUAL_HASH_SET_BITS_MIN} and ${HASH_BITS - PERCEPTUAL_HASH_SET_BITS_MIN} then f.perceptual_hash
        end as hash
      from (select distinct creative_key from :input i) t join file f using (creative_key)
    ), changed as materialized (
      select h.creative_key, h.hash, p.hash as old_hash from hashed h left join pictured p using (creative_key)
      where h.hash is distinct from p.hash
    ), lost as materialized (
      select distinct c.old_hash as hash from changed c
      where c.old_hash is not null and not exists (select from changed d where d.hash = c.old_hash)
        and not exists (
          select from pictured p where p.hash = c.old_hash
            and not exists (select from changed d where d.creative_key = p.creative_key)
        )
    ), opened as materialized (
      select hash from picture where picture in (select p.picture from picture p join lost using (hash))
    ), fresh as materialized (
      select f.hash, ${bitsOf('f.hash')} as bits,
        ${BANDS.map((band, at) => `('x' || substr(f.hash, ${at * 4 + 1}, 4))::bit(16)::int as ${band}`).join()}
      from (
        select hash from changed where hash is not null and not exists (select from picture p where p.hash = changed.hash)
        union
        select hash from opened where not exists (select from lost where lost.hash = opened.hash)
      ) f
    ), joint as materialized (
      select f.hash, n.picture as other from fresh f cross join lateral (
        select distinct p.picture from picture p
        where (${nearBands}) and ${areNear} and not exists (select from opened o where o.hash = p.hash)
      ) n
      union all
      select f.hash, p.hash from fresh f join fresh p on p.hash <> f.hash and ${areNear}
    ), reached as (
      select hash, hash as other from fresh
      union
      select r.hash, j.other from reached r join (
        select hash, other from joint union all select other, hash from joint
      ) j on j.hash = r.other
    ), placed as materialized (
      select hash, min(other) as picture from reached group by hash
    ), renamed as materialized (
      select j.other as picture, min(p.picture) as to_picture from joint j join placed p using (hash)
      where not exists (select from fresh f where f.hash = j.other) group by j.other
    ), left_out as (
      delete from picture p using lost l where p.hash = l.hash
    ), moved as (
      update picture p set picture = r.to_picture from renamed r
      where p.picture = r.picture and r.to_picture <> r.picture
        and not exists (select from opened o where o.hash = p.hash)
    ), entered as (
      insert into picture (hash, picture) select hash, picture from placed order by hash
      on conflict (hash) do update set picture = excluded.picture
    ), kept as (
      insert into pictured as p (creative_key, hash)
      select creative_key, hash from changed where hash is not null order by creative_key
      on conflict (creative_key) do update set hash = excluded.hash
    ), unhashed as (
      delete from pictured p using changed c where p.creative_key = c.creative_key and c.hash is null
    )
    insert into recounted (picture)
    select picture from placed
    union
    select coalesce(r.to_picture, p.picture) from picture p left join renamed r using (picture)
    where exists (select from changed c where p.hash in (c.hash, c.old_hash))
      and not exists (select from opened o where o.hash = p.hash)
    on conflict do nothing`,
};
