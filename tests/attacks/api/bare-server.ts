import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';

/** Server that only sends a body: the least that a download can cost. */
const { BYTES, PORT } = readSettings(
  z.object({ BYTES: z.coerce.number().int(), PORT: z.coerce.number().int() }),
);
// Zeros would be one page of memory, read from the cache of the processor.
const body = randomBytes(BYTES);
createServer((_request, reply) => void reply.end(body)).listen(PORT, '127.0.0.1');
