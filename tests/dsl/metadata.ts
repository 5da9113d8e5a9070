/** Metadata of events that a test appends itself. `id`: their correlation, cause and request. */
export const metadataOf = (id: string) =>
  ({
    $correlationId: id,
    $causationId: id,
    request_id: id,
    actor: { kind: 'service', id: 'tests' },
    schema_version: 1,
  }) as const;
