/**
 * Parts of a statement that add the sums of `source` to a table of counts, and leave no row that counts nothing:
 * whether something came and went in one batch or in two must not be seen. What is added is `<table>_by`.
 */
export const counting = (
  table: string,
  key: readonly string[],
  counts: readonly string[],
  source: string,
): string => {
  const added = (count: string): string => `coalesce(c.${count}, 0) + d.${count}`;
  const counted = counts.map((count) => `${added(count)} <> 0`).join(' or ');
  return `${table}_by as (
    select ${key.join()}, ${counts.map((count) => `sum(${count})::bigint as ${count}`).join()}
    from ${source} group by ${key.join()} having ${counts.map((count) => `sum(${count}) <> 0`).join(' or ')}
  ), ${table}_gone as (
    delete from ${table} c using ${table}_by d
    where ${key.map((column) => `c.${column} = d.${column}`).join(' and ')} and not (${counted})
  ), ${table}_kept as (
    insert into ${table} (${[...key, ...counts].join()})
    select ${key.map((column) => `d.${column}`).join()}, ${counts.map(added).join()}
    from ${table}_by d left join ${table} c using (${key.join()}) where ${counted}
    on conflict (${key.join()}) do update set ${counts.map((count) => `${count} = excluded.${count}`).join()}
  )`;
};
