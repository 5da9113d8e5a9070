import { parse } from 'csv-parse/sync';
import { canonicalJson } from '#contracts/audit/canonical.ts';
import { HistoryEntry } from '#contracts/audit/entry.ts';
import { csvLines, textOfCsvField } from '#application/exports/csv-lines.ts';
import type { ExportFormat } from '#contracts/audit/manifest.ts';

/** Converts history entries to lines of an export and back. An entry has exactly one valid line. */
const CSV_COLUMNS = [
  'sequence',
  'recorded_at',
  'type',
  'actor_kind',
  'actor_id',
  'resource_category',
  'resource_id',
  'resource_revision',
  'data',
  'request_id',
  'correlation_id',
  'causation_id',
  'workspace_id',
  'fact_id',
  'position',
  'schema_version',
  'hash',
] as const;
/** Line end of audit exports in every format. */
const LINE_END = '\n';

const csvLineOf = (entry: HistoryEntry): string => {
  const { actor, resource, data, ...plain } = entry;
  const cells: Readonly<Record<(typeof CSV_COLUMNS)[number], string | number>> = {
    ...plain,
    actor_kind: actor.kind,
    actor_id: actor.id,
    resource_category: resource.category,
    resource_id: resource.id,
    resource_revision: resource.revision,
    data: canonicalJson(data),
  };
  return csvLines([CSV_COLUMNS.map((column) => cells[column])], LINE_END).slice(0, -LINE_END.length);
};

const entryOfCsv = (line: string): unknown => {
  const [fields = []] = parse(line);
  const cells = fields.map(textOfCsvField);
  if (cells.length !== CSV_COLUMNS.length)
    throw new Error(`it has ${cells.length} cells instead of ${CSV_COLUMNS.length}`);
  const {
    actor_kind,
    actor_id,
    resource_category,
    resource_id,
    resource_revision,
    sequence,
    schema_version,
    data,
    ...plain
  } = Object.fromEntries(CSV_COLUMNS.map((column, index) => [column, cells[index] as string])) as Record<
    (typeof CSV_COLUMNS)[number],
    string
  >;
  return {
    ...plain,
    sequence: Number(sequence),
    schema_version: Number(schema_version),
    actor: { kind: actor_kind, id: actor_id },
    resource: { category: resource_category, id: resource_id, revision: resource_revision },
    data: JSON.parse(data),
  };
};

export const headerOf = (format: ExportFormat): string | null =>
  format === 'csv' ? CSV_COLUMNS.join() : null;

export const lineOf = (format: ExportFormat, entry: HistoryEntry): string =>
  format === 'csv' ? csvLineOf(entry) : canonicalJson(entry);

/** Parses a line. Throws unless it is byte for byte the output of `lineOf`. */
export const entryOf = (format: ExportFormat, line: string): HistoryEntry => {
  const entry = HistoryEntry.parse(format === 'csv' ? entryOfCsv(line) : JSON.parse(line));
  if (lineOf(format, entry) !== line) throw new Error('it is not in the canonical form of exports');
  return entry;
};
