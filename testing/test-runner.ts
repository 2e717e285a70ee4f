/** The part of `expect(value)` that the suites use. */
export interface Expectation {
  toBe(expected: unknown): unknown
  toEqual(expected: unknown): unknown
}

/**
 * The part of a test runner that the suites use; vitest, Jest, Bun and (with an `expect`) `node:test` and Deno have it.
 *
 * **Contract**
 * - `it` fails if `body` throws or rejects, or after its own time limit.
 * - `expect` compares: `toBe` by identity, `toEqual` by content; keys with `undefined` are ignored.
 */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => void | Promise<void>): unknown
  expect(value: unknown): Expectation
}
