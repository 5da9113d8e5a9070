import { destinationKey } from '#contracts/values/links/ad-destination.ts';
import { copyKey, isBlankText } from '#contracts/values/comparison/text-key.ts';
import type { AdCardContent } from '#contracts/events/corpus/ad-library-values.ts';

/** Cards have no ids, so title and body identify them. A blank is never a difference (rule 4). */
type Cards = readonly AdCardContent[];

const isPresent = (text: string | null): text is string => text !== null && !isBlankText(text);

const cardTexts = ({ title, body }: AdCardContent): readonly string[] =>
  [title, body].map((text) => copyKey(text ?? ''));

export const cardsKey = (cards: Cards): string =>
  cards
    .map((card) => cardTexts(card).join('|'))
    .toSorted()
    .join('\n');

/** Without spelling and order. */
export const shownKey = (cards: Cards): string =>
  cards
    .map((card) =>
      JSON.stringify([
        ...cardTexts(card),
        copyKey(card.link_description ?? ''),
        copyKey(card.cta_text ?? ''),
        linkOf(card),
      ]),
    )
    .toSorted()
    .join('\n');

/** `null` when the cards show the same as in `before`, apart from spelling. */
export const cardsToState = (before: Cards, shown: Cards): Cards | null =>
  shown.length === 0 || shownKey(before) === shownKey(shown) ? null : shown;

const areSame = (one: AdCardContent, other: AdCardContent): boolean =>
  cardTexts(one).join('|') === cardTexts(other).join('|');

const isSameOrBlank = (one: string, other: string): boolean => one === '' || other === '' || one === other;
const linkOf = ({ link_url }: AdCardContent): string => (isPresent(link_url) ? destinationKey(link_url) : '');

const areCompatible = (one: AdCardContent, other: AdCardContent): boolean => {
  const otherTexts = cardTexts(other);
  return (
    cardTexts(one).every((text, index) => isSameOrBlank(text, otherTexts[index] ?? '')) &&
    isSameOrBlank(linkOf(one), linkOf(other))
  );
};

const shareText = (one: AdCardContent, other: AdCardContent): boolean => {
  const [first, second] = [cardTexts(one), cardTexts(other)];
  return (
    first.every((text, index) => isSameOrBlank(text, second[index] ?? '')) &&
    first.some((text, index) => text !== '' && text === second[index])
  );
};

/** `undefined` for a new card. Matches by index if all are compatible there, so later scans fill the same cards. */
const matchCards = (existing: Cards, seen: Cards): readonly (AdCardContent | undefined)[] => {
  const isCompatibleAt = (card: AdCardContent, index: number): boolean => {
    const counterpart = existing[index];
    return counterpart !== undefined && areCompatible(counterpart, card);
  };
  if (existing.length === seen.length && seen.every(isCompatibleAt)) return existing;
  const unmatched = new Set(existing);
  const matched: (AdCardContent | undefined)[] = seen.map(() => undefined);
  const matchRemaining = (matches: (one: AdCardContent, other: AdCardContent) => boolean): void => {
    seen.forEach((card, index) => {
      const counterpart = matched[index] ?? [...unmatched].find((one) => matches(one, card));
      if (counterpart !== undefined) unmatched.delete(counterpart);
      matched[index] = counterpart;
    });
  };
  matchRemaining(areSame);
  matchRemaining(shareText);
  return matched;
};

/** Texts come from the matched card, else button text and link from a leftover one. */
const fillCard = (
  card: AdCardContent,
  matchedCard: AdCardContent | undefined,
  leftoverCard: AdCardContent | undefined,
) => {
  const orExisting = (text: string | null, source: AdCardContent | undefined, name: keyof AdCardContent) =>
    isPresent(text) ? text : (source?.[name] ?? text);
  return {
    body: orExisting(card.body, matchedCard, 'body'),
    title: orExisting(card.title, matchedCard, 'title'),
    link_description: orExisting(card.link_description, matchedCard, 'link_description'),
    cta_text: orExisting(card.cta_text, matchedCard ?? leftoverCard, 'cta_text'),
    link_url: orExisting(card.link_url, matchedCard ?? leftoverCard, 'link_url'),
  };
};

/** With an equal number of cards, reworded ones without a link take the links of unmatched existing cards. */
export const fillCards = (existing: Cards, seen: Cards): Cards => {
  if (existing.length === 0 || seen.length === 0) return seen;
  const matched = matchCards(existing, seen);
  const matchedCards = new Set(matched);
  const unmatched =
    existing.length === seen.length ? existing.filter((card) => !matchedCards.has(card)).values() : null;
  return seen.map((card, index) =>
    fillCard(card, matched[index], matched[index] === undefined ? unmatched?.next().value : undefined),
  );
};

const linksOf = (cards: Cards): ReadonlySet<string> =>
  new Set(cards.map(linkOf).filter((link) => link !== ''));
const areAllLinked = (cards: Cards): boolean => cards.every(({ link_url }) => isPresent(link_url));

/** `completed`: links were added where none was known. `different`: the cards lead to another place. */
export const compareCardLinks = (existing: Cards, seen: Cards): 'same' | 'completed' | 'different' => {
  const [before, now] = [linksOf(existing), linksOf(seen)];
  const added = now.difference(before).size > 0;
  const removed = before.difference(now).size > 0;
  if ((removed && (added || areAllLinked(seen))) || (added && areAllLinked(existing))) return 'different';
  return added ? 'completed' : 'same';
};
