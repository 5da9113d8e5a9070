/** `s3://KEY_ID:SECRET@host:port/bucket/folder?region=…&tls=false`, user and password percent-encoded. */
export const BUCKET_URL =
  /^s3:\/\/(?:([^:@/?#]+):([^:@/?#]+)@)?([^@/?#]+)\/([a-z0-9.-]{3,63})((?:\/[a-z0-9_-]+)*)\/?(?:\?([^#]*))?$/;

const REGION_OTHERWISE = 'us-east-1';

export type BucketPlace = {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  /** `null`: whatever the machine is allowed. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
};

/** What cannot be read is not repeated: it may hold a secret. */
export const bucketPlaceOf = (url: string): BucketPlace => {
  const parts = BUCKET_URL.exec(url);
  if (!parts) throw new Error('OBJECT_STORE_URL is no bucket like s3://KEY_ID:SECRET@host/bucket');
  const [, keyId, secret, host = '', bucket = '', folder = '', query = ''] = parts;
  const words = new URLSearchParams(query);
  return {
    endpoint: `${words.get('tls') === 'false' ? 'http' : 'https'}://${host}`,
    region: words.get('region') ?? REGION_OTHERWISE,
    bucket,
    prefix: folder === '' ? '' : `${folder.slice(1)}/`,
    credentials:
      keyId === undefined || secret === undefined
        ? null
        : { accessKeyId: decodeURIComponent(keyId), secretAccessKey: decodeURIComponent(secret) },
  };
};
