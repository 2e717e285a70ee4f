import { ConfigError } from '../contract/errors.ts'
import { type PatchOperation, patchOperations } from '../contract/session/shared-state.ts'
import { fits } from '../contract/shape/read.ts'

/** What somebody has sent, as a patch. Throws `ConfigError` `invalidState` for anything else. */
export function readPatch(sent: unknown): readonly PatchOperation[] {
  if (fits(patchOperations, sent)) return sent
  throw invalid('the patch is no list of operations of JSON Patch (RFC 6902)')
}

/** A change that cannot be made, or state that cannot be. */
export function invalid(what: string, code: 'invalidOption' | 'invalidState' = 'invalidState'): ConfigError {
  return new ConfigError(code, `The shared state was not changed: ${what}.`)
}
