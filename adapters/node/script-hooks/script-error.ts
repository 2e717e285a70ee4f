import { PhiError } from '../../../src/index.ts'

/**
 * Why a script did not do its part. `changed`: the file is gone, or no longer what it was when the hooks were made; `failed`: it ended with another
 * code than 0, or by a signal; `timeout`; `flood`: it wrote too much; `badAnswer`: what it wrote is no answer; `notStarted`: its interpreter did not.
 */
export type ScriptHookErrorCode = 'changed' | 'failed' | 'timeout' | 'flood' | 'badAnswer' | 'notStarted'

/** A script that failed as a hook: a `before…` hook refuses then, an observer is logged. Source: docs/concepts/script-hooks.md */
export class ScriptHookError extends PhiError {
  declare readonly code: ScriptHookErrorCode

  constructor(code: ScriptHookErrorCode, message: string, cause?: unknown) {
    super(code, message, { cause })
    this.name = 'ScriptHookError'
  }

  static override isInstance(value: unknown): value is ScriptHookError {
    return PhiError.isInstance(value) && value.name === 'ScriptHookError'
  }
}
