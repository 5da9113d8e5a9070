import { destinationKey } from '#contracts/values/ad-destination.ts';
import type { AdCardContent } from '#contracts/events/corpus/ad-library.ts';

/** Cards of a carousel, which have no ids: they are told apart by their words. A blank in one says nothing (rule 4). */
type Cards = readonly AdCardContent[];

const isSaid = (text: string | null): text is string => text !== null && text.trim() !== '';
export const textKey = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim();
const wordsOf = ({ title, body }: AdCardContent): readonly string[] =>
  [title, body].map((text) => textKey(text ?? ''));

/** The cards' words in any order. */
export const cardsKey = (cards: Cards): string =>
  cards
    .map((card) => wordsOf(card).join('|'))
    .toSorted()
    .join('\n');

const areSame = (one: AdCardContent, other: AdCardContent): boolean =>
  wordsOf(one).join('|') === wordsOf(other).join('|');

const isSameOrBlank = (one: string, other: string): boolean => one === '' || other === '' || one === other;
const linkOf = ({ link_url }: AdCardContent): string => (isSaid(link_url) ? destinationKey(link_url) : '');

/** Nothing that both say differs. */
const areCompatible = (one: AdCardContent, other: AdCardContent): boolean => {
  const words = wordsOf(other);
  return (
    wordsOf(one).every((text, at) => isSameOrBlank(text, words[at] ?? '')) &&
    isSameOrBlank(linkOf(one), linkOf(other))
  );
};

/** No words that both say differ, and they say some in common. */
const agree = (one: AdCardContent, other: AdCardContent): boolean => {
  const [first, second] = [wordsOf(one), wordsOf(other)];
  return (
    first.every((text, at) => isSameOrBlank(text, second[at] ?? '')) &&
    first.some((text, at) => text !== '' && text === second[at])
  );
};

/**
 * The known card that each seen one is; `undefined` where it is another. Cards that may all be those in their places
 * are: filled once, they are filled the same when they are seen again.
 */
const counterparts = (known: Cards, seen: Cards): readonly (AdCardContent | undefined)[] => {
  const inPlace = (card: AdCardContent, at: number): boolean => {
    const place = known[at];
    return place !== undefined && areCompatible(place, card);
  };
  if (known.length === seen.length && seen.every(inPlace)) return known;
  const left = new Set(known);
  const found: (AdCardContent | undefined)[] = seen.map(() => undefined);
  const take = (isIt: (one: AdCardContent, other: AdCardContent) => boolean): void => {
    seen.forEach((card, at) => {
      const counterpart = found[at] ?? [...left].find((one) => isIt(one, card));
      if (counterpart !== undefined) left.delete(counterpart);
      found[at] = counterpart;
    });
  };
  take(areSame);
  take(agree);
  return found;
};

const filled = (card: AdCardContent, words: AdCardContent | undefined, rest: AdCardContent | undefined) => {
  const said = (text: string | null, of: AdCardContent | undefined, name: keyof AdCardContent) =>
    isSaid(text) ? text : (of?.[name] ?? text);
  return {
    body: said(card.body, words, 'body'),
    title: said(card.title, words, 'title'),
    link_description: said(card.link_description, words, 'link_description'),
    cta_text: said(card.cta_text, words ?? rest, 'cta_text'),
    link_url: said(card.link_url, words ?? rest, 'link_url'),
  };
};

/**
 * The cards as seen, with what is known where they say nothing. Where there are as many as before, those worded anew
 * lead where those lead that are left over, unless they say where.
 */
export const filledCards = (known: Cards, seen: Cards): Cards => {
  if (known.length === 0 || seen.length === 0) return seen;
  const found = counterparts(known, seen);
  const taken = new Set(found);
  const left = known.length === seen.length ? known.filter((card) => !taken.has(card)).values() : null;
  return seen.map((card, at) =>
    filled(card, found[at], found[at] === undefined ? left?.next().value : undefined),
  );
};

const linksOf = (cards: Cards): ReadonlySet<string> =>
  new Set(cards.map(linkOf).filter((link) => link !== ''));
const areAllLinked = (cards: Cards): boolean => cards.every(({ link_url }) => isSaid(link_url));

/** Whether cards, filled with what was known, lead elsewhere than before; or were found to lead anywhere at all. */
export const compareCardLinks = (known: Cards, seen: Cards): 'same' | 'completed' | 'different' => {
  const [before, now] = [linksOf(known), linksOf(seen)];
  const added = now.difference(before).size > 0;
  const removed = before.difference(now).size > 0;
  if ((removed && (added || areAllLinked(seen))) || (added && areAllLinked(known))) return 'different';
  return added ? 'completed' : 'same';
};
