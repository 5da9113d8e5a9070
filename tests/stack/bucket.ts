import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#deploy/local/os/ports.ts';
import { startProcess } from './processes.ts';

export type Bucket = AsyncDisposable & {
  /** Value for the setting OBJECT_STORE_URL. */
  readonly url: string;
  kill(): Promise<void>;
};

/** Starts a server with a port, a folder and one bucket of its own. The only access key is `S3RVER`. */
export const startBucket = async (): Promise<Bucket> => {
  const directory = await mkdtemp(join(tmpdir(), 'bucket-'));
  const port = await freePort();
  const options = ['--address', '127.0.0.1', '--port', String(port), '--directory', directory];
  const service = startProcess('node_modules/s3rver/bin/s3rver.js', {}, [
    ...options,
    '--configure-bucket',
    'reports',
  ]);
  await service.says('listening');
  return {
    url: `s3://S3RVER:S3RVER@127.0.0.1:${port}/reports/of/tests?tls=false`,
    kill: () => service.kill(),
    [Symbol.asyncDispose]: async () => {
      await service.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
