/** The guide costs no request. */
export const costOfResource = (uri: unknown): number => {
  if (typeof uri !== 'string') return 0;
  if (uri.startsWith('adintel://ads/')) return 2;
  return uri.startsWith('adintel://brands/') || uri.startsWith('adintel://briefs/') ? 1 : 0;
};
