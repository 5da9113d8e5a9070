import type { PageLink, Scan, World } from '../world.ts';
import { latest, shows } from './observations.ts';

export const linksOf = ({ observations }: World): PageLink[] =>
  observations
    .filter((observation): observation is PageLink => observation.kind === 'link')
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));

export const linksAt = (world: World, time: string): PageLink[] => {
  const links = linksOf(world).filter(({ at }) => at <= time);
  const last = new Map(links.map((link) => [`${link.page} ${link.brand}`, link]));
  return [...last.values()].filter(({ linked }) => linked);
};

export type Moment = { readonly at: string; readonly id: string };

/** Decision: of scans of the same time, only those with a smaller id precede (rule 11). */
const registeredAt = ({ observations }: World, { at, id }: Moment): string[] =>
  observations
    .filter((one) => one.at <= at && (one.kind !== 'link' || one.linked))
    .filter((one) => one.kind !== 'scan' || one.at < at || one.id <= id)
    .map(({ brand }) => brand);

/** Rule 10. Decision: figures of a day hold the brand as known at its scans; ads and totals, as known at the end. */
export const brandOf = (ad: string, scans: readonly Scan[], moment: Moment, world: World): string => {
  const host = (latest(ad, scans, 'link') ?? '').split('/')[0] ?? '';
  const ofDestination = registeredAt(world, moment)
    .filter((domain) => host === domain || host.endsWith(`.${domain}`))
    .toSorted((a, b) => b.length - a.length)[0];
  const page = latest(ad, scans, 'page');
  const rank = (link: PageLink): number => world.brands.indexOf(link.brand);
  const ofPage = linksAt(world, moment.at)
    .filter((link) => link.page === page)
    .toSorted((a, b) => b.confidence - a.confidence || rank(a) - rank(b))[0]?.brand;
  const ofFirstScan = scans.find((scan) => shows(scan, ad))?.brand;
  return ofDestination ?? ofPage ?? ofFirstScan ?? '';
};

export const END_OF_TIME: Moment = { at: '9999', id: '' };
