import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type Bucket = AsyncDisposable & {
  /** Value for the setting OBJECT_STORE_URL. */
  readonly url: string;
};

/** The only bucket, and its only access key. */
const BUCKET = 'reports';
const KEY_ID = 'TESTS';

type Reply = {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
};

const refusal = (status: number, code: string, message: string): Reply => ({
  status,
  body: `<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});

const notFound = refusal(404, 'NoSuchKey', 'The specified key does not exist.');

/** Sends the part that `bytes=first-last` names, else the whole object. */
const readObject = (object: Buffer, range: string | undefined): Reply => {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (first === undefined) return { body: object };
  const end = Math.min(Number(last), object.length - 1);
  return {
    status: 206,
    headers: { 'content-range': `bytes ${first}-${end}/${object.length}` },
    body: object.subarray(Number(first), end + 1),
  };
};

/**
 * Starts a server with the part of S3's protocol that the object store uses: objects, ranges, lists and multipart uploads,
 * in memory. It checks the access key id and not the signature.
 */
export const startBucket = async (): Promise<Bucket> => {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();

  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://bucket');
    const [, bucket, ...parts] = pathname.split('/').map(decodeURIComponent);
    const key = parts.join('/');
    const body = await buffer(request);
    if (!request.headers.authorization?.includes(`Credential=${KEY_ID}/`))
      return refusal(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist.');
    if (bucket !== BUCKET) return refusal(404, 'NoSuchBucket', 'The specified bucket does not exist');
    const uploadId = query.get('uploadId');
    const upload = uploads.get(uploadId ?? '');
    if (uploadId !== null && !upload) return refusal(404, 'NoSuchUpload', 'The upload does not exist.');
    const object = objects.get(key);
    switch (request.method) {
      case 'POST': {
        if (!upload) {
          const id = String(uploads.size + 1);
          uploads.set(id, new Map());
          return {
            body: `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
          };
        }
        const numbered = [...upload].toSorted(([one], [other]) => one - other);
        objects.set(key, Buffer.concat(numbered.map(([, part]) => part)));
        upload.clear();
        return { body: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' };
      }
      case 'PUT':
        if (upload) upload.set(Number(query.get('partNumber')), body);
        else objects.set(key, body);
        return { headers: { etag: '"tests"' } };
      case 'DELETE':
        if (upload) upload.clear();
        else objects.delete(key);
        return { status: 204 };
      default: {
        if (query.has('list-type')) {
          const found = [...objects.keys()].filter((name) => name.startsWith(query.get('prefix') ?? ''));
          const contents = found.map((name) => `<Contents><Key>${name}</Key></Contents>`);
          return { body: `<ListBucketResult>${contents.join('')}</ListBucketResult>` };
        }
        return object ? readObject(object, request.headers.range) : notFound;
      }
    }
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status = 200, headers = {}, body = '' } = await answer(request);
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const server = createServer((request, response) => {
    // A client that disconnects while it sends ends its request only.
    respond(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `s3://${KEY_ID}:secret@127.0.0.1:${(server.address() as AddressInfo).port}/${BUCKET}/of/tests?tls=false`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
