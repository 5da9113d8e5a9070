import ipaddr from 'ipaddr.js';
import { expect } from 'vitest';
import { checkTargetUrl } from '#platform/egress/check-target-url.ts';
import { openEgress } from '#platform/egress/http-client.ts';
import { isGloballyReachable, ownAddressCheck } from '#platform/egress/public-address.ts';
import { REFUSED_NAMES, REFUSED_RANGES } from '#platform/egress/refused-targets.ts';
import { attack } from './attack.ts';

const ipv6Forms = (v4: string): string[] => {
  const bytes = ipaddr.IPv4.parse(v4).toByteArray();
  const hex = [0, 2].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16)).join(':');
  return [
    `::ffff:${hex}`,
    `::ffff:0:${hex}`,
    `::${hex}`,
    `64:ff9b::${hex}`,
    `64:ff9b:1::${hex}`,
    `2002:${hex}::1`,
    `2001:db8::5efe:${hex}`,
    `2606:4700::5efe:${hex}`,
    `2606:4700::200:5efe:${hex}`,
  ];
};
const formsOf = (address: string): string[] =>
  address.includes(':') ? [address] : [address, ...ipv6Forms(address)];
const urlOf = (address: string): string => `https://${address.includes(':') ? `[${address}]` : address}/hook`;

attack('webhooks to control planes of clouds are refused in every form of the address', () => {
  let forms = 0;
  const named = [
    '168.63.129.16',
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
  ];
  const listed = REFUSED_RANGES.map(({ range }) => range.split('/', 1)[0] ?? '');
  for (const address of new Set([...named, ...listed])) {
    for (const form of formsOf(address)) {
      expect(isGloballyReachable(form), form).toBe(false);
      expect(checkTargetUrl(urlOf(form), { allowLoopback: false }), form).not.toBeNull();
      forms += 1;
    }
  }
  for (const { name, source } of [
    ...REFUSED_NAMES,
    ...REFUSED_RANGES.map(({ source: url }) => ({ name: 'metadata.goog', source: url })),
  ]) {
    expect(checkTargetUrl(`https://${name}/`, { allowLoopback: false }), name).not.toBeNull();
    expect(checkTargetUrl(`https://a.${name.toUpperCase()}/`, { allowLoopback: false }), name).not.toBeNull();
    expect(URL.canParse(source)).toBe(true);
  }
  for (const address of ['168.63.129.15', '168.63.129.17', '8.8.8.8', '2606:4700::1111']) {
    expect(isGloballyReachable(address), address).toBe(true);
  }
  return `${forms} forms of addresses, ${REFUSED_NAMES.length} names`;
});

/** Addresses of public name servers, because documentation ranges are refused anyway. */
const OWN = ['9.9.9.9', '2620:fe::9'] as const;
const TRANSLATED = '149.112.112.112';

attack('webhooks to public addresses of this machine are refused, by address and by name', async () => {
  let forms = 0;
  const isOwn = ownAddressCheck([TRANSLATED], () => OWN);
  await using egress = openEgress({
    allowLoopback: false,
    ownAddresses: [...OWN, TRANSLATED],
    resolve: async (name) => [
      { address: name === 'six.example' ? OWN[1] : TRANSLATED, family: name === 'six.example' ? 6 : 4 },
    ],
  });
  const post = (origin: string) => egress.dispatcher.request({ origin, path: '/', method: 'POST' });
  for (const address of [...OWN, TRANSLATED]) {
    for (const form of formsOf(address).filter(isGloballyReachable)) {
      expect(isOwn(form), form).toBe(true);
      await expect(post(new URL(urlOf(form)).origin), form).rejects.toThrow('public internet');
      forms += 1;
    }
  }
  for (const name of ['six.example', 'four.example']) {
    await expect(post(`https://${name}`)).rejects.toThrow('public internet');
    forms += 1;
  }
  expect(isOwn('9.9.9.10')).toBe(false);
  return `${forms} targets, 0 connections`;
});
