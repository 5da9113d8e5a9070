/** Sent as text and stored as 16 bytes; both conversions are on the hot path. */

const HEX = Buffer.from('0123456789abcdef', 'latin1');
const TEXT_LENGTH = 36;
const DASH = 0x2d;
const TEXT_OFFSETS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const NIBBLES = new Int8Array(256).fill(-1);
for (const [value, digit] of Array.from('0123456789abcdef').entries()) {
  NIBBLES[digit.charCodeAt(0)] = value;
  NIBBLES[digit.toUpperCase().charCodeAt(0)] = value;
}

/** `null` when the text is not a UUID. */
export function parseUuid(text: Buffer): Buffer | null {
  if (text.length !== TEXT_LENGTH) return null;
  if (text[8] !== DASH || text[13] !== DASH || text[18] !== DASH || text[23] !== DASH) return null;
  const id = Buffer.allocUnsafe(16);
  let invalid = 0;
  for (let index = 0; index < 16; index += 1) {
    const at = TEXT_OFFSETS[index] as number;
    const high = NIBBLES[text[at] as number] as number;
    const low = NIBBLES[text[at + 1] as number] as number;
    invalid |= high | low;
    id[index] = (high << 4) | low;
  }
  return invalid < 0 ? null : id;
}

export function writeUuidText(target: Buffer, offset: number, id: Buffer): number {
  target[offset + 8] = DASH;
  target[offset + 13] = DASH;
  target[offset + 18] = DASH;
  target[offset + 23] = DASH;
  for (let index = 0; index < 16; index += 1) {
    const at = offset + (TEXT_OFFSETS[index] as number);
    const byte = id[index] as number;
    target[at] = HEX[byte >> 4] as number;
    target[at + 1] = HEX[byte & 15] as number;
  }
  return offset + TEXT_LENGTH;
}

/** Two 64-bit numbers, the form that clients other than Node's may send. */
export function uuidFromHalves(mostSignificant: bigint, leastSignificant: bigint): Buffer {
  const id = Buffer.alloc(16);
  id.writeBigUInt64BE(BigInt.asUintN(64, mostSignificant), 0);
  id.writeBigUInt64BE(BigInt.asUintN(64, leastSignificant), 8);
  return id;
}
