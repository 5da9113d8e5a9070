import {
  NEAR_HASHES_MAX,
  PERCEPTUAL_HASH_SET_BITS_MIN,
  SAME_PICTURE_MAX_BITS,
} from '#contracts/values/media/creatives.ts';
import type { Statement } from '../define-projection.ts';

/**
 * Near hashes (`near_hash`) differ in at most `SAME_PICTURE_MAX_BITS` bits. The relation is not transitive, so no chain
 * of small changes joins different pictures, and it does not depend on the order of arrival.
 */

const HASH_BITS = 64;
const BAND_BITS = 16;

/**
 * Hashes with 3, 3, 3 and 2 different bits or more per band are 11 bits apart. An index over each band therefore finds
 * every near hash with 428 probes (multi-index hashing, https://arxiv.org/abs/1307.2982).
 */
const BAND_BITS_MAX = { band_a: 2, band_b: 2, band_c: 2, band_d: SAME_PICTURE_MAX_BITS - 9 } as const;

const masks = (bits: number): readonly number[] => {
  let found = new Set([0]);
  for (let count = 0; count < bits; count += 1) {
    const ofOneMore = [...found].flatMap((mask) =>
      Array.from({ length: BAND_BITS }, (_, bit) => mask | (1 << bit)),
    );
    found = new Set([...found, ...ofOneMore]);
  }
  return [...found].toSorted((a, b) => a - b);
};

const differingBits = 'bit_count(f.bits # p.bits)';

/** `offset 0` keeps the planner from joining with the whole table, which it prefers without statistics. */
const nearByBand = Object.entries(BAND_BITS_MAX).map(
  ([band, bits]) => `
    select p.hash, ${differingBits} as bits from (
      select hash, bits from picture
      where ${band} = any(array(select f.${band} # mask from unnest('{${masks(bits).join()}}'::int[]) as mask)) offset 0
    ) p where ${differingBits} <= ${SAME_PICTURE_MAX_BITS}`,
);

const isHashOfPicture = `f.media_kind = 'image' and bit_count(('x' || f.perceptual_hash)::bit(${HASH_BITS}))
  between ${PERCEPTUAL_HASH_SET_BITS_MIN} and ${HASH_BITS - PERCEPTUAL_HASH_SET_BITS_MIN}`;

/**
 * Selects the hash `of` and near ones whose ads count together. In full lists both must name each other, so one ad
 * refreshes at most `NEAR_HASHES_MAX` other hashes.
 */
export const countedTogether = (of: string, schema = ''): string => `
  select ${of} as hash
  union all
  select n.other from ${schema}near_hash n
    cross join lateral (select from ${schema}near_hash where hash = n.other and other = n.hash offset 0) m
  where n.hash = ${of}`;

/** Inserts new hashes into `unlisted`, for `findNearHashes`, and hashes with changed counts into `recounted`. */
export const enterHashes: Statement = {
  columns: { creative_key: 'text' },
  touches: ['file', 'hashed_file', 'picture', 'near_hash', 'unlisted', 'recounted'],
  sql: `
    with changed as materialized (
      select t.creative_key, n.hash, h.hash as old_hash
      from (select distinct creative_key from :input i) t join file f using (creative_key)
        left join hashed_file h using (creative_key)
        cross join lateral (select case when ${isHashOfPicture} then f.perceptual_hash end as hash) n
      where n.hash is distinct from h.hash
    ), lost as materialized (
      select distinct c.old_hash as hash from changed c
      where c.old_hash is not null and not exists (select from changed d where d.hash = c.old_hash)
        and not exists (
          select from hashed_file h where h.hash = c.old_hash
            and not exists (select from changed d where d.creative_key = h.creative_key)
        )
    ), parted as (
      delete from near_hash where hash = any(array(select hash from lost))
    ), left_alone as (
      delete from near_hash where other = any(array(select hash from lost)) returning hash
    ), left_out as (
      delete from picture where hash = any(array(select hash from lost))
    ), entered as (
      insert into picture (hash) select distinct hash from changed where hash is not null order by hash
      on conflict (hash) do nothing returning hash
    ), noted as (
      insert into unlisted (hash)
      select hash from entered
      union
      -- A full list may have left out hashes that it must hold now.
      select a.hash from left_alone a where not exists (select from lost l where l.hash = a.hash)
        and (select count(*) from near_hash n where n.hash = a.hash) >= ${NEAR_HASHES_MAX}
      order by hash
    ), kept as (
      insert into hashed_file as h (creative_key, hash)
      select creative_key, hash from changed where hash is not null order by creative_key
      on conflict (creative_key) do update set hash = excluded.hash
    ), unhashed as (
      delete from hashed_file h using changed c where h.creative_key = c.creative_key and c.hash is null
    )
    insert into recounted (hash)
    select hash from (
      select hash from changed
      union
      select o.hash from changed c cross join lateral (${countedTogether('c.old_hash')}) o
    ) r where hash is not null order by hash
    on conflict do nothing`,
};

/** Updates both sides' `NEAR_HASHES_MAX` nearest. Runs after `enterHashes`: new hashes of a batch find each other. */
export const findNearHashes: Statement = {
  columns: { creative_key: 'text' },
  touches: ['picture', 'near_hash', 'unlisted', 'recounted'],
  sql: `
    with found as materialized (
      select f.hash, p.hash as other, p.bits from unlisted u
        cross join lateral (select * from picture where hash = u.hash offset 0) f
        cross join lateral (${nearByBand.join(' union ')}) p
      where p.hash <> f.hash and exists (select from :input i)
    ), pairs as materialized (
      select hash, other, bits from found union select other, hash, bits from found
    ), earlier as materialized (
      select n.* from (select distinct hash from pairs) e
        cross join lateral (select ctid as row_id, hash, other, bits from near_hash where hash = e.hash offset 0) n
    ), ranked as materialized (
      select hash, other, bits, row_id, row_number() over (partition by hash order by bits, other) as place from (
        select hash, other, bits, max(row_id) as row_id from (
          select hash, other, bits, null::tid as row_id from pairs
          union all select hash, other, bits, row_id from earlier
        ) x group by hash, other, bits
      ) x
    ), dropped as (
      delete from near_hash
      where ctid = any(array(select row_id from ranked where place > ${NEAR_HASHES_MAX} and row_id is not null))
      returning hash, other
    ), added as (
      insert into near_hash (hash, other, bits)
      select hash, other, bits from ranked where place <= ${NEAR_HASHES_MAX} and row_id is null order by hash, other
      returning hash, other
    ), listed as (
      delete from unlisted
    )
    insert into recounted (hash)
    select hash from dropped union select other from dropped union select hash from added union select other from added
    order by hash
    on conflict do nothing`,
};
