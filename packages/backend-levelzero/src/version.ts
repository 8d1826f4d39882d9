/** Version of this package, for tuning profiles. A test compares it with package.json. */
export const VERSION = '0.0.0';
