import { networkInterfaces } from 'node:os';
import { isSameAddress } from './public-address.ts';

/** Interfaces are read again after this. */
const READ_AGAIN_MS = 10_000;

export const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));

/**
 * Checks addresses of the interfaces, and `more`, which the network translates to this machine. Services here may trust
 * local callers.
 */
export const ownAddressCheck = (
  more: readonly string[] = [],
  read: () => readonly string[] = interfaceAddresses,
): ((address: string) => boolean) => {
  let known: readonly string[] = [];
  let readAtMs = -Infinity;
  return (address) => {
    if (performance.now() - readAtMs > READ_AGAIN_MS) {
      known = [...more, ...read()];
      readAtMs = performance.now();
    }
    return known.some((own) => isSameAddress(own, address));
  };
};
