import type { Random } from './seeded-random.ts';

/** All names are invented, and every domain is in a reserved zone. */
export const BRAND_FIRST = [
  'Lumo',
  'Veska',
  'Orrin',
  'Talva',
  'Pinely',
  'Morrow',
  'Kestra',
  'Sundry',
  'Halden',
  'Brisk',
  'Tully',
  'Ember',
  'Noven',
  'Wilder',
  'Quill',
  'Saffra',
  'Corvo',
  'Dapple',
  'Elmsy',
  'Fjarn',
  'Gable',
  'Hazel',
  'Ivara',
  'Juno',
  'Kindle',
  'Larkin',
  'Mellow',
  'Nimbla',
  'Oaken',
  'Plumb',
  'Rowan',
  'Solvi',
  'Tamsin',
  'Umbra',
  'Vanta',
  'Wren',
  'Yarrow',
  'Zephra',
  'Alder',
  'Birch',
  'Clove',
  'Drift',
  'Fennel',
] as const;

export const BRAND_SECOND = [
  'Supply',
  'Goods',
  'Labs',
  'House',
  'Studio',
  'Works',
  'Outfitters',
  'Collective',
  'Market',
  'Provisions',
  'Atelier',
  'Standard',
  'Theory',
  'Company',
  'Essentials',
  'Trading',
  'Republic',
  'Basics',
  'Foundry',
] as const;

export const CREATOR_FIRST = [
  'Maya',
  'Jordan',
  'Priya',
  'Luis',
  'Hannah',
  'Theo',
  'Amara',
  'Noah',
  'Sofia',
  'Eli',
] as const;
export const CREATOR_SECOND = [
  'Tries Things',
  'at Home',
  'Daily',
  'Unboxed',
  'Reviews',
  'on the Go',
  'Finds',
] as const;

export const CTAS = [
  { type: 'SHOP_NOW', text: 'Shop now' },
  { type: 'SHOP_NOW', text: 'Shop now' },
  { type: 'LEARN_MORE', text: 'Learn more' },
  { type: 'GET_OFFER', text: 'Get offer' },
  { type: 'SIGN_UP', text: 'Sign up' },
  { type: 'ORDER_NOW', text: 'Order now' },
] as const;
export const APP_CTA = { type: 'INSTALL_MOBILE_APP', text: 'Install now' } as const;

type Slots = Readonly<Record<'brand' | 'product' | 'percent' | 'code', string>>;
type Grammar = {
  readonly open: readonly string[];
  readonly middle: readonly string[];
  readonly close: readonly string[];
};

const ENGLISH: Grammar = {
  open: [
    'Meet the {product} everyone keeps asking about.',
    'Your {product} should work as hard as you do.',
    'We rebuilt {product} from scratch.',
    '{product} made for real life.',
    'Still settling for ordinary {product}?',
    'Small batch. Big difference.',
    'This is your sign to upgrade your {product}.',
    'Three years of testing went into our {product}.',
  ],
  middle: [
    'Thoughtful materials, honest craft, and a fit you notice on day one.',
    'Over 20,000 five-star reviews and counting.',
    'Designed in the US, tested by people who use it daily.',
    'No shortcuts, no fillers, nothing you do not need.',
    'Loved by first-timers and lifelong fans alike.',
    'Made to last, easy to care for, simple to return.',
    'The details are small. You will feel every one of them.',
  ],
  close: [
    'Try it for 30 days, risk free.',
    'Free shipping on every order.',
    'Find yours at {brand}.',
    'Back in stock, for now.',
    'Take the two-minute quiz to find your match.',
    'New colors just landed.',
  ],
};
const CREATOR: Grammar = {
  open: [
    'I have used {brand} {product} for three weeks, and here is what happened.',
    'POV: you finally found {product} that work.',
    'Things I wish I had bought sooner: {product} from {brand}.',
  ],
  middle: ['I was skeptical too.', 'My sister stole mine within a day.', 'Not gifted, just obsessed.'],
  close: ['Link below if you want to try it.', 'Tell me what you think.', 'You are welcome.'],
};
const SPANISH: Grammar = {
  open: ['Conoce {product} de {brand}.', 'Todo lo que buscas en {product}.'],
  middle: ['Hecho para durar.', 'Más de 20.000 opiniones de cinco estrellas.'],
  close: ['Envío gratis en todos los pedidos.', 'Pruébalo 30 días sin riesgo.'],
};
const FRENCH: Grammar = {
  open: ['Découvrez {product} par {brand}.', 'Le meilleur de {product}, enfin.'],
  middle: ['Conçu pour durer.', 'Plus de 20 000 avis cinq étoiles.'],
  close: ['Livraison offerte.', 'Essayez pendant 30 jours.'],
};
const SALE: Grammar = {
  open: [
    'SALE: {percent}% off all {product}.',
    'The {brand} sale is on.',
    'Up to {percent}% off, this week only.',
  ],
  middle: [
    'Once they are gone, they are gone.',
    'Our lowest prices of the season.',
    'Use code {code} at checkout.',
  ],
  close: ['Ends Sunday at midnight.', 'Save {percent}% today.', 'Shop the sale before it sells out.'],
};
const TITLES = [
  '{product} by {brand}',
  'The new {product}',
  'Free shipping over $50',
  'Rated 4.8 out of 5',
] as const;
const SALE_TITLES = [
  '{percent}% off sitewide',
  'Sale: up to {percent}% off {product}',
  'Last chance to save',
] as const;
const REVISED_OPENINGS = [
  'Now in new colors.',
  'Updated for the season.',
  'By popular demand:',
  'Just restocked.',
] as const;
export const DESCRIPTIONS = ['Free returns.', 'Ships in two days.', 'Tested by thousands.', null] as const;

export type Voice = 'brand' | 'creator' | 'sale';
export type Language = 'en' | 'es' | 'fr';

const grammarOf = (voice: Voice, language: Language): Grammar => {
  if (voice === 'sale') return SALE;
  if (language === 'es') return SPANISH;
  if (language === 'fr') return FRENCH;
  return voice === 'creator' ? CREATOR : ENGLISH;
};

const fill = (text: string, slots: Slots): string =>
  text
    .replace(/\{(\w+)\}/g, (_, name: keyof Slots) => slots[name])
    .replace(/^./, (first) => first.toUpperCase());

export const composeCopy = (
  random: Random,
  voice: Voice,
  language: Language,
  slots: Slots,
): { body: string; title: string } => {
  const { open, middle, close } = grammarOf(voice, language);
  const sentences = [random.pick(open), random.pick(middle), random.pick(close)];
  const title = random.pick(voice === 'sale' ? SALE_TITLES : TITLES);
  return { body: sentences.map((sentence) => fill(sentence, slots)).join(' '), title: fill(title, slots) };
};

export const reviseCopy = (random: Random, body: string): string =>
  `${random.pick(REVISED_OPENINGS)} ${body}`;
