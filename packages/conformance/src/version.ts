/** Version of the suite, for reports. A test compares it with package.json. */
export const VERSION = '0.0.0';
