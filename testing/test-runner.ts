/** The part of `expect(value)` that the suites use. */
export interface Expectation {
  toBe(expected: unknown): unknown
  toEqual(expected: unknown): unknown
}

/**
 * The part of a test runner that the suites use. Vitest, Jest and Bun have it, and so do `node:test` and Deno with an `expect`.
 *
 * **Contract**
 * - `it` fails if `body` throws or rejects, or after its own time limit.
 * - `toBe` compares by identity, and `toEqual` by content, ignoring keys with `undefined`.
 */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => void | Promise<void>): unknown
  expect(value: unknown): Expectation
}
