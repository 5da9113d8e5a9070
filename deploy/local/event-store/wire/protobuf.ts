/**
 * The caller gets INVALID_ARGUMENT. Frequent messages are read here, because generated classes copy every payload
 * several times.
 */

export class MalformedMessage extends Error {}

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

/** Byte fields are views of the message, not copies. */
export class WireReader {
  field = 0;
  #wireType = 0;
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Moves to the next field; false at the end of the message. */
  next(): boolean {
    if (this.#offset >= this.#bytes.length) return false;
    const tag = this.varint();
    this.field = Math.floor(tag / 8);
    this.#wireType = tag % 8;
    return true;
  }

  /** Exact up to 2^53; a larger number becomes one at least that large, which every limit refuses. */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#bytes[this.#offset];
      if (byte === undefined) throw new MalformedMessage('A number is cut off.');
      this.#offset += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
      if (scale > 2 ** 63) throw new MalformedMessage('A number is longer than ten bytes.');
    }
  }

  bigVarint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#offset];
      if (byte === undefined || shift > 63n) throw new MalformedMessage('A number is cut off or too long.');
      this.#offset += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
  }

  bytes(): Buffer {
    if (this.#wireType !== WIRE_BYTES) throw new MalformedMessage(`Field ${this.field} is not of bytes.`);
    const length = this.varint();
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new MalformedMessage(`Field ${this.field} is cut off.`);
    const view = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return view;
  }

  text(): string {
    const bytes = this.bytes();
    return bytes.toString('utf8');
  }

  message(): WireReader {
    return new WireReader(this.bytes());
  }

  skip(): void {
    if (this.#wireType === WIRE_VARINT) this.varint();
    else if (this.#wireType === WIRE_BYTES) this.bytes();
    else if (this.#wireType === WIRE_FIXED64) this.#offset += 8;
    else if (this.#wireType === WIRE_FIXED32) this.#offset += 4;
    else throw new MalformedMessage(`Field ${this.field} has an unknown wire type.`);
  }
}

/** Stands for 2^63 - 1, the only revision beyond 2^53 in the protocol. */
export const TOMBSTONE_REVISION = Number.MAX_SAFE_INTEGER;
const TOMBSTONE_VARINT = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);

export function varintLength(value: number): number {
  if (value === TOMBSTONE_REVISION) return TOMBSTONE_VARINT.length;
  let length = 1;
  for (let rest = value; rest >= 128; rest /= 128) length += 1;
  return length;
}

export function writeVarint(target: Buffer, offset: number, value: number): number {
  if (value === TOMBSTONE_REVISION) return offset + TOMBSTONE_VARINT.copy(target, offset);
  let at = offset;
  let rest = value;
  while (rest > 0x7fffffff) {
    target[at] = (rest % 128) | 0x80;
    at += 1;
    rest = Math.floor(rest / 128);
  }
  while (rest > 0x7f) {
    target[at] = (rest & 0x7f) | 0x80;
    at += 1;
    rest >>>= 7;
  }
  target[at] = rest;
  return at + 1;
}

export function bytesFieldLength(length: number): number {
  return 1 + varintLength(length) + length;
}

export function writeBytesHeader(target: Buffer, offset: number, field: number, length: number): number {
  target[offset] = (field << 3) | WIRE_BYTES;
  return writeVarint(target, offset + 1, length);
}

export function bytesField(field: number, content: Buffer | string): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const header = Buffer.alloc(10);
  return Buffer.concat([header.subarray(0, writeBytesHeader(header, 0, field, bytes.length)), bytes]);
}

export function numberField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(11);
  bytes[0] = (field << 3) | WIRE_VARINT;
  return bytes.subarray(0, writeVarint(bytes, 1, value));
}
