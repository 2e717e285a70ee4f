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

/** What `promise` rejects with; fails with `what` when it resolves. */
export async function rejectionOf(promise: Promise<unknown>, what: string): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`${what} should have failed, but gave ${JSON.stringify(value)}`)
}
