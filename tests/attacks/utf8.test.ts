import fc from 'fast-check';
import { fastify } from 'fastify';
import { headers as natsHeaders } from 'nats';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isUtf8 } from 'node:buffer';
import { expect } from 'vitest';
import { findInvalidUtf8, parseUtf8Body, textOfUtf8 } from '#platform/http/utf8.ts';
import { readObservationMessage } from '#services/ingest/queue/observation-message.ts';
import { attack, tries } from './attack.ts';

/** Byte sequences that are not UTF-8: overlong forms, halves of pairs, cut sequences, bytes that never occur. */
const INVALID = [
  [0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
];
const wrapped = fc
  .tuple(fc.string(), fc.constantFrom(...INVALID), fc.string())
  .map(([before, bytes, after]) =>
    Buffer.concat([Buffer.from(JSON.stringify(before)), Buffer.from(bytes), Buffer.from(after)]),
  )
  .filter((bytes) => !isUtf8(bytes));

attack('observations that are not valid UTF-8 are refused and never read altered', () => {
  let messages = 0;
  const inText = (bytes: readonly number[]): Buffer =>
    Buffer.concat([Buffer.from('{"type":"site.scan","name":"'), Buffer.from(bytes), Buffer.from('"}')]);
  const read = (data: Buffer): unknown =>
    readObservationMessage({ subject: 'observations.x', data, headers: natsHeaders() }).observation();
  for (const bytes of INVALID) {
    expect(() => read(inText(bytes))).toThrow('not valid UTF-8');
    messages += 1;
  }
  fc.assert(
    fc.property(wrapped, (bytes) => {
      expect(textOfUtf8(bytes)).toBeNull();
      messages += 1;
    }),
    { numRuns: tries(100) },
  );
  expect(read(inText([...Buffer.from('Größe 😀')]))).toMatchObject({ name: 'Größe 😀' });
  return `${messages} texts refused`;
});

attack('bodies, headers and addresses that are not valid UTF-8 are refused', async () => {
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parseUtf8Body);
  app.post('/x', (sent, reply) => reply.send({ invalid: findInvalidUtf8(sent.raw), body: sent.body }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const send = (path: string, header: string, body: Buffer): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'text/plain', 'x-name': header, connection: 'close' };
      const sent = request({ port, host: '127.0.0.1', method: 'POST', path, headers }, (reply) => {
        const parts: Buffer[] = [];
        reply.on('data', (part: Buffer) => parts.push(part));
        reply.on('end', () =>
          resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  const invalidOf = async (path: string, header: string): Promise<unknown> =>
    (JSON.parse((await send(path, header, Buffer.from('a'))).text) as { invalid: unknown }).invalid;
  let requests = 0;
  try {
    for (const bytes of INVALID) {
      const escaped = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      const { status, text } = await send('/x', 'a', Buffer.from(bytes));
      expect([status, JSON.parse(text)]).toMatchObject([400, { code: 'INVALID_UTF8' }]);
      expect(await invalidOf(`/x?q=a${escaped}`, 'a')).toBe('address');
      expect(await invalidOf('/x', Buffer.from(bytes).toString('latin1'))).toBe('x-name');
      requests += 3;
    }
    expect(await invalidOf('/x?q=%', 'a')).toBe('address');
    expect(await invalidOf('/x?q=%F0%9F%98%80', Buffer.from('Größe').toString('latin1'))).toBeNull();
    expect(JSON.parse((await send('/x', 'a', Buffer.from('Größe'))).text)).toMatchObject({ body: 'Größe' });
  } finally {
    await app.close();
  }
  return `${requests} requests refused`;
});
