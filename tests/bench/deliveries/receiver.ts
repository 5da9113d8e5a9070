import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook receiver that replies 204 to every request and does nothing else. */
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(204).end();
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
