/**
 * Accepts nothing and is never called: arguments and results are validated by tools and agents. The SDK's default generates code,
 * which Workers and a strict CSP reject, and may run untrusted patterns forever.
 */
export const unusedValidator = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'phi-core does not use this validator.' }),
}
