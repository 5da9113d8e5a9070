/** Adds `<table>_by`. Deletes all-zero rows, which would reveal how events were batched. */
export const addToCounters = (
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
