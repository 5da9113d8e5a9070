/** Decimals of a price in the observation. */
const DECIMALS_MAX = 4;

/** `5990` of 2 decimals is `59.90`. `null` when invalid. */
export const amountOfMinorUnits = (amount: unknown, decimals: unknown): string | null => {
  const digits = String(amount).replace(/\.0$/, '');
  if (!/^\d{1,15}$/.test(digits)) return null;
  if (typeof decimals !== 'number' || !Number.isInteger(decimals)) return null;
  if (decimals < 0 || decimals > DECIMALS_MAX) return null;
  if (decimals === 0) return String(BigInt(digits));
  const padded = digits.padStart(decimals + 1, '0');
  return `${BigInt(padded.slice(0, -decimals))}.${padded.slice(-decimals)}`;
};
