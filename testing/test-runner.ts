/** What the suites need of `expect(value)`. */
export interface Expectation {
  toBe(expected: unknown): unknown
  toEqual(expected: unknown): unknown
}

/**
 * The part of a test runner that the suites use; vitest, Jest, Bun and (with an `expect`) `node:test` and Deno have it.
 *
 * **Contract**
 * - `it` fails when `body` throws or rejects, and after a time limit of its own.
 * - `expect` compares: `toBe` by identity, `toEqual` by content, keys with `undefined` ignored.
 */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => void | Promise<void>): unknown
  expect(value: unknown): Expectation
}
