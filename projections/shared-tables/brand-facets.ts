import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { Change, Row } from '../define-projection.ts';

/** Columns `brand_id, country, is_public, category_ids` of a table `brand` by which rankings filter. */
export const brandFacets = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  const { country, is_public, category_path } =
    event.type === 'BrandRegistered' ? event.data : event.data.changes;
  const set: Row = {
    ...(country === undefined ? {} : { country }),
    ...(is_public === undefined ? {} : { is_public }),
    ...(category_path === undefined ? {} : { category_ids: category_path.map(({ id }) => id) }),
  };
  return Object.keys(set).length === 0 ? [] : [{ kind: 'upsert', table: 'brand', key: { brand_id }, set }];
};
