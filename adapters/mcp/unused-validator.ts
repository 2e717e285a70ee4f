/**
 * Rejects everything and is never called, because tools and agents validate arguments and results. The SDK's default validator generates
 * code, which Workers and a strict CSP reject, and untrusted patterns could run forever.
 */
export const unusedValidator = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'phi-core does not use this validator.' }),
}
