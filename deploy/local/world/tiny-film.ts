/**
 * A film of our own: an MP4 with one grey picture of 16 by 16 pixels, coded without compression (H.264, I_PCM). A box
 * of the type `free`, which players skip, names the creative, so that each film has other bytes.
 */

const SIDE_PIXELS = 16;
const GREY = 128;
/** Duration in seconds; the time scale is one unit a second. */
const SECONDS = 6;

/** Writes bits, and Exp-Golomb codes of H.264 (clause 9.1). */
const bitWriter = () => {
  const bits: number[] = [];
  const u = (value: number, count: number): void => {
    for (let n = count - 1; n >= 0; n -= 1) bits.push((value >> n) & 1);
  };
  const ue = (value: number): void => {
    const length = Math.floor(Math.log2(value + 1));
    u(0, length);
    u(value + 1, length + 1);
  };
  const align = (): void => {
    while (bits.length % 8 !== 0) bits.push(0);
  };
  const end = (): Buffer => {
    u(1, 1);
    align();
    const bytes = Array.from({ length: bits.length / 8 }, (_, n) =>
      Number.parseInt(bits.slice(8 * n, 8 * n + 8).join(''), 2),
    );
    return Buffer.from(bytes);
  };
  return { u, ue, align, end };
};

/** Sequence parameters: constrained baseline, level 1, one macroblock, no reordering. */
const sequenceParameters = (): Buffer => {
  const { u, ue, end } = bitWriter();
  // Id, frame number of 4 bits, order of pictures as coded, one reference frame, no gaps, size in macroblocks.
  for (const value of [0, 0, 2, 1]) ue(value);
  u(0, 1);
  for (const value of [SIDE_PIXELS / 16 - 1, SIDE_PIXELS / 16 - 1]) ue(value);
  // Whole frames, direct inference, neither cropping nor usability information.
  u(0b1100, 4);
  return Buffer.concat([Buffer.from([0x67, 66, 0xc0, 10]), end()]);
};

/** Picture parameters: no entropy coding by arithmetic, one slice group, deblocking by default. */
const pictureParameters = (): Buffer => {
  const { u, ue, end } = bitWriter();
  for (const value of [0, 0]) ue(value);
  u(0, 2);
  for (const value of [0, 0, 0]) ue(value);
  u(0, 3);
  for (const value of [0, 0, 0]) ue(value);
  u(0, 3);
  return Buffer.concat([Buffer.from([0x68]), end()]);
};

/** The picture: a slice with one macroblock of plain samples. */
const picture = (): Buffer => {
  const { u, ue, align, end } = bitWriter();
  // First macroblock, slice of type I, parameters, frame number, id of the picture, markings, quantiser.
  for (const value of [0, 7, 0]) ue(value);
  u(0, 4);
  ue(0);
  u(0, 2);
  ue(0);
  const I_PCM = 25;
  ue(I_PCM);
  align();
  for (let sample = 0; sample < SIDE_PIXELS ** 2 * 1.5; sample += 1) u(GREY, 8);
  return Buffer.concat([Buffer.from([0x65]), end()]);
};

const u32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [n, value] of values.entries()) bytes.writeUInt32BE(value, 4 * n);
  return bytes;
};
const u16 = (...values: readonly number[]): Buffer =>
  Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
const box = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(content.length + 8), Buffer.from(type, 'latin1'), content]);
};
const UNIT_MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

const sampleEntry = (): Buffer => {
  const [sps, pps] = [sequenceParameters(), pictureParameters()];
  const configuration = box(
    'avcC',
    Buffer.from([1, 66, 0xc0, 10, 0xff, 0xe1]),
    u16(sps.length),
    sps,
    Buffer.from([1]),
    u16(pps.length),
    pps,
  );
  const head = [Buffer.alloc(6), u16(1), Buffer.alloc(16), u16(SIDE_PIXELS, SIDE_PIXELS)];
  const resolution = u32(0x480000, 0x480000, 0);
  return box('avc1', ...head, resolution, u16(1), Buffer.alloc(32), u16(24, 0xffff), configuration);
};

const movie = (sampleBytes: number, sampleOffset: number): Buffer => {
  const tables = box(
    'stbl',
    box('stsd', u32(0, 1), sampleEntry()),
    box('stts', u32(0, 1, 1, SECONDS)),
    box('stsc', u32(0, 1, 1, 1, 1)),
    box('stsz', u32(0, 0, 1, sampleBytes)),
    box('stco', u32(0, 1, sampleOffset)),
  );
  const source = box('dinf', box('dref', u32(0, 1), box('url ', u32(1))));
  const media = box(
    'mdia',
    box('mdhd', u32(0, 0, 0, 1, SECONDS), u16(0x55c4, 0)),
    box('hdlr', u32(0, 0), Buffer.from('vide'), Buffer.alloc(12), Buffer.from('film\0')),
    box('minf', box('vmhd', u32(1), Buffer.alloc(8)), source, tables),
  );
  const track = box(
    'trak',
    box(
      'tkhd',
      u32(3, 0, 0, 1, 0, SECONDS),
      Buffer.alloc(16),
      UNIT_MATRIX,
      u32(SIDE_PIXELS << 16, SIDE_PIXELS << 16),
    ),
    media,
  );
  const header = box(
    'mvhd',
    u32(0, 0, 0, 1, SECONDS, 0x10000),
    u16(0x100),
    Buffer.alloc(10),
    UNIT_MATRIX,
    Buffer.alloc(24),
    u32(2),
  );
  return box('moov', header, track);
};

/** Returns the film of a creative. The same name gives the same bytes. */
export const tinyFilm = (name: string): Buffer => {
  const unit = picture();
  const sample = Buffer.concat([u32(unit.length), unit]);
  const type = box('ftyp', Buffer.from('isom'), u32(0x200), Buffer.from('isomiso2avc1mp41'));
  const label = box('free', Buffer.from(name, 'utf8'));
  // The size of the movie box does not depend on the offset that it states.
  const before = type.length + movie(sample.length, 0).length + label.length + 8;
  return Buffer.concat([type, movie(sample.length, before), label, box('mdat', sample)]);
};
