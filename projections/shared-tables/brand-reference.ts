import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { Change, Row } from '../define-projection.ts';

/**
 * A table `brand` with `brand_id, slug, name, logo_url`: how records name their brand. Each projection that
 * needs it has its own.
 */
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

/** SQL of the JSON reference of a brand row `b`; U+0001 is the placeholder for the service's base URL. */
export const BRAND_REFERENCE_SQL = `replace(json_build_object('id', b.brand_id, 'slug', b.slug, 'name', b.name,
  'logo_url', b.logo_url, 'url', chr(1) || '/v1/brands/' || b.slug)::text, '"\\u0001/', '"' || chr(1) || '/')`;
