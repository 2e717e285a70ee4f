/**
 * The test runner a suite is given: vitest's, Bun's or Deno's functions, or any that behave like them. Suites import no runner.
 */
export interface SuiteRunner {
  describe(name: string, define: () => void): void
  it(name: string, test: () => void | Promise<void>): void
  expect(actual: unknown): SuiteExpectation
}

/** The few matchers the suites use. */
export interface SuiteExpectation {
  toBe(expected: unknown): void
  toEqual(expected: unknown): void
}
