import { describe, expect, it } from 'vitest';

describe('a pattern among expected fields', () => {
  const error = { code: 'FAILED', detail: 'no memory' };

  it('is compared with the text in its place', () => {
    expect(error).toMatchObject({ detail: /^no/ });
    expect(error).not.toMatchObject({ detail: /^not/ });
    expect([{ error }]).not.toMatchObject([{ error: { detail: /^not/ } }]);
  });

  it('does not stand for what is no text, or lacks', () => {
    expect(error).not.toMatchObject({ hint: /./ });
    expect({ detail: 5 }).not.toMatchObject({ detail: /5/ });
  });

  it('is itself where patterns are compared', () => {
    expect({ pattern: /a/ }).toEqual({ pattern: /a/ });
    expect({ pattern: /a/ }).not.toEqual({ pattern: /b/ });
  });
});
