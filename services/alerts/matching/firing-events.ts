import type { RecordedEvent } from '#contracts/events/event.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { StorefrontEvent } from '#contracts/events/corpus/storefront.ts';

/** Types on which rules may fire; other events need no rules in memory. */
const MAY_FIRE: Readonly<
  Record<(AdLibraryEvent | BrandEvent | SocialPageEvent | StorefrontEvent)['type'], boolean>
> = {
  AdStarted: true,
  AdConfirmedInactive: true,
  AdDestinationChanged: true,
  AdRevised: false,
  AdDetailsObserved: false,
  AdReturned: false,
  AdsMissed: false,
  AdsSeen: false,
  AdsStillInactive: false,
  AdsReworded: false,
  AdObservationCorrected: false,
  AdAttributed: false,
  ScanCorrected: false,
  ScanRecorded: true,
  BrandRegistered: false,
  BrandProfileChanged: false,
  PageLinked: true,
  PageUnlinked: false,
  PageLinkQuarantined: false,
  PageLinkObserved: false,
  PageProfileObserved: false,
  ProductsListed: false,
  ProductsChanged: false,
  ProductsMissed: false,
  ProductsSeen: false,
  ProductsDelisted: false,
  StorefrontScanRecorded: true,
};

/** Returns whether rules of the event's brand may fire on it. */
export const mayFire = ({ type }: Pick<RecordedEvent, 'type'>): boolean =>
  (MAY_FIRE as Readonly<Record<string, boolean>>)[type] === true;
