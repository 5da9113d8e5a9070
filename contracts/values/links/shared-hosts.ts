import { hash } from 'node:crypto';

/**
 * A link to a host that advertisers share identifies no brand (rule 10 of services/domain/README.md). A new row needs a
 * source, and changes brands of recorded ads when ingest starts. `name.*`: the host under any country. Hosts below are
 * shared too; a row with a path covers only pages below it.
 */

type Group = { readonly of: string; readonly source: string; readonly hosts: string };

const SHARED: readonly Group[] = [
  {
    of: 'app stores',
    source: 'https://en.wikipedia.org/wiki/List_of_mobile_app_distribution_platforms',
    hosts: `
      play.google.com apps.apple.com itunes.apple.com testflight.apple.com appgallery.huawei.com
      galaxystore.samsung.com apps.microsoft.com microsoft.com/store store.steampowered.com
      chromewebstore.google.com apps.shopify.com`,
  },
  {
    of: 'links that open apps',
    source: 'https://www.appsflyer.com/glossary/deep-linking/',
    hosts: `
      app.appsflyer.com onelink.me app.link adj.st go.link page.link branch.link smart.link sng.link`,
  },
  {
    of: 'social networks',
    source: 'https://en.wikipedia.org/wiki/List_of_social_platforms_with_at_least_100_million_active_users',
    hosts: `
      facebook.com fb.com fb.me fb.gg fb.watch instagram.com instagr.am threads.net threads.com
      tiktok.com twitter.com x.com t.co linkedin.com lnkd.in pinterest.* pin.it snapchat.com reddit.com
      redd.it tumblr.com vk.com vk.ru ok.ru weibo.com xiaohongshu.com quora.com bsky.app mastodon.social
      nextdoor.com discord.com discord.gg clubhouse.com xing.com`,
  },
  {
    of: 'messengers',
    source: 'https://en.wikipedia.org/wiki/Comparison_of_cross-platform_instant_messaging_clients',
    hosts: `
      m.me messenger.com whatsapp.com wa.me wa.link t.me telegram.me telegram.org line.me lin.ee
      viber.com zalo.me wechat.com weixin.qq.com kakao.com signal.me skype.com msng.link`,
  },
  {
    of: 'video and audio hosts',
    source: 'https://en.wikipedia.org/wiki/List_of_online_video_platforms',
    hosts: `
      youtube.com youtu.be youtube-nocookie.com vimeo.com dailymotion.com dai.ly twitch.tv rumble.com
      bilibili.com b23.tv rutube.ru kick.com loom.com wistia.com open.spotify.com spotify.link
      music.apple.com podcasts.apple.com books.apple.com tv.apple.com music.amazon.* soundcloud.com
      deezer.com tidal.com bandcamp.com audible.* anchor.fm podbean.com buzzsprout.com`,
  },
  {
    of: 'forms, surveys and shared documents',
    source: 'https://en.wikipedia.org/wiki/Comparison_of_survey_software',
    hosts: `
      docs.google.com drive.google.com forms.gle sites.google.com typeform.com jotform.com
      form.jotform.com jotfor.ms surveymonkey.com tally.so fillout.com forms.office.com
      forms.microsoft.com forms.cloud.microsoft wufoo.com cognitoforms.com formstack.com paperform.co
      airtable.com zfrmz.com forms.zoho.com zohopublic.com formsite.com 123formbuilder.com qualtrics.com
      smartsurvey.co.uk surveysparrow.com getform.io hsforms.com share.hsforms.com perspective.co
      heyflow.id involve.me outgrow.us onedrive.live.com 1drv.ms sharepoint.com scribd.com issuu.com
      docsend.com`,
  },
  {
    of: 'appointments and meetings',
    source: 'https://en.wikipedia.org/wiki/Appointment_scheduling_software',
    hosts: `
      calendly.com cal.com acuityscheduling.com as.me tidycal.com setmore.com simplybook.me
      square.site/book fresha.com booksy.com treatwell.* vagaro.com mindbodyonline.com zoom.us
      meet.google.com teams.microsoft.com demio.com gotowebinar.com streamyard.com livestorm.co
      bookwhen.com zcal.co event.webinarjam.com`,
  },
  {
    of: 'ticket shops and events',
    source: 'https://www.waterandmusic.com/a-curated-list-of-60-ticketing-platforms',
    hosts: `
      eventbrite.* ticketmaster.* livenation.* ticketweb.* eventim.* seetickets.* axs.com dice.fm
      seatgeek.com stubhub.* viagogo.* vividseats.com universe.com etix.com tickets.com billetto.*
      weezevent.com ticketone.it ticketcorner.ch oeticket.com reservix.de fnacspectacles.com
      billetweb.fr helloasso.com eventix.io ticketswap.* skiddle.com fatsoma.com ra.co tickettailor.com
      buytickets.at ticketsource.co.uk trybooking.com humanitix.com ticketek.* moshtix.com.au
      oztix.com.au meetup.com lu.ma luma.com partiful.com posh.vip shotgun.live fever.com feverup.com
      sympla.com.br ingresse.com eventcube.io tixr.com showclix.com brownpapertickets.com
      bandsintown.com songkick.com bookmyshow.com insider.in todaytix.com pretix.eu`,
  },
  {
    of: 'link pages',
    source: 'https://indieweb.org/link_in_bio',
    hosts: `
      linktr.ee beacons.ai beacons.page lnk.bio bio.link campsite.bio taplink.cc taplink.at stan.store
      linkin.bio later.com milkshake.app msha.ke koji.to snipfeed.co bio.site tap.bio allmylinks.com
      solo.to direct.me hoo.be linkpop.com komi.io withkoji.com flow.page many.link many.bio instabio.cc
      linkbio.co lnk.to linkfire.com ffm.to ffm.bio hypeddit.com smarturl.it found.ee orcd.co fanlink.to
      push.fm distrokid.com feature.fm songwhip.com toneden.io bandzoogle.com bento.me lit.link
      potofu.me heylink.me s.id contactinbio.com carrd.link shor.by sleek.bio manylink.co pillar.io
      zaap.bio liinks.co`,
  },
  {
    of: 'link shorteners',
    source: 'https://github.com/huyld/url-revealer/blob/master/libs/supported-domains.js',
    hosts: `
      bit.ly bitly.com j.mp bitly.is tinyurl.com goo.gl is.gd v.gd ow.ly ht.ly buff.ly dlvr.it ift.tt
      rebrand.ly cutt.ly shorturl.at tiny.cc t.ly bl.ink short.io shortcm.li rb.gy adf.ly qr.ae trib.al
      amzn.to amzn.eu a.co ebay.us etsy.me s.click.aliexpress.com a.aliexpress.com shope.ee s.shopee.*
      tmall.ru dub.sh dub.co lnk.ink kutt.it u.to clck.ru vk.cc soo.gd tr.ee geni.us sovrn.co shorte.st
      l.ead.me qrco.de me-qr.com qr.io qrfy.com urlgeni.us shor.tn g.co`,
  },
  {
    of: 'affiliate and click trackers that forward',
    source: 'https://en.wikipedia.org/wiki/Affiliate_network',
    hosts: `
      awin1.com shareasale.com anrdoezrs.net dpbolvw.net jdoqocy.com kqzyfj.com tkqlhce.com
      linksynergy.com click.linksynergy.com prf.hn pxf.io sjv.io evyy.net 7eer.net ojrq.net
      tradedoubler.com webgains.com go.skimresources.com viglink.com rstyle.me shopmy.us shop-links.co
      howl.me ltk.app shopltk.com liketoknow.it doubleclick.net googleadservices.com hop.clickbank.net
      digistore24.com`,
  },
  {
    of: 'maps and reviews',
    source: 'https://en.wikipedia.org/wiki/Comparison_of_web_map_services',
    hosts: `
      maps.google.com maps.app.goo.gl google.*/maps goo.gl/maps g.page maps.apple.com bing.com/maps
      waze.com openstreetmap.org yelp.* tripadvisor.* trustpilot.com google.*/search g2.com`,
  },
  {
    of: 'travel, food and property marketplaces',
    source: 'https://en.wikipedia.org/wiki/Online_travel_agency',
    hosts: `
      booking.com airbnb.* expedia.* hotels.com vrbo.com agoda.com trip.com getyourguide.* viator.com
      klook.com opentable.* resy.com exploretock.com thefork.* sevenrooms.com quandoo.* doordash.com
      ubereats.com grubhub.com deliveroo.* just-eat.* lieferando.de swiggy.com zomato.com foodpanda.*
      instacart.com toasttab.com chownow.com zillow.com realtor.com rightmove.co.uk zoopla.co.uk
      immobilienscout24.de autotrader.* cars.com mobile.de turo.com`,
  },
  {
    of: 'crowdfunding, donations and memberships',
    source: 'https://en.wikipedia.org/wiki/Comparison_of_crowdfunding_services',
    hosts: `
      kickstarter.com indiegogo.com gofundme.com gofund.me patreon.com ko-fi.com buymeacoffee.com
      backerkit.com crowdsupply.com wefunder.com startengine.com republic.com seedrs.com crowdcube.com
      crowdfunder.co.uk justgiving.com donorbox.org givebutter.com gofundme.org classy.org fundly.com
      leetchi.com ulule.com kisskissbankbank.com startnext.com betterplace.org ketto.org milaap.org
      makuake.com camp-fire.jp zeczec.com wadiz.kr catarse.me change.org actblue.com winred.com
      anedot.com globalgiving.org chuffed.org opencollective.com gamefound.com goteo.org paypal.me
      venmo.com cash.app buy.stripe.com checkout.stripe.com square.link checkout.square.site
      paypal.com/donate`,
  },
  {
    of: 'courses and communities',
    source: 'https://en.wikipedia.org/wiki/List_of_MOOC_providers',
    hosts: `
      udemy.com coursera.org skillshare.com edx.org futurelearn.com domestika.org skool.com whop.com
      hotmart.com pay.hotmart.com go.hotmart.com kiwify.com.br pay.kiwify.com.br eduzz.com
      monetizze.com.br`,
  },
  {
    of: 'writing and news platforms',
    source: 'https://en.wikipedia.org/wiki/List_of_blogging_platforms',
    hosts: `
      medium.com wattpad.com goodreads.com inkitt.com royalroad.com webnovel.com webtoons.com
      beehiiv.com mailchi.mp eepurl.com wikipedia.org`,
  },
  {
    of: 'freelancers and jobs',
    source: 'https://en.wikipedia.org/wiki/Freelance_marketplace',
    hosts: `
      fiverr.com upwork.com freelancer.com thumbtack.com taskrabbit.* bark.com indeed.* glassdoor.*
      stepstone.* monster.com greenhouse.io lever.co workable.com smartrecruiters.com myworkdayjobs.com`,
  },
  {
    of: 'marketplaces',
    source: 'https://channelx.world/2018/09/mapping-the-worlds-top-online-marketplaces/',
    hosts: `
      amazon.* ebay.* ebay-kleinanzeigen.de kleinanzeigen.de aliexpress.* alibaba.com 1688.com
      taobao.com tmall.com tmall.hk jd.com pinduoduo.com temu.com dhgate.com banggood.com wish.com
      mercadolibre.* mercadolivre.com.br mercadoshops.* shopee.* shopee.com.br shopee.tw lazada.*
      tokopedia.com tokopedia.link bukalapak.com blibli.com tiki.vn flipkart.com myntra.com meesho.com
      snapdeal.com indiamart.com daraz.* jumia.* konga.com takealot.com noon.com souq.com trendyol.*
      hepsiburada.com n11.com sahibinden.com rakuten.* item.rakuten.co.jp shopping.yahoo.co.jp
      mercari.com zozo.jp qoo10.* coupang.com gmarket.co.kr 11st.co.kr smartstore.naver.com
      brand.naver.com shopping.naver.com ozon.ru wildberries.ru market.yandex.ru aliexpress.ru avito.ru
      rozetka.com.ua prom.ua kaspi.kz`,
  },
  {
    of: 'marketplaces of Europe',
    source: 'https://www.ecommercebridge.com/european-marketplace-leaders-report-shows-local-players-rising/',
    hosts: `
      allegro.pl allegro.cz olx.* zalando.* bol.com otto.de kaufland.de real.de cdiscount.com fnac.*
      rakuten.fr leboncoin.fr manomano.* laredoute.* backmarket.* vinted.* emag.* alza.* mall.cz
      ceneo.pl empik.com marktplaats.nl 2dehands.be subito.it wallapop.com milanuncios.com blocket.se
      finn.no dba.dk tradera.com cdon.* ricardo.ch galaxus.* digitec.ch onbuy.com gumtree.com
      asos.com/marketplace`,
  },
  {
    of: 'marketplaces of crafts, prints, used goods and wholesale',
    source: 'https://www.witailer.com/en/resources/overview-of-online-marketplaces-and-global-landscape',
    hosts: `
      etsy.com redbubble.com teepublic.com society6.com zazzle.* spreadshirt.* teespring.com spri.ng
      creator-spring.com bonfire.com threadless.com displate.com minted.com notonthehighstreet.com
      folksy.com dawanda.com creativemarket.com envato.com themeforest.net artstation.com depop.com
      poshmark.com thredup.com vestiairecollective.com therealreal.com grailed.com stockx.com goat.com
      reverb.com discogs.com 1stdibs.com chairish.com faire.com ankorstore.com abound.com bookshop.org
      abebooks.* thriftbooks.com barnesandnoble.com waterstones.com kobo.com smashwords.com
      books2read.com lulu.com blurb.com drivethrurpg.com itch.io`,
  },
  {
    of: 'retailers that are marketplaces too',
    source: 'https://www.digitalcommerce360.com/article/infographic-top-online-marketplaces/',
    hosts: `
      walmart.com walmart.ca walmart.com.mx target.com newegg.com houzz.com overstock.com sears.com
      bestbuy.com bestbuy.ca lowes.com homedepot.com macys.com kohls.com groupon.* liverpool.com.mx
      falabella.* americanas.com.br magazineluiza.com.br magalu.com casasbahia.com.br catch.com.au
      kogan.com myer.com.au mydeal.com.au shop.app`,
  },
  {
    of: 'pages of many advertisers at one host',
    source: 'https://en.wikipedia.org/wiki/Website_builder',
    hosts: `
      google.*/url storage.googleapis.com s3.amazonaws.com cloudfront.net translate.goog ampproject.org
      google.*/amp cdn.shopify.com web.archive.org`,
  },
];

/** Subdomains belong to customers, and a brand may have registered one; the host itself identifies none. */
const SITES: readonly Group[] = [
  {
    of: 'hosts of shops and sites that the Public Suffix List names',
    source: 'https://publicsuffix.org/list/public_suffix_list.dat',
    hosts: `
      myshopify.com wixsite.com wixstudio.com square.site webflow.io carrd.co bubbleapps.io
      my.canva.site framer.website framer.app framer.ai notion.site netlify.app vercel.app pages.dev
      web.app firebaseapp.com github.io blogspot.com leadpages.co yolasite.com sellfy.store base.shop
      theshop.jp kawaiishop.jp buyshop.jp shopselect.net shopware.store shopware.shop myspreadshop.com
      myspreadshop.de myspreadshop.co.uk myspreadshop.net myspreadshop.fr shoparena.pl myshopblocks.com
      shopitsite.com hoplix.shop onrender.com herokuapp.com azurewebsites.net replit.app lovable.app
      fly.dev`,
  },
  {
    of: 'hosts of shops, sites and courses under a name of the customer',
    source: 'https://en.wikipedia.org/wiki/Comparison_of_shopping_cart_software',
    hosts: `
      bigcartel.com company.site ecwid.com mybigcommerce.com weebly.com wordpress.com jimdosite.com
      jimdofree.com strikingly.com mystrikingly.com squarespace.com gumroad.com substack.com ghost.io
      hubspotpagebuilder.com hs-sites.com cafe24.com shoplineapp.com myshopline.com myshoplaza.com
      storenvy.com teachable.com thinkific.com mykajabi.com podia.com clickfunnels.com
      myclickfunnels.com unbouncepages.com lpages.co instapage.com webnode.page godaddysites.com
      durable.co nuvemshop.com.br lojavirtualnuvem.com.br mitiendanube.com odoo.com tebex.io
      mailchimpsites.com glide.page payhip.com fourthwall.com stores.jp thebase.in empretienda.com.ar
      ueniweb.com site123.me systeme.io gohighlevel.com systemeio.com kartra.com simplero.com salla.sa
      zid.store youcan.shop lightfunnels.com funnelish.com zyrosite.com hostingersite.com builderall.com
      samcart.com thrivecart.com learnworlds.com mn.co circle.so`,
  },
];

const rowsOf = (groups: readonly Group[]): readonly string[] =>
  groups.flatMap(({ hosts }) => hosts.trim().split(/\s+/));

const isOfPath = (row: string): boolean => row.includes('/');
const SHARED_HOSTS: ReadonlySet<string> = new Set(rowsOf(SHARED).filter((row) => !isOfPath(row)));
const SHARED_PATHS: readonly string[] = rowsOf(SHARED).filter(isOfPath);
const HOSTS_OF_SHARED_PATHS: ReadonlySet<string> = new Set(
  SHARED_PATHS.map((row) => row.slice(0, row.indexOf('/'))),
);
const SITE_HOSTS: ReadonlySet<string> = new Set(rowsOf(SITES));

/** `name.de`, `name.co.uk`, `name.com.mx` or `name.com`. */
const OF_COUNTRY = /^([^.]+)\.(?:[a-z]{2,3}|(?:co|com|net|org)\.[a-z]{2})$/;

const spellingsOf = (host: string): readonly string[] => {
  const name = OF_COUNTRY.exec(host)?.[1];
  return name === undefined ? [host] : [host, `${name}.*`];
};

const isIn = (hosts: ReadonlySet<string>, host: string): boolean =>
  spellingsOf(host).some((spelling) => hosts.has(spelling));

const isBelow = (path: string, start: string): boolean =>
  path === start || path.startsWith(`${start}/`) || path.startsWith(`${start}?`);

/** The longest first. Empty when advertisers share the host or path. Expects lower case without `www.`. */
export const domainsOfHost = (host: string, path: string): readonly string[] => {
  const labels = host.split('.');
  const domains = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
  if (domains.some((domain) => isIn(SHARED_HOSTS, domain))) return [];
  const spellings = spellingsOf(host).filter((spelling) => HOSTS_OF_SHARED_PATHS.has(spelling));
  if (spellings.some((spelling) => SHARED_PATHS.some((row) => isBelow(`${spelling}${path}`, row)))) return [];
  const site = domains.findIndex((domain) => isIn(SITE_HOSTS, domain));
  return site === -1 ? domains : domains.slice(0, site);
};

/** Changes with any row. Brands of ads that were recorded by another list are decided again. */
export const SHARED_HOSTS_VERSION: string = hash(
  'sha256',
  JSON.stringify([rowsOf(SHARED), rowsOf(SITES)]),
  'hex',
);
