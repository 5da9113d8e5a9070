import { LRUCache } from 'lru-cache';

const MINUTE_MS = 60_000;
/** Above this, the least recently seen address is dropped. */
const ADDRESSES_MAX = 50_000;

/** Each process counts alone: this limit only stops floods. */
export type AddressLimit = {
  /** Returns 0, or the seconds to wait. */
  take(address: string): number;
};

/** Creates a limit of requests per minute and address. `now`: the monotonic clock, in milliseconds. */
export const createAddressLimit = (
  perMinute: number,
  now: () => number = () => performance.now(),
): AddressLimit => {
  const windows = new LRUCache<string, { readonly endsAt: number; count: number }>({ max: ADDRESSES_MAX });
  return {
    take: (address) => {
      const at = now();
      const current = windows.get(address);
      if (!current || current.endsAt <= at) {
        windows.set(address, { endsAt: at + MINUTE_MS, count: 1 });
        return 0;
      }
      current.count += 1;
      return current.count <= perMinute ? 0 : Math.ceil((current.endsAt - at) / 1_000);
    },
  };
};
