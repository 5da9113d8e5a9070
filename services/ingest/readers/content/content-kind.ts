export type ContentKind =
  | { readonly kind: 'zip archive' }
  | { readonly kind: 'text' | 'html page' }
  /** `is` completes "is …". */
  | { readonly kind: 'other'; readonly is: string; readonly advice: string };

export type SourceContent = Exclude<ContentKind, { kind: 'zip archive' }> | { readonly kind: 'spreadsheet' };

export const HEAD_BYTES = 1_024;

const EXPORT_AS_TEXT = 'export the ads as JSON, CSV or XLSX';
const UNPACK = 'unpack it and import the files that it contains';
const SAVE_WORKBOOK = 'open it and save it as XLSX or CSV';

/** Bytes in Latin-1 at an offset, and what they are. A text that begins alike is text, except for a PDF file. */
const SIGNATURES: readonly (readonly [at: number, bytes: string, is: string, advice: string])[] = [
  [0, '%PDF-', 'is a PDF file, not an export', EXPORT_AS_TEXT],
  [0, '\u0089PNG\r\n\u001a\n', 'is a PNG image, not an export', EXPORT_AS_TEXT],
  [0, '\u00ff\u00d8\u00ff', 'is a JPEG image, not an export', EXPORT_AS_TEXT],
  [0, 'GIF8', 'is a GIF image, not an export', EXPORT_AS_TEXT],
  [8, 'WEBP', 'is a WebP image, not an export', EXPORT_AS_TEXT],
  [4, 'ftyp', 'is a video or an image, not an export', EXPORT_AS_TEXT],
  [0, '\u001a\u0045\u00df\u00a3', 'is a video, not an export', EXPORT_AS_TEXT],
  [0, '\u001f\u008b', 'is gzip data inside gzip data', 'unpack it once'],
  [0, 'BZh', 'is a bzip2 file, not an export', UNPACK],
  [0, '\u00fd7zXZ\u0000', 'is an XZ file, not an export', UNPACK],
  [0, '\u0028\u00b5\u002f\u00fd', 'is a Zstandard file, not an export', UNPACK],
  [0, '7z\u00bc\u00af\u0027\u001c', 'is a 7z archive, not an export', UNPACK],
  [0, 'Rar!', 'is a RAR archive, not an export', UNPACK],
  [257, 'ustar', 'is a tar archive, not an export', UNPACK],
  [0, '\u00d0\u00cf\u0011\u00e0', 'is an old Office file (XLS or DOC), not an export', SAVE_WORKBOOK],
  [0, 'PAR1', 'is a Parquet file, not an export', EXPORT_AS_TEXT],
  [0, 'SQLite format 3\u0000', 'is an SQLite database, not an export', EXPORT_AS_TEXT],
];

export const encodingOf = (head: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' => {
  const mark = head.toString('latin1', 0, 2);
  return mark === '\u00ff\u00fe' ? 'utf-16le' : mark === '\u00fe\u00ff' ? 'utf-16be' : 'utf-8';
};

export const contentKindOf = (head: Buffer): ContentKind => {
  const encoding = encodingOf(head);
  const text = new TextDecoder(encoding).decode(head);
  if (encoding !== 'utf-8') return textKindOf(text);
  const bytes = head.toString('latin1');
  if (['PK\u0003\u0004', 'PK\u0005\u0006'].includes(bytes.slice(0, 4))) return { kind: 'zip archive' };
  const known = SIGNATURES.find(([at, signature]) => bytes.startsWith(signature, at));
  if (known !== undefined && (known === SIGNATURES[0] || !isUtf8Text(text))) return other(known[2], known[3]);
  return bytes.includes('\u0000') && !isMostlyText(head)
    ? other('is a binary file, not an export', EXPORT_AS_TEXT)
    : textKindOf(text);
};

const other = (is: string, advice: string): ContentKind => ({ kind: 'other', is, advice });

/** The last UTF-8 character of the head may be cut off. */
const CHARACTER_BYTES_MAX = 4;
const isUtf8Text = (text: string): boolean =>
  !text.slice(0, -CHARACTER_BYTES_MAX).includes('\uFFFD') && !text.includes('\u0000');

/** A text with a single NUL is refused by its record. */
const CONTROL_SHARE_MAX = 1 / 32;
const isMostlyText = (head: Buffer): boolean =>
  head.filter((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0d].includes(byte)).length <
  head.length * CONTROL_SHARE_MAX;

const HTML_START =
  /^<(?:!doctype\s+html|html|head|title|meta|style|body|script|div|main|center|h[1-6]|p|!--)[\s>-]/i;
const textKindOf = (text: string): ContentKind => {
  const start = text.trimStart();
  if (HTML_START.test(start)) return { kind: 'html page' };
  if (/^<\?xml|^<[a-z][\w:.-]*[\s>/]/i.test(start))
    return other('is an XML file, not an export', EXPORT_AS_TEXT);
  return /^(?:From: <Saved by|MIME-Version:)/i.test(start)
    ? other('is a web archive (MHTML), not an HTML page', 'save the page again as HTML')
    : { kind: 'text' };
};
