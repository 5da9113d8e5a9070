import { networkInterfaces } from 'node:os';
import { isSameAddress } from './public-address.ts';

/** Milliseconds until the interfaces are read again. */
const READ_AGAIN_MS = 10_000;

/** Returns the addresses of this machine's interfaces. */
export const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));

/**
 * Creates a check for addresses of this machine: those of its interfaces, and `more`, which are translated to it by the
 * network. Services on it may trust callers from the machine itself.
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
