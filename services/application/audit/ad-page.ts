import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { buffer } from 'node:stream/consumers';
import type { DigestedEvent } from '#contracts/audit/chain.ts';
import { isAboutAd, readAdFacts } from '#contracts/audit/ad-facts.ts';
import { renderAdPage, statementFaults } from '#contracts/audit/ad-page.ts';
import { type AdStatement, PROOF_STREAMS_MAX, type ProofEvent } from '#contracts/audit/proof.ts';
import { Refusal } from '#contracts/errors.ts';
import { creativeStream } from '#contracts/events/corpus/creative.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { AdAttributed } from '#contracts/events/corpus/ad-library-corrections.ts';
import { mediaKeyOf } from '#contracts/values/media/stored-media.ts';
import { requireTime } from '#platform/concurrency/time-budget.ts';
import type { RawLog } from '#platform/event-store/copy/raw-log.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { PAST_EVENTS_MAX, type StreamBasis } from '../as-of/past-reads.ts';
import { HEAD_BYTES, mediaTypeOf } from '../media/media-type.ts';
import { digestedEvent } from './log-digest.ts';
import { proofLines } from './write-proof.ts';

/** Limits of a page, which is in memory as a whole. */
const WHOLE_CHARACTERS_MAX = 4 * 1024 * 1024;
const BUNDLE_CHARACTERS_MAX = 16 * 1024 * 1024;
/** An event by its hashes only. */
const HIDDEN_LINE_CHARACTERS = 245;
const PICTURE_BYTES_MAX = 4 * 1024 * 1024;
/** Files of the ad among which the picture is looked for. */
const FILES_MAX = 20;

const SOURCES = [
  'sha256-browser.js',
  'canonical.ts',
  'chain.ts',
  'check-proof.ts',
  'ad-facts.ts',
  'ad-page.ts',
  'ad-page-check.js',
];

/** Code of `contracts/audit` as a browser runs it: without types, imports and exports. */
const readSource = (name: string): string => {
  const text = readFileSync(new URL(`../../../contracts/audit/${name}`, import.meta.url), 'utf8');
  return (name.endsWith('.ts') ? stripTypeScriptTypes(text) : text)
    .replaceAll(/^import\b[^;]*;$/gm, '')
    .replaceAll(/^export (?=const|function)/gm, '')
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{2,}/g, '\n')
    .replaceAll('</script', '<\\/script');
};

type Sources = { readonly pool: Database; readonly rawLog: RawLog; readonly objectStore: ObjectStore };

let script: string | null = null;

/** `picture` in base64. `null` for a bundle that gives no page. */
export const makeAdPage = (bundle: string, picture: string | null): string | null => {
  script ??= `'use strict';\n${SOURCES.map(readSource).join('\n')}`;
  return renderAdPage({ bundle, picture, script });
};

/** In base64. `null` without an image of a size that a page can have. */
const openPicture = async (objectStore: ObjectStore, sha256: string): Promise<string | null> => {
  const object = await objectStore.open(mediaKeyOf(sha256));
  if (object === null || object.bytes > PICTURE_BYTES_MAX) return null;
  const bytes = await buffer(object.read());
  const type = mediaTypeOf(bytes.subarray(0, HEAD_BYTES))?.contentType ?? '';
  if (!type.startsWith('image/') || hash('sha256', bytes, 'hex') !== sha256) return null;
  return bytes.toString('base64');
};

/** True when an event of the file by the moment says that it is one of the ad. */
const isFileOfAd = async (rawLog: RawLog, sha256: string, adId: string, until: Date): Promise<boolean> => {
  for await (const raw of rawLog.stream(creativeStream(sha256))) {
    requireTime();
    const { recorded_at, data } = digestedEvent(raw);
    if (Date.parse(recorded_at) <= until.getTime() && data.includes(JSON.stringify(adId))) return true;
  }
  return false;
};

/** SHA-256 of the first file of the ad by the moment that is a stored picture. */
export const findPicture = async (
  { rawLog, objectStore }: Pick<Sources, 'rawLog' | 'objectStore'>,
  files: readonly string[],
  adId: string,
  until: Date,
): Promise<string | null> => {
  for (const sha256 of files.toSorted().slice(0, FILES_MAX)) {
    const isStored = (await openPicture(objectStore, sha256)) !== null;
    if (isStored && (await isFileOfAd(rawLog, sha256, adId, until))) return sha256;
  }
  return null;
};

export type AdStreams = {
  readonly isKnown: boolean;
  /** When the first event of the streams was recorded. */
  readonly earliest: Date | null;
  readonly streams: ReadonlyMap<string, StreamBasis>;
};

const tooMany = (message: string): Refusal =>
  new Refusal('invalid_input', `No proof: ${message}.`, [{ path: '', message, code: 'too_big' }]);

const TOO_LARGE = tooMany(`its events take more than ${BUNDLE_CHARACTERS_MAX / 1024 / 1024} MiB`);

/** Reads the streams of an ad, and of the brands between which it moved. `isKnown`: its events by the moment tell of it. */
export const readAdStreams = async (
  rawLog: RawLog,
  first: readonly string[],
  adId: string,
  until: Date,
): Promise<AdStreams> => {
  const waiting = [...first];
  const streams = new Map<string, { events: number; late: number; revision: bigint }>();
  const about: ProofEvent[] = [];
  let events = 0;
  let characters = 0;
  let earliest: Date | null = null;
  for (let stream = waiting.shift(); stream !== undefined; stream = waiting.shift()) {
    for await (const raw of rawLog.stream(stream)) {
      events += 1;
      if (events > PAST_EVENTS_MAX)
        throw tooMany(`its streams have more than ${PAST_EVENTS_MAX.toLocaleString('en')} events`);
      requireTime();
      const event = digestedEvent(raw);
      const recordedAt = new Date(event.recorded_at);
      if (earliest === null || recordedAt < earliest) earliest = recordedAt;
      const isAbout = !stream.startsWith('adLibrary-') || isAboutAd(event.data, event.type, adId);
      characters += isAbout ? event.data.length : HIDDEN_LINE_CHARACTERS;
      if (characters > BUNDLE_CHARACTERS_MAX) throw TOO_LARGE;
      const own = streams.get(stream) ?? { events: 0, late: 0, revision: 0n };
      const isIn = recordedAt <= until;
      const { observed_at } = JSON.parse(event.data) as { readonly observed_at?: string };
      const isLate = !isIn && observed_at !== undefined && Date.parse(observed_at) <= until.getTime();
      streams.set(stream, {
        events: own.events + Number(isIn),
        late: own.late + Number(isLate),
        revision: raw.revision,
      });
      if (!stream.startsWith('adLibrary-') || !isAbout) continue;
      if (isIn) about.push({ kind: 'event', ...event, head: '' });
      if (event.type !== 'AdAttributed') continue;
      const { from_brand_id, to_brand_id, ad_id } = JSON.parse(event.data) as AdAttributed['data'];
      for (const other of [from_brand_id, to_brand_id].map(adLibraryStream))
        if (ad_id === adId && !streams.has(other) && !waiting.includes(other)) waiting.push(other);
    }
    if (streams.size > PROOF_STREAMS_MAX)
      throw tooMany(`it moved between more than ${PROOF_STREAMS_MAX} brands`);
  }
  return { isKnown: readAdFacts(about, adId) !== null, earliest, streams };
};

const GONE = new Refusal(
  'not_found',
  'The picture is no longer stored. Read the proof again for a new link.',
);

/** `null` for more than `charactersMax`. */
const writeBundle = async (
  statement: AdStatement,
  sources: Sources,
  charactersMax: number,
  signal: AbortSignal,
  isShown: (event: DigestedEvent) => boolean,
): Promise<string | null> => {
  let bundle = '';
  for await (const line of proofLines(statement, sources, isShown)) {
    signal.throwIfAborted();
    bundle += line;
    if (bundle.length > charactersMax) return null;
  }
  return bundle;
};

/**
 * The page of a statement. One of more than `wholeMax` characters has the events that do not name the ad by their hashes
 * only. Throws `Refusal` for one that is too large also then.
 */
export const writeAdPage = async (
  statement: AdStatement,
  sources: Sources,
  signal: AbortSignal,
  wholeMax = WHOLE_CHARACTERS_MAX,
): Promise<string> => {
  const { ad_id } = statement;
  const isAbout = ({ stream, data, type }: DigestedEvent): boolean =>
    !stream.startsWith('adLibrary-') || isAboutAd(data, type, ad_id);
  const bundle =
    (await writeBundle(statement, sources, wholeMax, signal, () => true)) ??
    (await writeBundle(statement, sources, BUNDLE_CHARACTERS_MAX, signal, isAbout));
  if (bundle === null) throw TOO_LARGE;
  const { picture_sha256 } = statement;
  const picture = picture_sha256 === null ? null : await openPicture(sources.objectStore, picture_sha256);
  if (picture_sha256 !== null && picture === null) throw GONE;
  const page = makeAdPage(bundle, picture);
  if (page === null) throw new Refusal('internal', 'The events of the ad give no page.');
  return page;
};

const PAGE_START = '<!doctype html>';
export const isPage = (text: string): boolean => text.startsWith(PAGE_START);

/** The text between two others, from a place on. `null` when one of them is not there. */
const textBetween = (text: string, start: string, end: string, from = 0): string | null => {
  const at = text.indexOf(start, from);
  const until = at < 0 ? -1 : text.indexOf(end, at + start.length);
  return until < 0 ? null : text.slice(at + start.length, until);
};

const BUNDLE_START = '<script type="application/x-ndjson" id="bundle">';

/** Lines of the bundle of a page, and its picture. `null` for a page without a bundle. The script after it has a template of both. */
export const readPage = (
  page: string,
): { readonly bundle: string; readonly picture: string | null } | null => {
  const at = page.indexOf(BUNDLE_START);
  const bundle = textBetween(page, BUNDLE_START, '</script>');
  if (bundle === null) return null;
  const picture = textBetween(page.slice(0, at), '<img id="picture"', '>');
  return { bundle, picture: picture && textBetween(picture, ';base64,', '"') };
};

const LINE_SHOWN_MAX = 200;

/** Names the lines of a page that differ from those that its bundle gives. */
export const pageFaults = (page: string): readonly string[] => {
  const read = readPage(page);
  const expected = read && makeAdPage(read.bundle, read.picture);
  if (expected === null) return ['The bundle of the page cannot be read.'];
  const faults = statementFaults(read?.bundle ?? '', read?.picture ?? null);
  if (expected === page) return faults;
  const [shown, given] = [page.split('\n'), expected.split('\n')];
  const at = given.findIndex((line, index) => line !== shown[index]);
  const line = at < 0 ? given.length : at;
  return [
    ...faults,
    `Line ${line + 1} of the page is not as its events and this release give it: ${(shown[line] ?? '').slice(0, LINE_SHOWN_MAX)}`,
  ];
};
