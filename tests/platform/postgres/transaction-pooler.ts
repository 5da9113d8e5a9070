import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Pooler with one connection to Postgres, as PgBouncer in transaction mode. */
export type TransactionPooler = AsyncDisposable & { readonly url: string };

/** Bytes of the code and the length of a message. */
const HEAD_BYTES = 5;
const [QUERY, SYNC, TERMINATE, READY] = ['Q', 'S', 'X', 'Z'] as const;
/** Codes of a sign-in. Only code 0 of the server says that it is done. */
const [PASSWORD, AUTHENTICATION] = ['p', 'R'] as const;
const IDLE = 'I';

/** Splits messages. `rest`: an incomplete one. */
const split = (bytes: Buffer): { readonly messages: readonly Buffer[]; readonly rest: Buffer } => {
  const messages: Buffer[] = [];
  let at = 0;
  while (bytes.length - at >= HEAD_BYTES) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    messages.push(bytes.subarray(at, end));
    at = end;
  }
  return { messages, rest: bytes.subarray(at) };
};
const codeOf = (message: Buffer): string => String.fromCharCode(message[0] ?? 0);

type Client = {
  readonly socket: Socket;
  hasBegun: boolean;
  rest: Buffer;
  readonly units: Buffer[][];
  unit: Buffer[];
};

export const startTransactionPooler = async (databaseUrl: string): Promise<TransactionPooler> => {
  const url = new URL(databaseUrl);
  const folder = url.searchParams.get('host');
  const server = folder?.startsWith('/')
    ? connect(`${folder}/.s.PGSQL.${url.port}`)
    : connect(Number(url.port), url.hostname);
  const clients: Client[] = [];
  /** First answer of the server, which each client gets. */
  let greeting: Buffer | null = null;
  let greetingParts: Buffer[] = [];
  let owner: Client | null = null;
  let rest: Buffer = Buffer.alloc(0);

  const next = (isInTransaction: boolean): void => {
    if (!isInTransaction) {
      owner = clients.find(({ units }) => units.length > 0) ?? null;
      if (owner) clients.push(...clients.splice(clients.indexOf(owner), 1));
    }
    const unit = owner?.units.shift();
    if (unit) server.write(Buffer.concat(unit));
    else if (isInTransaction) isWaiting = true;
  };
  /** True while the owner's transaction is open and it has sent nothing. */
  let isWaiting = false;

  const begin = (client: Client, bytes: Buffer): Buffer => {
    const length = bytes.readUInt32BE(0);
    client.hasBegun = true;
    if (greeting) client.socket.write(greeting);
    else {
      owner = client;
      server.write(bytes.subarray(0, length));
    }
    return bytes.subarray(length);
  };
  const take = (client: Client, bytes: Buffer): void => {
    const { messages, rest: left } = split(Buffer.concat([client.rest, bytes]));
    client.rest = left;
    for (const message of messages) {
      if (codeOf(message) === TERMINATE) continue;
      if (codeOf(message) === PASSWORD) {
        server.write(message);
        continue;
      }
      client.unit.push(message);
      if (codeOf(message) !== QUERY && codeOf(message) !== SYNC) continue;
      client.units.push(client.unit);
      client.unit = [];
    }
    if (owner === null) next(false);
    else if (owner === client && isWaiting && client.units.length > 0) {
      isWaiting = false;
      next(true);
    }
  };

  server.on('data', (bytes) => {
    const { messages, rest: left } = split(Buffer.concat([rest, bytes]));
    rest = left;
    for (const message of messages) {
      const isQuestion = codeOf(message) === AUTHENTICATION && message.readUInt32BE(HEAD_BYTES) !== 0;
      if (greeting === null && !isQuestion) greetingParts.push(message);
      owner?.socket.write(message);
      if (codeOf(message) !== READY) continue;
      greeting ??= Buffer.concat(greetingParts);
      greetingParts = [];
      const status = String.fromCharCode(message[HEAD_BYTES] ?? 0);
      next(status !== IDLE);
    }
  });
  await once(server, 'connect');
  const pooler = createServer((socket) => {
    const client: Client = { socket, hasBegun: false, rest: Buffer.alloc(0), units: [], unit: [] };
    clients.push(client);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => take(client, client.hasBegun ? bytes : begin(client, bytes)));
  });
  pooler.listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  const through = new URL(databaseUrl);
  through.searchParams.delete('host');
  through.hostname = '127.0.0.1';
  through.port = String((pooler.address() as { port: number }).port);
  return {
    url: through.href,
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of clients) socket.destroy();
      server.destroy();
      await new Promise((resolve) => pooler.close(resolve));
    },
  };
};
