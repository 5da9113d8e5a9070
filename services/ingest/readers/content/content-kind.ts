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

/** First bytes in Latin-1. `isText`: any bytes may follow; for other formats, a text that begins alike is text. */
const SIGNATURES: readonly {
  readonly bytes: string;
  readonly at?: number;
  readonly isText?: boolean;
  readonly is: string;
  readonly advice: string;
}[] = [
  { bytes: '%PDF-', isText: true, is: 'is a PDF file, not an export', advice: EXPORT_AS_TEXT },
  { bytes: '\u0089PNG\r\n\u001a\n', is: 'is a PNG image, not an export', advice: EXPORT_AS_TEXT },
  { bytes: '\u00ff\u00d8\u00ff', is: 'is a JPEG image, not an export', advice: EXPORT_AS_TEXT },
  { bytes: 'GIF8', is: 'is a GIF image, not an export', advice: EXPORT_AS_TEXT },
  { bytes: 'WEBP', at: 8, is: 'is a WebP image, not an export', advice: EXPORT_AS_TEXT },
  { bytes: 'ftyp', at: 4, is: 'is a video or an image, not an export', advice: EXPORT_AS_TEXT },
  { bytes: '\u001a\u0045\u00df\u00a3', is: 'is a video, not an export', advice: EXPORT_AS_TEXT },
  { bytes: '\u001f\u008b', is: 'is gzip data inside gzip data', advice: 'unpack it once' },
  { bytes: 'BZh', is: 'is a bzip2 file, not an export', advice: UNPACK },
  { bytes: '\u00fd7zXZ\u0000', is: 'is an XZ file, not an export', advice: UNPACK },
  { bytes: '\u0028\u00b5\u002f\u00fd', is: 'is a Zstandard file, not an export', advice: UNPACK },
  { bytes: '7z\u00bc\u00af\u0027\u001c', is: 'is a 7z archive, not an export', advice: UNPACK },
  { bytes: 'Rar!', is: 'is a RAR archive, not an export', advice: UNPACK },
  { bytes: 'ustar', at: 257, is: 'is a tar archive, not an export', advice: UNPACK },
  {
    bytes: '\u00d0\u00cf\u0011\u00e0',
    is: 'is an old Office file (XLS or DOC), not an export',
    advice: SAVE_WORKBOOK,
  },
  { bytes: 'PAR1', is: 'is a Parquet file, not an export', advice: EXPORT_AS_TEXT },
  { bytes: 'SQLite format 3\u0000', is: 'is an SQLite database, not an export', advice: EXPORT_AS_TEXT },
];

const ZIP_SIGNATURES = ['PK\u0003\u0004', 'PK\u0005\u0006'];

export const encodingOf = (head: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' => {
  const mark = head.toString('latin1', 0, 2);
  return mark === '\u00ff\u00fe' ? 'utf-16le' : mark === '\u00fe\u00ff' ? 'utf-16be' : 'utf-8';
};

export const contentKindOf = (head: Buffer): ContentKind => {
  const encoding = encodingOf(head);
  const text = new TextDecoder(encoding).decode(head);
  if (encoding !== 'utf-8') return textKindOf(text);
  const bytes = head.toString('latin1');
  if (ZIP_SIGNATURES.some((signature) => bytes.startsWith(signature))) return { kind: 'zip archive' };
  const known = SIGNATURES.find((signature) => bytes.startsWith(signature.bytes, signature.at ?? 0));
  if (known !== undefined && (known.isText === true || !isUtf8Text(text)))
    return { kind: 'other', is: known.is, advice: known.advice };
  if (bytes.includes('\u0000') && !isMostlyText(head))
    return { kind: 'other', is: 'is a binary file, not an export', advice: EXPORT_AS_TEXT };
  return textKindOf(text);
};

/** The last UTF-8 character of the head may be cut off. */
const CHARACTER_BYTES_MAX = 4;
const isUtf8Text = (text: string): boolean =>
  !text.slice(0, -CHARACTER_BYTES_MAX).includes('\uFFFD') && !text.includes('\u0000');

/** A text with a single NUL is refused by its record. */
const CONTROL_SHARE_MAX = 1 / 32;
const isMostlyText = (head: Buffer): boolean =>
  head.filter((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0d].includes(byte)).length <
  head.length * CONTROL_SHARE_MAX;

const textKindOf = (text: string): ContentKind => {
  const start = text.trimStart();
  if (
    /^<(?:!doctype\s+html|html|head|title|meta|style|body|script|div|main|center|h[1-6]|p|!--)[\s>-]/i.test(
      start,
    )
  )
    return { kind: 'html page' };
  if (/^<\?xml|^<[a-z][\w:.-]*[\s>/]/i.test(start))
    return { kind: 'other', is: 'is an XML file, not an export', advice: EXPORT_AS_TEXT };
  if (/^(?:From: <Saved by|MIME-Version:)/i.test(start))
    return {
      kind: 'other',
      is: 'is a web archive (MHTML), not an HTML page',
      advice: 'save the page again as HTML',
    };
  return { kind: 'text' };
};
