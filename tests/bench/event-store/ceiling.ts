import { randomBytes } from 'node:crypto';
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  Server,
  ServerCredentials,
} from '@grpc/grpc-js';
import { batchSuccess } from '#deploy/local/event-store/wire/append-replies.ts';
import { CallWriter } from '#deploy/local/event-store/wire/flow-control.ts';
import { addNodeServices } from '#deploy/local/event-store/calls/discovery-service.ts';
import { decodeRead, encodeEvent } from '#deploy/local/event-store/wire/read-codec.ts';
import { streamsDefinition } from '#deploy/local/event-store/calls/streams-service.ts';
import { freePort } from '#deploy/local/os/ports.ts';

/** Answers appends unread and reads from prepared messages, so no server could offer a higher rate. */
const CANNED_EVENTS = 200;
const DATA = Buffer.from(JSON.stringify({ text: 'x'.repeat(400) }));
const IDENTIFIER = Buffer.alloc(0);

const canned = Array.from({ length: CANNED_EVENTS }, (_, number) =>
  encodeEvent({
    position: 1_000_000 + number * 600,
    revision: number,
    stream: Buffer.from(`bench-${randomBytes(8).toString('hex')}`),
    id: randomBytes(16),
    type: Buffer.from('Measured'),
    isJson: true,
    createdMs: Date.now(),
    data: DATA,
    metadata: Buffer.alloc(0),
  }),
);

const batchAppend: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
  const out = new CallWriter(call);
  let position = 0;
  call.on('data', (message: Buffer) => {
    // The correlation id is the first field and shorter than 128 bytes, so its length takes one byte.
    const correlation = message.subarray(2, 2 + (message[1] ?? 0));
    position += 600;
    out.send(batchSuccess(correlation, IDENTIFIER, { kind: 'written', revision: 0, position }));
  });
  call.on('end', () => out.finish());
};

const read: handleServerStreamingCall<Buffer, Buffer> = (call) => {
  const out = new CallWriter(call);
  void sendCanned(out, decodeRead(call.request).maxCount ?? 0);
};

async function sendCanned(out: CallWriter, count: number): Promise<void> {
  for (let sent = 0; sent < count && !out.isOver; sent += CANNED_EVENTS) {
    for (const message of canned.slice(0, count - sent)) out.send(message);
    await out.untilWritable();
  }
  out.finish();
}

const server = new Server({ 'grpc.max_receive_message_length': -1 });
const { read: readMethod, batchAppend: batchMethod } = streamsDefinition;
if (readMethod === undefined || batchMethod === undefined)
  throw new Error('The service definition lacks a method.');
server.addService({ read: readMethod, batchAppend: batchMethod }, { read, batchAppend });
const port = await freePort();
addNodeServices(server, () => ({ host: '127.0.0.1', port }));
server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), () =>
  console.log(`listening ${port}`),
);
