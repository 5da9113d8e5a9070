import type { ImageContent } from '@modelcontextprotocol/server';
import { Refusal } from '#contracts/errors.ts';
import { CREATIVE_KEY } from '#contracts/values/media/creatives.ts';
import { MEDIA_PATH } from '#contracts/values/media/stored-media.ts';
import {
  THUMBNAIL_MAX_BYTES,
  THUMBNAIL_TYPE,
  type Thumbnails,
  thumbnailAsPng,
} from '#application/media/thumbnails.ts';
import { pause } from '#platform/clock.ts';
import { timeLeft } from '#platform/concurrency/time-budget.ts';
import type { Log } from '#platform/logger.ts';
import { IMAGES_LATE, IMAGES_NOT_STORED, someImages } from './result.ts';
import type { Json, JsonObject } from './observed.ts';

/** Each image has at most 60 KiB, so all of a result have at most 240 KiB. */
export const IMAGES_MAX = 4;
/** Maximum creatives whose thumbnail is looked up. */
const TRIED_MAX = 12;
/** Maximum wait of a result for its images. */
const IMAGES_WAIT_MS = 6_000;
/** Time that is left for the text, which must not be lost with its images. */
const TEXT_MARGIN_MS = 500;
const SHA256_LENGTH = 64;

/** Most clients show WebP; some accept PNG only. */
export const IMAGE_TYPES = ['webp', 'png'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

export type ShownCreative = { readonly key: string; readonly picture: string };

/** `count`: from 0 to `IMAGES_MAX`. */
export type ImagesAsked = { readonly count: number; readonly type: ImageType };

export type Pictures = {
  readonly blocks: readonly ImageContent[];
  readonly index: readonly string[];
  readonly notes: readonly string[];
};

export type PictureSource = { readonly thumbnails: Pick<Thumbnails, 'thumbnailOf'>; readonly log: Log };

const NO_PICTURES: Pictures = { blocks: [], index: [], notes: [] };

const readPicture = async (
  picture: string,
  type: ImageType,
  thumbnails: PictureSource['thumbnails'],
): Promise<ImageContent | null> => {
  const found = await thumbnails.thumbnailOf(picture);
  if (!('webp' in found)) return null;
  const bytes = type === 'png' ? await thumbnailAsPng(found.webp) : found.webp;
  if (bytes.length > THUMBNAIL_MAX_BYTES) return null;
  const mimeType = type === 'png' ? 'image/png' : THUMBNAIL_TYPE;
  return { type: 'image', data: bytes.toString('base64'), mimeType };
};

type Found = Map<string, ImageContent | null>;
const countIn = (found: Found): number => [...found.values()].filter((one) => one !== null).length;

/** Reads as many at once as are missing. A failed read says nothing about the file, so its key stays absent. */
const searchPictures = async (
  creatives: readonly ShownCreative[],
  { count, type }: ImagesAsked,
  { thumbnails, log }: PictureSource,
  found: Found,
  signal: AbortSignal,
): Promise<void> => {
  const waiting = [...creatives];
  while (waiting.length > 0 && countIn(found) < count && !signal.aborted) {
    const round = waiting.splice(0, count - countIn(found));
    await Promise.all(
      round.map(async ({ key, picture }) => {
        try {
          found.set(key, await readPicture(picture, type, thumbnails));
        } catch (error) {
          // A full queue is expected on a busy machine.
          if (!(error instanceof Refusal)) log.warn({ err: error, creative_key: key }, 'thumbnail not read');
        }
      }),
    );
  }
};

const notesOf = (
  asked: number,
  tried: readonly ShownCreative[],
  found: Found,
  shown: number,
): readonly string[] => {
  if (shown >= Math.min(asked, Math.max(1, tried.length))) return [];
  if (tried.some(({ key }) => !found.has(key))) return [IMAGES_LATE];
  if (shown === 0) return [IMAGES_NOT_STORED];
  return [someImages(shown)];
};

/** Most wanted creatives first. Never throws: a result without images is still a result. */
export const readPictures = async (
  creatives: readonly ShownCreative[],
  asked: ImagesAsked,
  source: PictureSource,
  waitMs: number = IMAGES_WAIT_MS,
): Promise<Pictures> => {
  if (asked.count === 0) return NO_PICTURES;
  const byKey = new Map(creatives.toReversed().map((one) => [one.key, one]));
  const candidates = [...new Set(creatives.map(({ key }) => key))]
    .slice(0, TRIED_MAX)
    .flatMap((key) => byKey.get(key) ?? []);
  const found: Found = new Map();
  const ending = new AbortController();
  await Promise.race([
    searchPictures(candidates, asked, source, found, ending.signal),
    pause(Math.min(waitMs, timeLeft(Number.POSITIVE_INFINITY) - TEXT_MARGIN_MS), ending.signal),
  ]);
  ending.abort();
  const shown = candidates.flatMap(({ key }) => {
    const picture = found.get(key);
    return picture ? [{ key, picture }] : [];
  });
  return {
    blocks: shown.map(({ picture }) => picture),
    index: shown.map(({ key }) => key),
    notes: notesOf(asked.count, candidates, found, shown.length),
  };
};

export const imageIndexOf = ({ index }: Pictures): JsonObject =>
  index.length === 0 ? {} : { image_index: index };

/** `null` for an address other than a signed URL of stored media. */
const sha256OfLink = (url: Json | undefined, baseUrl: string): string | null => {
  const start = `${baseUrl}${MEDIA_PATH}/`;
  if (typeof url !== 'string' || !url.startsWith(start)) return null;
  const sha256 = url.slice(start.length, start.length + SHA256_LENGTH);
  return CREATIVE_KEY.test(sha256) ? sha256 : null;
};

/** Returns the creatives in their order in the value. A stored poster stands for its video. */
export const creativesIn = (value: Json, baseUrl: string): readonly ShownCreative[] => {
  if (value === null || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap((one: Json) => creativesIn(one, baseUrl));
  const { creative_key: key, poster_url: poster, ...others } = value as JsonObject;
  const inside = Object.values(others).flatMap((one) => creativesIn(one, baseUrl));
  if (typeof key !== 'string' || !CREATIVE_KEY.test(key)) return inside;
  return [{ key, picture: sha256OfLink(poster, baseUrl) ?? key }, ...inside];
};
