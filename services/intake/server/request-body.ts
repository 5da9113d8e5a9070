import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { IntakeRefusal } from './refusal.ts';

/** Time to read and drop the rest of a rejected body, so that the client can read the reply. */
const DISCARD_LIMIT_MS = 10_000;

export type BodyLimits = { readonly maxBytes: number; readonly timeoutMs: number };

const tooLarge = (maxBytes: number): IntakeRefusal =>
  new IntakeRefusal('too_large', `The body is larger than ${maxBytes} bytes. Send smaller parts.`);

/** Throws `too_large`, or `invalid_request` for a slow or incomplete body. After a throw, call `discardBody`. */
export const receiveBody = async function* (
  request: IncomingMessage,
  { maxBytes, timeoutMs }: BodyLimits,
): AsyncGenerator<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const late = Promise.withResolvers<never>();
  late.promise.catch(() => undefined);
  const timer = setTimeout(() => {
    const message = `The body did not arrive within ${timeoutMs / 1_000} s. Send smaller parts.`;
    late.reject(
      new IntakeRefusal('invalid_request', message, {
        details: [{ path: '', message, code: 'body_too_slow' }],
      }),
    );
  }, timeoutMs);
  const chunks = request.iterator({ destroyOnReturn: false });
  let bytes = 0;
  try {
    for (;;) {
      const next = chunks.next().catch(() => {
        throw new IntakeRefusal('invalid_request', 'The body ended early. Send the request again.');
      });
      const { done, value } = await Promise.race([next, late.promise]);
      if (done) return;
      const chunk = value as Buffer;
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
};

/** Drops the rest of a body for a limited time, then closes the connection. */
export const discardBody = (request: IncomingMessage): void => {
  if (request.readableEnded || request.destroyed) return;
  // `resume` has no effect while `receiveBody` has a listener.
  request.removeAllListeners('readable');
  setImmediate(() => request.resume());
  const timer = setTimeout(() => request.destroy(), DISCARD_LIMIT_MS);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
};

const unpack = promisify(gunzip);

/** Limits received and unpacked bytes alike, so that a small gzip body cannot fill the memory. */
export const readWholeBody = async (request: IncomingMessage, limits: BodyLimits): Promise<Buffer> => {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding)) {
    throw new IntakeRefusal(
      'unsupported_content',
      'The content-encoding is unknown. Send `gzip`, or a body without an encoding.',
    );
  }
  const chunks: Buffer[] = [];
  for await (const chunk of receiveBody(request, limits)) chunks.push(chunk);
  const received = Buffer.concat(chunks);
  if (encoding === 'identity') return received;
  try {
    return await unpack(received, { maxOutputLength: limits.maxBytes });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limits.maxBytes);
    throw new IntakeRefusal('invalid_request', 'The body is not valid gzip data. Pack it again.');
  }
};
