/** Maximum decimals of a price in the observation. */
const DECIMALS_MAX = 4;

/** Returns an amount of minor units, such as `5990` of 2 decimals, as a decimal number. `null` when it is none. */
export const amountOfMinorUnits = (amount: unknown, decimals: unknown): string | null => {
  const digits = String(amount).replace(/\.0$/, '');
  if (!/^\d{1,15}$/.test(digits)) return null;
  if (typeof decimals !== 'number' || !Number.isInteger(decimals)) return null;
  if (decimals < 0 || decimals > DECIMALS_MAX) return null;
  if (decimals === 0) return String(BigInt(digits));
  const padded = digits.padStart(decimals + 1, '0');
  return `${BigInt(padded.slice(0, -decimals))}.${padded.slice(-decimals)}`;
};
