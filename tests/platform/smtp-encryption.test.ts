import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { encryptedSmtpUrl, openEmailChannel } from '#platform/channels/email.ts';

const openPlainServer = async () => {
  const received: string[] = [];
  let isMail = false;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 mail.test\r\n');
    socket.on('data', (chunk) => {
      const text = chunk.toString();
      received.push(text);
      if (isMail) {
        if (!text.includes('\r\n.\r\n')) return;
        isMail = false;
        socket.write('250 queued\r\n');
      } else if (text.startsWith('DATA')) {
        isMail = true;
        socket.write('354 go on\r\n');
      } else if (text.startsWith('EHLO')) socket.write('250-mail.test\r\n250 AUTH PLAIN\r\n');
      else if (text.startsWith('AUTH')) socket.write('235 welcome\r\n');
      else if (text.startsWith('STARTTLS')) socket.write('502 unknown\r\n');
      else socket.write('250 ok\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, received };
};

/** Sends through a server that is loopback under the name of another host. */
const send = async (url: string, port: number): Promise<unknown> => {
  const transport = createTransport({
    url,
    getSocket: (_options: unknown, done: (error: null, socket: object) => void) =>
      done(null, { connection: connect(port, '127.0.0.1') }),
  } as object);
  try {
    return await transport.sendMail({ from: 'a@ads.example', to: 'b@shop.example', text: 'Code 123456' });
  } finally {
    transport.close();
  }
};

test.each([
  '',
  '?ignoreTLS=true',
  '?requireTLS=false',
  '?opportunisticTLS=true',
  '?requireTLS=0&ignoreTLS=1',
])(
  'a mail server on another host that offers no TLS gets no password and no e-mail: smtp://…%s',
  async (parameters) => {
    const { server, port, received } = await openPlainServer();
    const url = encryptedSmtpUrl(`smtp://user:hush@mail.example${parameters}`, {});
    await expect(send(url, port)).rejects.toThrow(/TLS/);
    expect(received.join('')).not.toMatch(/AUTH|MAIL|123456/);
    server.close();
  },
);

test('the operator may allow it, and this machine needs no TLS', async () => {
  const { server, port, received } = await openPlainServer();
  const allowed = { SERVERS_ALLOW_PLAIN_TEXT: 'true' } as const;
  await send(encryptedSmtpUrl('smtp://user:hush@mail.example', allowed), port);
  await send(encryptedSmtpUrl(`smtp://user:hush@localhost:${port}`, {}), port);
  await send(encryptedSmtpUrl(`smtp://[::1]:${port}`, {}), port);
  expect(received.join('').split('123456')).toHaveLength(4);
  expect(encryptedSmtpUrl('smtps://user:p%40ss@mail.example', {})).toContain(
    'smtps://user:p%40ss@mail.example',
  );
  server.close();
});

test('a mail server that sends its answer byte by byte without end is given up, with its connections', async () => {
  let closed = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('220 mail.test\r\n');
    socket.once('data', () => {
      const writing = setInterval(() => socket.write('2'), 20);
      socket.once('close', () => {
        clearInterval(writing);
        closed += 1;
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = { SMTP_URL: `smtp://127.0.0.1:${port}`, DATA_DIR: '/nowhere', MAIL_FROM: 'a@ads.example' };
  using channel = openEmailChannel(settings, systemClock, 500);
  const mail = { to: 'b@shop.example', deliveryId: 'del_1' };
  // More than connections of the pool.
  const messages = Array.from({ length: 6 }, () => channel.sendMessage(mail, { subject: 'Code', text: '1' }));
  for (const outcome of await Promise.all(messages))
    expect(outcome).toMatchObject({ delivered: false, failure: expect.stringMatching(/timeout|connection/) });
  await expect.poll(() => closed).toBeGreaterThan(3);
  server.close();
});
