import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { TimeUsedUp, requireTime, timeSignal } from '../concurrency/time-budget.ts';
import { type ByteRange, type ObjectStore, assertObjectKey } from './object-store.ts';

/** `s3://KEY_ID:SECRET@host:port/bucket/folder?region=…&tls=false`; id and secret are percent-encoded. */
export const BUCKET_URL =
  /^s3:\/\/(?:([^:@/?#]+):([^:@/?#]+)@)?([^@/?#]+)\/([a-z0-9.-]{3,63})((?:\/[a-z0-9_-]+)*)\/?(?:\?([^#]*))?$/;

const DEFAULT_REGION = 'us-east-1';

export type BucketLocation = {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Empty, or ending in a slash. */
  readonly prefix: string;
  /** `null`: the default credentials of the machine apply. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
};

/** The error does not repeat an invalid URL, because it may hold a secret. */
export const parseBucketUrl = (url: string): BucketLocation => {
  const parts = BUCKET_URL.exec(url);
  if (!parts) throw new Error('OBJECT_STORE_URL is not a bucket URL. Use s3://KEY_ID:SECRET@host/bucket.');
  const [, keyId, secret, host = '', bucket = '', folder = '', query = ''] = parts;
  const parameters = new URLSearchParams(query);
  return {
    endpoint: `${parameters.get('tls') === 'false' ? 'http' : 'https'}://${host}`,
    region: parameters.get('region') ?? DEFAULT_REGION,
    bucket,
    prefix: folder === '' ? '' : `${folder.slice(1)}/`,
    credentials:
      keyId === undefined || secret === undefined
        ? null
        : { accessKeyId: decodeURIComponent(keyId), secretAccessKey: decodeURIComponent(secret) },
  };
};

const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 30_000;
const ATTEMPTS_MAX = 5;
/** Each answer being read holds a connection; further requests wait in the client. */
const SOCKET_CLIENTS = 256;
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;

/**
 * Objects of any S3-compatible service appear with the end of their multipart upload. A lifecycle rule must abort parts
 * of crashed writers. `url`: OBJECT_STORE_URL.
 */
export const openBucketStore = (url: string): ObjectStore => {
  const { endpoint, region, bucket, prefix, credentials } = parseBucketUrl(url);
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    maxAttempts: ATTEMPTS_MAX,
    // Some other S3 services reject checksums that they did not request.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: ANSWER_TIMEOUT_MS,
      httpAgent: { maxSockets: SOCKET_CLIENTS },
      httpsAgent: { maxSockets: SOCKET_CLIENTS },
    },
    ...(credentials ? { credentials } : {}),
  });
  const place = (key: string) => ({ Bucket: bucket, Key: prefix + assertObjectKey(key) });

  /** Includes repetitions, until the end of the caller's budget. Throws `TimeUsedUp` then. */
  const inTime = async <T>(send: (limit: { abortSignal?: AbortSignal }) => Promise<T>): Promise<T> => {
    requireTime();
    const abortSignal = timeSignal();
    try {
      return await send(abortSignal ? { abortSignal } : {});
    } catch (error) {
      if (abortSignal?.aborted) throw new TimeUsedUp();
      throw error;
    }
  };

  const bytesOf = async (key: string): Promise<number | null> => {
    try {
      const head = await inTime((limit) => client.send(new HeadObjectCommand(place(key)), limit));
      return head.ContentLength ?? 0;
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  };

  return {
    write: async (key, source) => {
      const digest = createHash('sha256');
      let bytes = 0;
      let broken: { readonly by: unknown } | null = null;
      const measured = async function* (): AsyncGenerator<Buffer> {
        try {
          for await (const chunk of source) {
            const buffer = Buffer.from(chunk as string);
            digest.update(buffer);
            bytes += buffer.byteLength;
            yield buffer;
          }
        } catch (error) {
          broken = { by: error };
          throw error;
        }
      };
      const upload = new Upload({
        client,
        params: { ...place(key), Body: Readable.from(measured(), { objectMode: false }) },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
        leavePartsOnError: false,
      });
      try {
        await upload.done();
      } catch (error) {
        // Prefers the error of the source: aborting the upload can fail too, and that error is not the cause.
        throw (broken as { readonly by: unknown } | null)?.by ?? error;
      }
      return { bytes, sha256: digest.digest('hex') };
    },
    exists: async (key) => (await bytesOf(key)) !== null,
    remove: async (key) => {
      await client.send(new DeleteObjectCommand(place(key)));
    },
    open: async (key) => {
      const bytes = await bytesOf(key);
      if (bytes === null) return null;
      const body = async function* (range?: ByteRange): AsyncGenerator<Uint8Array> {
        const part = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
        const asked = new GetObjectCommand({ ...place(key), ...part });
        const { Body } = await inTime((limit) => client.send(asked, limit));
        if (Body) yield* Body as Readable;
      };
      return { bytes, read: (range) => Readable.from(body(range), { objectMode: false }) };
    },
    removeAllBut: async (below, key) => {
      const kept = key === null ? null : place(key).Key;
      const found = { Bucket: bucket, Prefix: `${place(below).Key}/` };
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, found)) {
        for (const { Key } of Contents) {
          if (Key === undefined || Key === kept) continue;
          await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
        }
      }
    },
  };
};
