import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { WORKSPACE_CATEGORIES } from '#contracts/audit/entry.ts';
import { categoryOf } from '#contracts/events/event.ts';
import { currentVersion } from '#contracts/events/schema-registry.ts';
import { derivedId } from '#domain/ids.ts';
import { eventMetadata } from '#services/application/commands/event-metadata.ts';
import { corpusSamples } from './corpus-samples.ts';
import type { StreamEvent } from './recording.ts';
import {
  readSampleFiles,
  recordedStreams,
  type Sample,
  sampledVersions,
  sampleFilePath,
  versionName,
} from './samples.ts';
import { workspaceSamples } from './workspace-samples.ts';

/** Run `npx node tests/contracts/events/released/record.ts`. Writes only versions without a sample. */

const FIRST_RECORDED_MS = Date.UTC(2026, 5, 10, 12);
const workspaceCategories: ReadonlySet<string> = new Set(WORKSPACE_CATEGORIES);

const metadataOf = (stream: string, index: number) => {
  const ids = {
    correlationId: derivedId('sample request', String(index)),
    causationId: derivedId('sample command', String(index)),
  };
  return workspaceCategories.has(categoryOf(stream))
    ? eventMetadata({ ...ids, actor: { kind: 'api_key', id: 'key_released' }, workspaceId: 'ws_released' })
    : eventMetadata({ ...ids, actor: { kind: 'service', id: 'ingest' } });
};

const sampleOf = ({ stream, event: { type, data } }: StreamEvent, index: number): Sample => ({
  stream,
  id: derivedId('sample event', String(index)),
  recorded_at: new Date(FIRST_RECORDED_MS + index * 1_000).toISOString(),
  type,
  metadata: { ...metadataOf(stream, index), schema_version: currentVersion(stream, type) },
  data,
});

const files = readSampleFiles();
const sampled = sampledVersions(files);
const all = [...corpusSamples(), ...workspaceSamples()].map(sampleOf);
const missing = [...recordedStreams(all)]
  .filter(([stream, events]) =>
    events.some(({ type, metadata }) => !sampled.has(versionName(stream, type, metadata.schema_version))),
  )
  .map(([stream]) => stream);
if (missing.length === 0) {
  console.log('every schema version has a sample');
} else {
  const path = sampleFilePath(files.length + 1);
  const samples = all.filter(({ stream }) => missing.includes(stream));
  writeFileSync(path, `${JSON.stringify(samples)}\n`, { flag: 'wx' });
  const root = resolve(import.meta.dirname, '../../../..');
  spawnSync('npx', ['biome', 'format', '--config-path=.config/biome.json', '--write', path], { cwd: root });
  console.log(`${path}: ${samples.length} samples; pin the file's hash in released.test.ts`);
}
