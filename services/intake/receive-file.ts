import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HEAD_BYTES, VIDEO_MAX_BYTES, mediaTypeOf } from '#application/media/media-type.ts';
import type { Collector } from '#application/collectors/collector-keys.ts';
import type { FileReply } from '#contracts/intake.ts';
import type { ObservationType } from '#contracts/observations/index.ts';
import { CREATIVE_KEY } from '#contracts/values/media/creatives.ts';
import { mediaKeyOf } from '#contracts/values/media/stored-media.ts';
import type { Log } from '#platform/logger.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { IntakeRefusal } from './server/refusal.ts';
import { receiveBody } from './server/request-body.ts';

const GRANTED_BY: ObservationType = 'creative.file';

/** Retry delay of a collector whose file the object store did not accept. */
const RETRY_SECONDS = 30;

const tooLarge = (maxBytes: number): IntakeRefusal =>
  new IntakeRefusal('too_large', `A file of this type has at most ${maxBytes} bytes.`);

export type FileReceipt = { readonly created: boolean; readonly reply: FileReply };

/** Stores a file under its SHA-256 once the hash is verified. `created` is false when the file existed. */
export const receiveFile = async (
  request: IncomingMessage,
  sha256: string,
  { types }: Collector,
  {
    objectStore,
    requireKey,
    timeoutMs,
    log,
  }: {
    readonly log: Log;
    readonly objectStore: ObjectStore;
    readonly requireKey: () => Promise<unknown>;
    readonly timeoutMs: number;
  },
): Promise<FileReceipt> => {
  if (types !== null && !types.has(GRANTED_BY)) {
    throw new IntakeRefusal(
      'type_not_granted',
      `Files need a key that may send \`${GRANTED_BY}\`. Ask the operator for one.`,
    );
  }
  if (!CREATIVE_KEY.test(sha256)) {
    const message = 'The path ends with the SHA-256 of the file: 64 hexadecimal digits in lower case.';
    throw new IntakeRefusal('invalid_request', message, {
      details: [{ path: 'sha256', message, code: 'invalid_format' }],
    });
  }
  if (!['', 'identity'].includes((request.headers['content-encoding'] ?? '').trim().toLowerCase())) {
    throw new IntakeRefusal('unsupported_content', 'Send the bytes of the file without a content-encoding.');
  }

  const digest = createHash('sha256');
  let contentType = '';
  let bytes = 0;
  /** Passes bytes on once their type is known. Throws before the end of a rejected file. */
  const checkedBody = async function* (): AsyncGenerator<Buffer> {
    let head: Buffer | null = Buffer.alloc(0);
    let maxBytes = VIDEO_MAX_BYTES;
    const begin = (first: Buffer): Buffer => {
      const type = mediaTypeOf(first.subarray(0, HEAD_BYTES));
      if (type === null) {
        throw new IntakeRefusal(
          'unsupported_content',
          'The file is not a JPEG, PNG, WebP, GIF, MP4 or WebM.',
        );
      }
      ({ contentType, maxBytes } = type);
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
      head = null;
      return first;
    };
    for await (const chunk of receiveBody(request, { maxBytes: VIDEO_MAX_BYTES, timeoutMs })) {
      digest.update(chunk);
      bytes += chunk.length;
      if (head !== null) {
        head = Buffer.concat([head, chunk]);
        if (head.length >= HEAD_BYTES) yield begin(head);
        continue;
      }
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
    if (head !== null) yield begin(head);
    const actual = digest.digest('hex');
    if (actual !== sha256) {
      throw new IntakeRefusal('hash_mismatch', `The SHA-256 of the body is ${actual}, not that of the path.`);
    }
    await requireKey();
  };

  const key = mediaKeyOf(sha256);
  let existing: object | null;
  try {
    existing = await objectStore.open(key);
    if (existing === null) await objectStore.write(key, checkedBody());
    else for await (const _ of checkedBody());
  } catch (error) {
    if (error instanceof IntakeRefusal) throw error;
    log.warn({ err: error }, 'file not stored');
    throw new IntakeRefusal('unavailable', 'The file cannot be stored now. Send it again later.', {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
  return { created: existing === null, reply: { sha256, bytes, content_type: contentType, object_key: key } };
};
