/** A page declares its character set in these bytes (HTML, 4.2.5.5). */
const DECLARATION_BYTES = 1_024;
const META_CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w:.-]{2,40})/i;

const decoderOf = (label: string | undefined): Pick<InstanceType<typeof TextDecoder>, 'decode'> | null => {
  if (label === undefined) return null;
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
};

export const decodeHtml = (body: Buffer, contentType: string): string => {
  const header = /charset\s*=\s*["']?([\w:.-]{2,40})/i.exec(contentType)?.[1];
  const declared = META_CHARSET.exec(body.subarray(0, DECLARATION_BYTES).toString('latin1'))?.[1];
  const decoder = decoderOf(header) ?? decoderOf(declared) ?? new TextDecoder();
  return decoder.decode(body);
};

/** Without a content type, the first bytes decide. */
export const isHtml = (contentType: string, body: Buffer): boolean =>
  contentType === ''
    ? /^\s*<(!doctype html|html|head)/i.test(body.subarray(0, DECLARATION_BYTES).toString('latin1'))
    : /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType);
