/** Top level, middle, leaves. A leaf doubles as what a brand sells. */
const TREES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  Apparel: {
    Womenswear: ['Dresses', 'Knitwear', 'Blouses'],
    Menswear: ['Shirts', 'Chinos', 'Jackets'],
    Activewear: ['Leggings', 'Running Shorts', 'Sports Bras'],
  },
  'Shoes & Accessories': {
    Shoes: ['Sneakers', 'Boots', 'Sandals'],
    Bags: ['Backpacks', 'Totes', 'Wallets'],
    Eyewear: ['Sunglasses', 'Reading Glasses', 'Blue-Light Glasses'],
  },
  Beauty: {
    Skincare: ['Serums', 'Moisturizers', 'Sunscreens'],
    Makeup: ['Foundations', 'Lipsticks', 'Mascaras'],
    Haircare: ['Shampoos', 'Hair Oils', 'Styling Creams'],
  },
  'Health & Wellness': {
    Supplements: ['Vitamins', 'Protein Powders', 'Probiotics'],
    Sleep: ['Sleep Masks', 'Weighted Blankets', 'Sleep Gummies'],
    Recovery: ['Massage Guns', 'Compression Sleeves', 'Heating Pads'],
  },
  'Home & Garden': {
    Bedding: ['Sheets', 'Pillows', 'Duvets'],
    Decor: ['Rugs', 'Wall Prints', 'Candles'],
    Garden: ['Planters', 'Garden Tools', 'Raised Beds'],
  },
  Kitchen: {
    Cookware: ['Skillets', 'Dutch Ovens', 'Knives'],
    Drinkware: ['Tumblers', 'Mugs', 'Water Bottles'],
    Appliances: ['Blenders', 'Coffee Makers', 'Air Fryers'],
  },
  'Food & Drink': {
    Snacks: ['Granola Bars', 'Jerky', 'Dried Fruit'],
    Coffee: ['Whole Beans', 'Cold Brew', 'Instant Coffee'],
    Pantry: ['Hot Sauces', 'Olive Oils', 'Spice Blends'],
  },
  Pets: {
    Dogs: ['Dog Food', 'Dog Beds', 'Leashes'],
    Cats: ['Cat Food', 'Cat Trees', 'Litter'],
    'Pet Health': ['Joint Chews', 'Calming Treats', 'Grooming Kits'],
  },
  'Baby & Kids': {
    Nursery: ['Cribs', 'Swaddles', 'Night Lights'],
    Feeding: ['Bottles', 'Bibs', 'High Chairs'],
    Toys: ['Wooden Blocks', 'Plush Toys', 'Puzzles'],
  },
  'Sports & Outdoors': {
    Camping: ['Tents', 'Sleeping Bags', 'Camp Stoves'],
    Fitness: ['Dumbbells', 'Yoga Mats', 'Resistance Bands'],
    Cycling: ['Helmets', 'Bike Lights', 'Jerseys'],
  },
  Electronics: {
    Audio: ['Earbuds', 'Headphones', 'Speakers'],
    'Phone Accessories': ['Phone Cases', 'Chargers', 'Screen Protectors'],
    'Smart Home': ['Smart Bulbs', 'Doorbells', 'Thermostats'],
  },
  'Jewelry & Gifts': {
    Jewelry: ['Necklaces', 'Earrings', 'Rings'],
    Watches: ['Field Watches', 'Dress Watches', 'Watch Straps'],
    Gifts: ['Gift Boxes', 'Photo Books', 'Greeting Cards'],
  },
};

export const CATEGORY_PATHS: readonly (readonly [string, string, string])[] = Object.entries(TREES).flatMap(
  ([top, middles]) =>
    Object.entries(middles).flatMap(([middle, leaves]) => leaves.map((leaf) => [top, middle, leaf] as const)),
);
