import type { Figures, Scan, ShownAd, World, WorldObservation } from './world.ts';

export type Difference = { readonly figure: string; readonly expected: unknown; readonly actual: unknown };

const entriesOf = (figures: Figures): Map<string, unknown> => {
  const entries = new Map<string, unknown>();
  for (const [kind, group] of Object.entries({
    ad: figures.ads,
    brand: figures.brands,
    day: figures.days,
    change: figures.changes,
    freshness: figures.freshness,
    week: figures.weeks,
    profile: figures.profiles,
    radar: figures.radar,
    signal: figures.signals,
    category: figures.categories,
    advertiser: figures.newAdvertisers,
    riser: figures.risers,
  }))
    for (const [name, one] of Object.entries(group))
      for (const [field, value] of Object.entries(one)) entries.set(`${kind} ${name}: ${field}`, value);
  return entries;
};

/** A figure that only one side has is `undefined` on the other. */
export const differencesOf = (expected: Figures, actual: Figures): readonly Difference[] => {
  const wanted = entriesOf(expected);
  const found = entriesOf(actual);
  return [...new Set([...wanted.keys(), ...found.keys()])]
    .map((figure) => ({ figure, expected: wanted.get(figure), actual: found.get(figure) }))
    .filter((one) => JSON.stringify(one.expected) !== JSON.stringify(one.actual));
};

const stateOf = ({ isActive, stoppedOn }: ShownAd): string => {
  const flag = isActive === null ? 'no flag' : isActive ? 'running' : 'ended';
  return stoppedOn === null ? flag : `${flag}, stop ${stoppedOn}`;
};

const quoted = (name: string, value: string | null): string[] =>
  value === null ? [] : [`${name} ${value.trim() === '' ? `'${value}'` : value}`];

const tellAd = (shown: ShownAd): string => {
  const parts = [
    stateOf(shown),
    shown.page === null ? 'without page' : `on ${shown.page}`,
    ...quoted('started', shown.startedOn),
    ...quoted('to', shown.link),
    ...quoted('body', shown.body),
    ...quoted('title', shown.title),
    ...quoted('caption', shown.caption),
    ...(shown.countries ? [`runs in ${shown.countries.join('+') || 'no country'}`] : []),
  ];
  return `${shown.ad} (${parts.join(', ')})`;
};

const tellScan = (scan: Scan): string => {
  const coverage = scan.pages.length === 0 ? 'no page named' : `pages ${scan.pages.join(' ')}`;
  const completeness = scan.complete ? 'complete' : 'partial';
  const ads = scan.ads.length === 0 ? 'sees no ad' : `sees ${scan.ads.map(tellAd).join('; ')}`;
  return `scan ${scan.id} for ${scan.brand}, ${completeness}, ${coverage} in ${scan.countries.join('+')} by ${scan.collector}, ${ads}`;
};

const tell = (observation: WorldObservation): string => {
  switch (observation.kind) {
    case 'scan':
      return tellScan(observation);
    case 'link':
      return observation.linked
        ? `page ${observation.page} is linked to ${observation.brand} (confidence ${observation.confidence})`
        : `page ${observation.page} is no longer linked to ${observation.brand}`;
    case 'profile':
      return `brand ${observation.brand} has a profile, in ${observation.category.join(' > ')}`;
  }
};

const timeOf = (at: string, firstDay: string): string => {
  const day = Math.round((Date.parse(at.slice(0, 10)) - Date.parse(firstDay)) / 86_400_000);
  return `day ${day} (${at.slice(0, 10)}) ${at.slice(11, 16)}`;
};

/** An observation that arrives out of order states its number of arrival. */
export const tellWorld = (world: World): string => {
  const arrived = world.observations.map((observation, place) => ({ observation, place: place + 1 }));
  const firstDay = arrived.map(({ observation }) => observation.at.slice(0, 10)).toSorted()[0] ?? '';
  const keyOf = (one: WorldObservation): string => `${one.at} ${one.kind === 'scan' ? one.id : ''}`;
  return arrived
    .toSorted((a, b) => (keyOf(a.observation) < keyOf(b.observation) ? -1 : 1))
    .map(({ observation, place }, index) => {
      const arrival = place === index + 1 ? '' : ` [arrives as no. ${place}]`;
      return `${timeOf(observation.at, firstDay)}${arrival}: ${tell(observation)}`;
    })
    .join('\n');
};

export const tellFailure = (world: World, differences: readonly Difference[]): string =>
  [
    tellWorld(world),
    ...differences.map(
      ({ figure, expected, actual }) =>
        `  ${figure}: expected ${JSON.stringify(expected)}, actual ${JSON.stringify(actual)}`,
    ),
  ].join('\n');
