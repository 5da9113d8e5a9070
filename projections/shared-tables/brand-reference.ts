import { BASE_URL_SQL, unescapedBaseUrlSql } from '#contracts/values/base-url.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { Change, Row } from '../define-projection.ts';

/** Columns `brand_id, slug, name, logo_url` of a table `brand` by which records name it. */
export const brandReference = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  if (event.type === 'BrandRegistered') {
    const { slug, name, logo_url } = event.data;
    return [{ kind: 'upsert', table: 'brand', key: { brand_id }, set: { slug, name, logo_url } }];
  }
  const { name, logo_url } = event.data.changes;
  const set: Row = {
    ...(name === undefined ? {} : { name }),
    ...(logo_url === undefined ? {} : { logo_url }),
  };
  return Object.keys(set).length === 0 ? [] : [{ kind: 'update', table: 'brand', key: { brand_id }, set }];
};

/** JSON of a brand row `b`; `BASE_URL_MARK` stands for the base URL. */
export const BRAND_REFERENCE_SQL =
  unescapedBaseUrlSql(`json_build_object('id', b.brand_id, 'slug', b.slug, 'name', b.name,
  'logo_url', b.logo_url, 'url', ${BASE_URL_SQL} || '/v1/brands/' || b.slug)::text`);
