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
