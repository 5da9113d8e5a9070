import { readFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ImageFault, perceptualHashOf } from '#application/media/image-decoder.ts';
import { makeThumbnail } from '#application/media/thumbnails.ts';
import { PERCEPTUAL_HASH_SET_BITS_MIN } from '#contracts/values/media/creatives.ts';
import { CREATIVE_DURATION_MAX_SECONDS, CREATIVE_PIXELS_MAX } from '#contracts/observations/creative.ts';
import { SECOND_MS } from '#contracts/values/time.ts';

export type MeasuredImage = {
  readonly width: number;
  readonly height: number;
  /** `null` for a picture without structure: all plain areas have equal hashes. */
  readonly perceptualHash: string | null;
  readonly thumbnail: Buffer;
};

const HASH_BITS = 64;

const tellsApart = (hash: string): boolean => {
  const set = BigInt(`0x${hash}`).toString(2).replaceAll('0', '').length;
  return set >= PERCEPTUAL_HASH_SET_BITS_MIN && set <= HASH_BITS - PERCEPTUAL_HASH_SET_BITS_MIN;
};

export const measureImage = async (path: string): Promise<MeasuredImage | ImageFault> => {
  const file = await readFile(path);
  const thumbnail = await makeThumbnail(file);
  if (typeof thumbnail === 'string') return thumbnail;
  const measured = await perceptualHashOf(file);
  if (typeof measured === 'string') return measured;
  const { webp, width, height } = thumbnail;
  const perceptualHash = tellsApart(measured.hash) ? measured.hash : null;
  return { width, height, perceptualHash, thumbnail: webp };
};

const run = promisify(execFile);

const PROGRAM_LIMIT_MS = 20 * SECOND_MS;
const OUTPUT_MAX_BYTES = 64 * 1024;
/** A film can name other files and addresses, so only the downloaded file is read. */
const PROTOCOLS = ['-protocol_whitelist', 'file'];

/** Each field is `null` when it was not measured. */
export type MeasuredVideo = {
  readonly width: number | null;
  readonly height: number | null;
  readonly durationSeconds: number | null;
};
export const NOT_MEASURED: MeasuredVideo = { width: null, height: null, durationSeconds: null };

export type VideoTools = {
  measure(path: string, signal: AbortSignal): Promise<MeasuredVideo>;
  /** Returns false when no still image can be made. */
  extractStill(path: string, to: string, signal: AbortSignal): Promise<boolean>;
};

/** A size outside its range counts as not measured. */
const within = (value: unknown, max: number): number | null => {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 && number <= max ? number : null;
};

const pixels = (value: unknown): number | null =>
  Number.isInteger(value) ? within(value, CREATIVE_PIXELS_MAX) : null;

type Probe = {
  readonly streams?: readonly { readonly width?: unknown; readonly height?: unknown }[];
  readonly format?: { readonly duration?: unknown };
};

/** Runs `ffprobe` and `ffmpeg` of `PATH`. Without a program, or when it fails, nothing is measured. */
export const openVideoTools = (): VideoTools => {
  const options = (signal: AbortSignal) => ({
    timeout: PROGRAM_LIMIT_MS,
    killSignal: 'SIGKILL' as const,
    maxBuffer: OUTPUT_MAX_BYTES,
    signal,
  });
  return {
    measure: async (path, signal) => {
      const shown = ['-show_entries', 'stream=width,height:format=duration', '-select_streams', 'v:0'];
      try {
        const probe = ['-v', 'error', ...PROTOCOLS, ...shown, '-of', 'json', path];
        const { stdout } = await run('ffprobe', probe, options(signal));
        const { streams, format } = JSON.parse(stdout) as Probe;
        return {
          width: pixels(streams?.[0]?.width),
          height: pixels(streams?.[0]?.height),
          durationSeconds: within(format?.duration, CREATIVE_DURATION_MAX_SECONDS),
        };
      } catch {
        signal.throwIfAborted();
        return NOT_MEASURED;
      }
    },
    extractStill: async (path, to, signal) => {
      try {
        const output = ['-frames:v', '1', '-f', 'image2', '-c:v', 'mjpeg', '-y', to];
        await run('ffmpeg', ['-v', 'error', ...PROTOCOLS, '-i', path, ...output], options(signal));
        return true;
      } catch {
        signal.throwIfAborted();
        return false;
      }
    },
  };
};
