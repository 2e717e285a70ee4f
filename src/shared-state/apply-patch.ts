import { charsWithin } from '../base/json/json-diff.ts'
import { PatchFault, type PatchRoot, put, read, shown, take } from '../base/json/json-patch.ts'
import { copyJson, isEqualJson } from '../base/json/json-value.ts'
import { ConfigError } from '../contract/errors.ts'
import type { JsonValue } from '../contract/json.ts'
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

/**
 * `value` after `operations` of JSON Patch, as a value of its own; `value` stays as it is.
 *
 * **Contract**
 * - All of it or nothing: throws `PatchFault` for the first operation that cannot be done, also for a `test` that fails.
 * - With `maxChars`, what the operations put in may come to about that many characters of JSON together: copies of copies grow by powers of two.
 *
 * Source: https://www.rfc-editor.org/rfc/rfc6902
 */
export function patchedBy(value: JsonValue, operations: readonly PatchOperation[], maxChars = Number.POSITIVE_INFINITY): JsonValue {
  // One root above: an operation may be about the whole.
  const root = { '': copyJson(value) }
  let room = maxChars
  for (const [at, operation] of operations.entries()) {
    try {
      room -= apply(root, operation, room)
    } catch (error) {
      throw error instanceof PatchFault ? new PatchFault(`operations[${at}]: ${error.message}`) : error
    }
  }
  return root['']
}

/** Does one operation; gives the characters that it put in. */
function apply(root: PatchRoot, operation: PatchOperation, room: number): number {
  const { op, path } = operation
  switch (op) {
    case 'test':
      if (!isEqualJson(read(root, path), operation.value)) throw new PatchFault(`${shown(path)} is not what the test says`)
      return 0
    case 'remove':
      take(root, path)
      return 0
    case 'move': {
      const { from } = operation
      if (path.startsWith(`${from}/`)) throw new PatchFault(`${shown(from)} cannot be moved into itself`)
      const moved = read(root, from)
      if (from === path) return 0
      if (from === '') throw new PatchFault('the whole cannot be moved')
      take(root, from)
      put(root, path, moved, true)
      return 0
    }
    default: {
      const value = op === 'copy' ? read(root, operation.from) : operation.value
      const chars = charsWithin(value, room)
      if (chars > room) throw new PatchFault('the patch puts in more than the state may have')
      put(root, path, copyJson(value), op !== 'replace')
      return chars
    }
  }
}
