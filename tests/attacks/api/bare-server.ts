import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/** A server that does nothing but send a body of `BYTES` bytes: the least that a download of this size can cost. */
const { BYTES, PORT } = readSettings(
  z.object({ BYTES: z.coerce.number().int(), PORT: z.coerce.number().int() }),
);
// Not zeros: these would be one page of memory, read from the cache of the processor.
const body = randomBytes(BYTES);
createServer((_request, reply) => void reply.end(body)).listen(PORT, '127.0.0.1');
