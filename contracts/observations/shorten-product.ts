import { cutText } from '../values/text.ts';

export const PRODUCT_TEXT_MAX_CHARACTERS = 255;
export const PRODUCT_HANDLE_MAX_CHARACTERS = 2_048;
const IMAGE_URL_MAX_CHARACTERS = 2_048;
export const PRODUCT_VARIANTS_MAX = 2_048;
/** An event with the product before and after a change fits into one append, with all variants' ids and prices. */
export const PRODUCT_MAX_BYTES = 400_000;
/** A UTF-16 unit has at most 3 bytes, so shorter products need no counting. */
const SHORT_UNITS = PRODUCT_MAX_BYTES / 3;

type Text = string | null;
type Product = {
  readonly image_url: Text;
  readonly variants: readonly { readonly title: Text; readonly sku: Text }[];
};

const isWithinBytes = (product: object): boolean => {
  const json = JSON.stringify(product);
  return json.length <= SHORT_UNITS || new TextEncoder().encode(json).length <= PRODUCT_MAX_BYTES;
};

const cut = (text: Text, maxCharacters: number): Text => text && cutText(text, maxCharacters);

/**
 * Nulls a long image URL, drops variants, then halves the texts of variants until the product fits. Shortening again
 * changes nothing, so that an unchanged product equals itself in the next scan.
 */
export const shortenProduct = <P extends Product>(product: P): P => {
  const { image_url: imageUrl, variants } = product;
  const isUrlLong = imageUrl !== null && imageUrl.length > IMAGE_URL_MAX_CHARACTERS;
  const counted: P = {
    ...product,
    image_url: isUrlLong ? null : imageUrl,
    variants: variants.slice(0, PRODUCT_VARIANTS_MAX),
  };
  let short = counted;
  for (let max = PRODUCT_TEXT_MAX_CHARACTERS >> 1; max > 0 && !isWithinBytes(short); max >>= 1) {
    short = {
      ...counted,
      variants: counted.variants.map((variant) => ({
        ...variant,
        title: cut(variant.title, max),
        sku: cut(variant.sku, max),
      })),
    };
  }
  return short;
};
