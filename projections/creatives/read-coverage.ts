import { isoTimeSql } from '#contracts/values/time.ts';
import { joinObjects, objectText } from '#contracts/values/json-text.ts';
import { CREATIVE_FIELD_NAMES } from '#contracts/values/media/creatives.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { PUBLIC_SCOPE } from './statements.ts';

export type Coverage = { readonly json: string; readonly as_of: string | null };

const SEEN = 'select seen_at from creatives.scope where scope_id = $1';
const SEEN_OF_PUBLIC = `
  select p.seen_at from creatives.scope p join creatives.brand b on b.brand_id = p.scope_id
  where b.is_public order by p.seen_at desc limit 1`;

export const readCoverage = async (
  db: ReadDatabase,
  brandId: string | null,
  brand: string,
): Promise<Coverage> => {
  const scopeId = brandId ?? PUBLIC_SCOPE;
  const rows = await db.query<{ facet: string; files: string; as_of: string }>({
    sql: `
      select v.facet, v.files::text,
        ${isoTimeSql('s.seen_at')} as as_of
      from creatives.coverage v, (${brandId === null ? SEEN_OF_PUBLIC : SEEN}) s
      where v.scope_id = $1 and v.files > 0 order by v.files desc, v.facet`,
    values: [scopeId],
  });
  const filesOf = new Map(rows.map(({ facet, files }) => [facet, Number(files)]));
  const files = (facet: string): number => filesOf.get(facet) ?? 0;
  const described = files('depth:described');
  const fields = CREATIVE_FIELD_NAMES.map((field) => {
    const values = [...filesOf]
      .filter(([facet]) => facet.startsWith(`${field}:`))
      .map(([facet, count]) => ({ value: facet.slice(field.length + 1), files: count }));
    const read = values.reduce((sum, value) => sum + value.files, 0);
    return described === 0
      ? { field, values: null, not_read: null }
      : { field, values, not_read: described - read };
  });
  const text = JSON.stringify({
    measured_files: files('media_kind:image') + files('media_kind:video'),
    images: files('media_kind:image'),
    videos: files('media_kind:video'),
    transcribed_files: files('depth:transcribed') + described,
    described_files: described,
    fields,
  });
  return { json: joinObjects(objectText({ brand }), text), as_of: rows[0]?.as_of ?? null };
};
