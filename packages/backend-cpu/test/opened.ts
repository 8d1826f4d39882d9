import { afterAll, beforeAll } from 'vitest';

/** What the tests of a file work with: opened before the first, disposed after the last. It is there only in tests and hooks. */
export function opened<Client extends { dispose(): unknown }>(open: () => Promise<Client>): Client {
  let client: Client | undefined;
  beforeAll(async () => {
    client = await open();
  });
  afterAll(() => client?.dispose());
  return new Proxy({} as Client, {
    get: (_, name) => {
      const value: unknown = Reflect.get(client as Client, name, client);
      return typeof value === 'function' ? (value.bind(client) as unknown) : value;
    },
  });
}
