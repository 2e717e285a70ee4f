import { charsWithin } from '../base/json/json-diff.ts'
import { PatchFault, type PatchRoot, put, read, shown, take } from '../base/json/json-patch.ts'
import { copyJson, isEqualJson } from '../base/json/json-value.ts'
import { ConfigError } from '../contract/errors.ts'
import type { JsonValue } from '../contract/json.ts'
import { type PatchOperation, patchOperations } from '../contract/session/shared-state.ts'
import { fits } from '../contract/shape/read.ts'

/** Validates a JSON Patch from a client. Throws `ConfigError` `invalidState` if it is invalid. */
export function readPatch(sent: unknown): readonly PatchOperation[] {
  if (fits(patchOperations, sent)) return sent
  throw invalid('the patch is not a JSON Patch (RFC 6902)')
}

/** Error for an invalid change or an invalid state. */
export function invalid(what: string, code: 'invalidOption' | 'invalidState' = 'invalidState'): ConfigError {
  return new ConfigError(code, `The shared state was not changed: ${what}.`)
}

/**
 * Applies the JSON Patch `operations` to a copy of `value`. `value` stays unchanged.
 *
 * **Contract**
 * - Atomic: throws `PatchFault` for the first operation that fails, including a failed `test`.
 * - `maxChars` limits the characters of JSON that the operations insert together, because repeated copies grow exponentially.
 *
 * Source: https://www.rfc-editor.org/rfc/rfc6902
 */
export function patchedBy(value: JsonValue, operations: readonly PatchOperation[], maxChars = Number.POSITIVE_INFINITY): JsonValue {
  // Wrap the root, because an operation may replace the whole value.
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

/** Applies one operation and returns the number of characters that it inserted. */
function apply(root: PatchRoot, operation: PatchOperation, room: number): number {
  const { op, path } = operation
  switch (op) {
    case 'test':
      if (!isEqualJson(read(root, path), operation.value))
        throw new PatchFault(`${shown(path)} does not equal the value of the test operation`)
      return 0
    case 'remove':
      take(root, path)
      return 0
    case 'move': {
      const { from } = operation
      if (path.startsWith(`${from}/`)) throw new PatchFault(`${shown(from)} cannot move into itself`)
      const moved = read(root, from)
      if (from === path) return 0
      if (from === '') throw new PatchFault('the root cannot be moved')
      take(root, from)
      put(root, path, moved, true)
      return 0
    }
    default: {
      const value = op === 'copy' ? read(root, operation.from) : operation.value
      const chars = charsWithin(value, room)
      if (chars > room) throw new PatchFault('the patch makes the state too large')
      put(root, path, copyJson(value), op !== 'replace')
      return chars
    }
  }
}
