import type { ArchiveWorld, WorldAnswer, WorldRequest } from './archive-world.ts';

/** Ads that a search answers at most. */
const ADS_MAX = 500;

/**
 * Answers a search of the played library for a phrase: the ads that contain it, newest first, in one answer. `null` when
 * nothing is searched. Usage and faults are not played.
 */
export const answerArchiveSearch = (
  world: ArchiveWorld,
  { path, authorization }: WorldRequest,
): WorldAnswer | null => {
  const { searchParams } = new URL(path, 'https://graph.facebook.com');
  const phrase = searchParams.get('search_terms')?.toLowerCase();
  if (phrase === undefined) return null;
  if (!world.tokens.has(authorization?.replace(/^Bearer /, '') ?? '')) {
    return {
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ error: { code: 190, message: 'Invalid OAuth access token.' } }),
    };
  }
  const countries = searchParams.get('ad_reached_countries') ?? '';
  const data = world.ads
    .filter(({ countries: delivered }) => delivered.some((country) => countries.includes(`'${country}'`)))
    .filter(({ bodies, titles, caption, pageName }) =>
      [...bodies, ...titles, caption, pageName].some((text) => text.toLowerCase().includes(phrase)),
    )
    .toSorted((a, b) => b.createdSeconds - a.createdSeconds)
    .slice(0, ADS_MAX)
    .map(({ id, pageId, pageName, caption }) => ({
      id,
      page_id: pageId,
      page_name: pageName,
      ad_creative_link_captions: [caption],
    }));
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify({ data }),
  };
};
