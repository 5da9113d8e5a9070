/**
 * Tools of shops that the rules of the package do not have, or have no static sign of. The format is that of
 * `tool-rules.ts`. A sign is the vendor's own host in the address of a script, or the name of its extension in the address
 * that a shop system gives to scripts of apps.
 */

/** Ids of the package's categories. */
const [REVIEWS, PERSONALISATION, AB_TESTING, EMAIL, LOYALTY, SUBSCRIPTIONS] = [90, 76, 74, 75, 84, 6];
const [ANALYTICS, SHIPPING, CHAT, CONSENT, SEARCH, PAGE_BUILDER] = [10, 99, 52, 67, 29, 51];
const [ADVERTISING, RETURNS, SURVEYS, AFFILIATE, VIDEO, UPSELL] = [36, 102, 73, 71, 14, 100];

type ShopTool = { readonly cats: readonly number[]; readonly website: string; readonly scriptSrc: string[] };

/** Returns the rule of a tool by its hosts, and by the names of its extensions in a shop system. */
const tool = (
  category: number,
  website: string,
  hosts: readonly string[],
  extensions: readonly string[] = [],
): ShopTool => ({
  cats: [category],
  website,
  scriptSrc: [
    ...hosts.map((host) => `(?:^|//|\\.)${host.replaceAll('.', '\\.')}(?:[/:?]|$)`),
    ...extensions.map((name) => `/extensions/[\\w-]+/(?:[\\w.-]+/)?${name}(?:-[\\w.]+)?/assets/`),
  ],
});

export const SHOP_TOOLS: Readonly<Record<string, ShopTool>> = {
  // Split tests and personalisation.
  Intelligems: tool(AB_TESTING, 'https://www.intelligems.io', ['intelligems.io'], ['intelligems']),
  Shoplift: tool(AB_TESTING, 'https://www.shoplift.ai', ['shoplift.ai'], ['shoplift']),
  Visually: tool(AB_TESTING, 'https://visually.io', ['visually.io', 'visually-io.com'], ['visually']),
  'Elevate A/B Testing': tool(
    AB_TESTING,
    'https://elevateab.com',
    ['elevateab.com'],
    ['elevate-ab', 'elevate-ab-testing'],
  ),
  ABConvert: tool(AB_TESTING, 'https://www.abconvert.io', ['abconvert.io'], ['abconvert']),
  GrowthBook: tool(AB_TESTING, 'https://www.growthbook.io', ['cdn.growthbook.io']),
  Statsig: tool(AB_TESTING, 'https://www.statsig.com', ['statsig.com', 'statsigapi.net']),
  Mida: tool(AB_TESTING, 'https://www.mida.so', ['cdn.mida.so']),
  'Webtrends Optimize': tool(AB_TESTING, 'https://www.webtrends-optimize.com', ['webtrends-optimize.com']),
  Personizely: tool(PERSONALISATION, 'https://www.personizely.net', ['personizely.net'], ['personizely']),
  // Subscriptions.
  'Stay AI': tool(SUBSCRIPTIONS, 'https://stay.ai', ['stay.ai', 'retextion.com'], ['stay-ai', 'retextion']),
  Ordergroove: tool(SUBSCRIPTIONS, 'https://www.ordergroove.com', ['ordergroove.com'], ['ordergroove']),
  Smartrr: tool(SUBSCRIPTIONS, 'https://smartrr.com', ['smartrr.com'], ['smartrr']),
  Awtomic: tool(SUBSCRIPTIONS, 'https://www.awtomic.com', ['awtomic.com'], ['awtomic']),
  Appstle: tool(SUBSCRIPTIONS, 'https://appstle.com', ['appstle.com'], ['appstle-subscriptions', 'appstle']),
  'Loop Subscriptions': tool(
    SUBSCRIPTIONS,
    'https://www.loopwork.co',
    ['loopwork.co', 'loopsubscriptions.com'],
    ['loop-subscriptions'],
  ),
  'Recharge Bundles': tool(
    SUBSCRIPTIONS,
    'https://getrecharge.com',
    ['bundles.rechargeapps.com'],
    ['recharge-bundles'],
  ),
  // Measurement of advertising.
  'Triple Whale': tool(
    ANALYTICS,
    'https://www.triplewhale.com',
    ['triplewhale.com', 'config-security.com', 'triplewhale-pixel.web.app'],
    ['triplewhale', 'triple-pixel'],
  ),
  Northbeam: tool(ANALYTICS, 'https://www.northbeam.io', ['northbeam.io']),
  'Polar Analytics': tool(
    ANALYTICS,
    'https://www.polaranalytics.com',
    ['polaranalytics.com', 'polaranalytics.co'],
    ['polar-analytics', 'polar-pixel'],
  ),
  Elevar: tool(ANALYTICS, 'https://www.getelevar.com', ['getelevar.com'], ['elevar']),
  Littledata: tool(ANALYTICS, 'https://www.littledata.io', ['littledata.io'], ['littledata']),
  Blotout: tool(ANALYTICS, 'https://www.blotout.io', ['blotout.io', 'edgetag.io'], ['edgetag']),
  Heatmap: tool(ANALYTICS, 'https://www.heatmap.com', ['heatmap.com']),
  Stape: tool(ANALYTICS, 'https://stape.io', ['stape.io', 'stape.net'], ['stape']),
  Podscribe: tool(ANALYTICS, 'https://podscribe.com', ['podscribe.com', 'd34r8q7sht0t9k.cloudfront.net']),
  Hyros: tool(ANALYTICS, 'https://hyros.com', ['hyros.com']),
  'Wicked Reports': tool(ANALYTICS, 'https://www.wickedreports.com', ['wickedreports.com']),
  Lifesight: tool(ANALYTICS, 'https://lifesight.io', ['lifesight.io']),
  // Advertising.
  'AppLovin Axon': tool(ADVERTISING, 'https://www.applovin.com', ['applovin.com', 'axon.ai']),
  Vibe: tool(ADVERTISING, 'https://www.vibe.co', ['vibe.co']),
  MNTN: tool(ADVERTISING, 'https://mountain.com', ['dx.mountain.com']),
  Postie: tool(ADVERTISING, 'https://www.postie.com', ['postie.com']),
  PostPilot: tool(ADVERTISING, 'https://www.postpilot.com', ['postpilot.com'], ['postpilot']),
  // Surveys.
  Fairing: tool(SURVEYS, 'https://fairing.co', ['fairing.co', 'enquirelabs.com'], ['fairing']),
  KnoCommerce: tool(
    SURVEYS,
    'https://knocommerce.com',
    ['knocommerce.com'],
    ['knocommerce', 'kno-post-purchase-survey'],
  ),
  Jebbit: tool(SURVEYS, 'https://www.jebbit.com', ['jebbit.com']),
  Digioh: tool(SURVEYS, 'https://www.digioh.com', ['digioh.com', 'lightboxcdn.com']),
  // Messages and pop-ups.
  Sendlane: tool(EMAIL, 'https://www.sendlane.com', ['sendlane.com'], ['sendlane']),
  Alia: tool(EMAIL, 'https://www.alialearn.com', ['alialearn.com', 'aliapopups.com'], ['alia-popups']),
  Amped: tool(EMAIL, 'https://www.amped.io', ['amped.io', 'ampedcdn.com'], ['amped']),
  'Retention.com': tool(EMAIL, 'https://www.retention.com', ['retention.com']),
  'Black Crow AI': tool(EMAIL, 'https://www.blackcrow.ai', ['blackcrow.ai'], ['black-crow', 'blackcrow']),
  // Reviews and content of customers.
  Okendo: tool(REVIEWS, 'https://okendo.io', ['okendo.io'], ['okendo']),
  'Reviews.io': tool(REVIEWS, 'https://www.reviews.io', ['reviews.io', 'reviews.co.uk'], ['reviews-io']),
  'Judge.me Extension': tool(REVIEWS, 'https://judge.me', ['cdnwidget.judge.me'], ['judge-me-reviews']),
  Videowise: tool(VIDEO, 'https://videowise.com', ['videowise.com', 'reeview.app'], ['videowise']),
  Tolstoy: tool(
    VIDEO,
    'https://www.gotolstoy.com',
    ['gotolstoy.com'],
    ['tolstoy', 'tolstoy-shoppable-video-quiz'],
  ),
  Firework: tool(VIDEO, 'https://firework.com', ['fwcdn1.com', 'fwcdn2.com', 'fwcdn3.com', 'fireworktv.com']),
  // Offers.
  Aftersell: tool(UPSELL, 'https://www.aftersell.com', ['aftersell.com', 'aftersell.app'], ['aftersell']),
  'Kaching Bundles': tool(
    UPSELL,
    'https://kachingbundles.com',
    ['kachingappz.app', 'kaching-bundles.com'],
    ['kaching-bundles', 'kaching'],
  ),
  BOGOS: tool(UPSELL, 'https://www.bogos.io', ['bogos.io'], ['bogos']),
  Wiser: tool(UPSELL, 'https://expertvillagemedia.com', ['wiser.expertvillagemedia.com']),
  UpCart: tool(UPSELL, 'https://upcart.app', ['upcart.app', 'upcart.io'], ['upcart', 'upcart-cart-drawer']),
  Monk: tool(UPSELL, 'https://www.monkcommerce.com', ['monkcommerce.com'], ['monk-free-gift']),
  // Loyalty and partners.
  Rivo: tool(LOYALTY, 'https://www.rivo.io', ['rivo.io'], ['rivo']),
  Inveterate: tool(LOYALTY, 'https://www.inveterate.com', ['inveterate.com'], ['inveterate']),
  Superfiliate: tool(
    AFFILIATE,
    'https://www.superfiliate.com',
    ['superfiliate.com', 'superfiliate-cdn.com'],
    ['superfiliate'],
  ),
  UpPromote: tool(AFFILIATE, 'https://uppromote.com', ['uppromote.com'], ['uppromote']),
  'Social Snowball': tool(AFFILIATE, 'https://socialsnowball.io', ['socialsnowball.io'], ['social-snowball']),
  // Delivery and returns.
  AfterShip: tool(SHIPPING, 'https://www.aftership.com', ['aftership.com'], ['aftership']),
  Corso: tool(SHIPPING, 'https://corso.com', ['corso.com'], ['corso']),
  Navidium: tool(
    SHIPPING,
    'https://navidiumapp.com',
    ['navidiumapp.com', 'navidium-static-assets.s3.amazonaws.com'],
    ['navidium'],
  ),
  Redo: tool(RETURNS, 'https://www.getredo.com', ['getredo.com']),
  'Loop Returns': tool(
    RETURNS,
    'https://www.loopreturns.com',
    ['loopreturns.com'],
    ['loop-returns', 'loop-onstore'],
  ),
  // Service, consent, search and pages.
  Gorgias: tool(
    CHAT,
    'https://www.gorgias.com',
    ['gorgias.chat', 'gorgias-convert.com', 'gorgias.io'],
    ['gorgias'],
  ),
  'Rep AI': tool(CHAT, 'https://www.hellorep.ai', ['hellorep.ai'], ['rep-ai']),
  Siena: tool(CHAT, 'https://www.siena.cx', ['siena.cx']),
  Pandectes: tool(CONSENT, 'https://pandectes.io', ['pandectes.io'], ['pandectes']),
  Consentmo: tool(CONSENT, 'https://www.consentmo.com', ['consentmo.com'], ['consentmo', 'consentmo-gdpr']),
  'Boost Commerce': tool(
    SEARCH,
    'https://boostcommerce.net',
    ['bc-solutions.net', 'boostcommerce.net', 'boostcommerce.io'],
    ['boost-sd'],
  ),
  Replo: tool(PAGE_BUILDER, 'https://www.replo.app', ['replo.app'], ['replo']),
  Instant: tool(PAGE_BUILDER, 'https://instant.so', ['instant.so', 'instantcommerce.io']),
  Shogun: tool(
    PAGE_BUILDER,
    'https://getshogun.com',
    ['getshogun.com', 'shgcdn.com', 'shgcdn2.com', 'shgcdn3.com'],
    ['shogun'],
  ),
};
