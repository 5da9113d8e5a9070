import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { openWebhookChannel, webhookKeysOf } from '#platform/channels/webhook.ts';
import { systemClock } from '#platform/clock.ts';
import { isGloballyReachable } from '#platform/egress/public-address.ts';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import type { ResolvedAddress } from '#platform/egress/ssrf-guard.ts';
import { openEgress } from '#platform/egress/http-client.ts';

const keys = webhookKeysOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
const v4 = (address: string): ResolvedAddress => ({ address, family: 4 });
const v6 = (address: string): ResolvedAddress => ({ address, family: 6 });

/** Sends a webhook while each resolution of the name returns the next of `answers`. */
const sendTo = async (url: string, ...answers: readonly (readonly ResolvedAddress[])[]) => {
  let resolutions = 0;
  await using egress = openEgress({
    allowLoopback: false,
    resolve: async () => {
      resolutions += 1;
      return answers[Math.min(resolutions, answers.length) - 1] ?? [];
    },
  });
  const outcome = await openWebhookChannel(egress, systemClock).sendOnce(
    { url, deliveryId: '5f0e5d9a-2f0d-4b11-8a58-6f0c1c4e3b7a', keys },
    Buffer.from('{}'),
  );
  return { outcome, resolutions };
};

let reached = 0;
let port = 0;
/** Server that must never be reached. */
const server = createServer((_, response) => {
  reached += 1;
  response.end();
});
server.on('connection', () => {
  reached += 1;
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
port = (server.address() as AddressInfo).port;
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  expect(reached, 'connections to a blocked target').toBe(0);
});

describe('rejects a target by its URL', () => {
  const refused = [
    ['http', 'http://shop.example/hook'],
    ['another protocol', 'ftp://shop.example/hook'],
    ['a file', 'file:///etc/passwd'],
    ['no URL', 'shop.example/hook'],
    ['an empty text', ''],
    ['a text that is too long', `https://shop.example/${'a'.repeat(2_100)}`],
    ['a user name', 'https://ada@shop.example/hook'],
    ['a password', 'https://ada:secret@shop.example/hook'],
    ['a host behind user info', 'https://shop.example:443@127.0.0.1/hook'],
    ['this machine', 'https://127.0.0.1/hook'],
    ['another loopback address', 'https://127.8.9.1/hook'],
    ['an octal host', 'https://0177.0.0.1/hook'],
    ['a decimal host', 'https://2130706433/hook'],
    ['a hexadecimal host', 'https://0x7f000001/hook'],
    ['a short host', 'https://127.1/hook'],
    ['a private network', 'https://10.1.2.3/hook'],
    ['another private network', 'https://192.168.0.1/hook'],
    ['the third private network', 'https://172.31.255.255/hook'],
    ['link-local, where clouds keep credentials', 'https://169.254.169.254/latest/meta-data'],
    ['carrier-grade NAT', 'https://100.64.0.1/hook'],
    ['nowhere', 'https://0.0.0.0/hook'],
    ['multicast', 'https://224.0.0.1/hook'],
    ['broadcast', 'https://255.255.255.255/hook'],
    ['documentation', 'https://203.0.113.9/hook'],
    ['benchmarking', 'https://198.18.0.1/hook'],
    ['IPv6 loopback', 'https://[::1]/hook'],
    ['IPv6 unspecified', 'https://[::]/hook'],
    ['IPv6 link-local', 'https://[fe80::1]/hook'],
    ['IPv6 unique local', 'https://[fd00:ec2::254]/hook'],
    ['IPv6 multicast', 'https://[ff02::1]/hook'],
    ['IPv6 documentation', 'https://[2001:db8::1]/hook'],
    ['Teredo', 'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/hook'],
    ['v4-mapped loopback', 'https://[::ffff:127.0.0.1]/hook'],
    ['v4-mapped in hexadecimal', 'https://[::ffff:7f00:1]/hook'],
    ['v4-compatible', 'https://[::127.0.0.1]/hook'],
    ['6to4 of a private network', 'https://[2002:a00:1::]/hook'],
    ['NAT64 of link-local', 'https://[64:ff9b::a9fe:a9fe]/hook'],
    ['NAT64 of local use', 'https://[64:ff9b:1::808:808]/hook'],
    ['a dot at the end of an address', 'https://127.0.0.1./hook'],
    ['a dot at the end of a name', 'https://shop.example./hook'],
    ['localhost', 'https://localhost/hook'],
    ['localhost with a dot', 'https://localhost./hook'],
    ['below localhost', 'https://hook.localhost/'],
    ['a name of one word', 'https://intranet/hook'],
    ['a local name', 'https://printer.local/hook'],
    ['an internal name', 'https://metadata.google.internal/'],
    ['full-width digits', 'https://１２７.０.０.１/hook'],
    ['an escaped host', 'https://%31%32%37.0.0.1/hook'],
  ] as const;
  test.each(refused)('%s', async (_, url) => {
    expect(checkTargetUrl(url, { allowLoopback: false })).toMatch(/^[A-Z].*\.$/);
    // The URL is checked again before a name is resolved.
    const { outcome, resolutions } = await sendTo(url, [v4('93.184.216.34')]);
    expect(outcome).toMatchObject({ delivered: false, failure: 'blocked_target', terminal: true });
    expect(resolutions).toBe(0);
  });

  test.each(['https://shop.example/hook?a=1', 'https://8.8.8.8:8443/', 'https://[2606:4700::1111]/hook'])(
    'accepts %s',
    (url) => {
      expect(checkTargetUrl(url, { allowLoopback: false })).toBeNull();
    },
  );

  test('allows loopback in the local stack, and no other address that is not public', () => {
    for (const url of ['http://127.0.0.1:8090/hook', 'https://localhost:8443/', 'http://[::1]/']) {
      expect(checkTargetUrl(url, { allowLoopback: true })).toBeNull();
    }
    for (const url of [
      'http://10.0.0.1/',
      'https://192.168.1.1/',
      'http://shop.example/',
      'https://nas.local/',
    ]) {
      expect(checkTargetUrl(url, { allowLoopback: true })).not.toBeNull();
    }
  });
});

describe('rejects a target when its name resolves to a blocked address', () => {
  const refused: readonly (readonly [string, readonly ResolvedAddress[]])[] = [
    ['loopback', [v4('127.0.0.1')]],
    ['a private network', [v4('10.0.0.8')]],
    ['credentials of a cloud', [v4('169.254.169.254')]],
    ['IPv6 loopback', [v6('::1')]],
    ['v4-mapped', [v6('::ffff:127.0.0.1')]],
    ['6to4', [v6('2002:7f00:1::')]],
    ['NAT64', [v6('64:ff9b::7f00:1')]],
    ['a public and a private address', [v4('93.184.216.34'), v4('127.0.0.1')]],
    ['a public and a private one of the other family', [v4('93.184.216.34'), v6('fd00::1')]],
    ['no address at all', []],
    ['what is no address', [v4('127.0.0.1.nip.io')]],
    ['an octal address', [v4('0177.0.0.1')]],
    ['a zone', [v6('fe80::1%eth0')]],
  ];
  test.each(refused)('%s', async (_, addresses) => {
    const { outcome, resolutions } = await sendTo(`https://hook.shop.example:${port}/`, addresses);
    expect(outcome).toMatchObject({
      delivered: false,
      failure: 'blocked_target',
      terminal: true,
      status_code: null,
    });
    // The checked addresses are those connected to.
    expect(resolutions).toBe(1);
  });

  test('a name that resolves to a private address only at the call (DNS rebinding)', async () => {
    const url = `https://rebinding.shop.example:${port}/`;
    expect(checkTargetUrl(url, { allowLoopback: false })).toBeNull();
    const { outcome, resolutions } = await sendTo(url, [v4('127.0.0.1')], [v4('93.184.216.34')]);
    expect(outcome).toMatchObject({ failure: 'blocked_target' });
    expect(resolutions).toBe(1);
  });
});

test('treats an IPv6 address with an embedded public IPv4 address as public', () => {
  expect(isGloballyReachable('::ffff:8.8.8.8')).toBe(true);
  expect(isGloballyReachable('64:ff9b::808:808')).toBe(true);
  expect(isGloballyReachable('2002:808:808::1')).toBe(true);
});
